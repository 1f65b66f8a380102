"""Operations on token counters."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from contextport.contracts import TokenCounter, from_chat
from contextport.strategies import KeepRecentTokens

from .case import Case
from .evidence import Evidence, Moment
from .library_counters import every_counter, fallback_counters, real_counters
from .strategies_of_cases import words_counter


def _counters(case: Case) -> Iterable[tuple[str, TokenCounter]]:
    named = case.given.get("counter", "words")
    if named == "any":
        return every_counter().items()
    if named == "each_real_counter":
        return real_counters().items()
    if named == "fallback_estimator":
        return fallback_counters().items()
    return [("words", words_counter(case))]


async def estimate_tokens(case: Case, folder: Path) -> list[Evidence]:
    """`CompressionStrategy.estimate_tokens` of each set of messages, by each counter that the case names."""
    sets = case.given.get("messages_sets") or {"messages": case.given["messages"]}
    found: list[Evidence] = []
    for name, counter in _counters(case):
        evidence = Evidence(variant=name, given=case.given, counter=counter)
        try:
            strategy = KeepRecentTokens(counter)
            counts = {key: strategy.estimate_tokens([from_chat(wire) for wire in wires]) for key, wires in sets.items()}
            evidence.facts["counts"] = counts
        except Exception as error:  # judged by the checks
            evidence.moments.append(Moment(label="end", given=(), error=error))
        found.append(evidence)
    return found


async def estimate_tokens_threads(case: Case, folder: Path) -> list[Evidence]:
    """Every text counted `repeats` times by each of `threads` threads, against one thread alone."""
    texts, repeats, threads = case.given["texts"], int(case.given["repeats"]), int(case.given["threads"])
    found: list[Evidence] = []
    for name, counter in _counters(case):
        evidence = Evidence(variant=name, given=case.given, counter=counter)

        def count_all(_: int, counter: TokenCounter = counter) -> set[tuple[int, ...]]:
            return {tuple(counter.count_text(text) for text in texts) for _ in range(repeats)}

        try:
            alone = tuple(counter.count_text(text) for text in texts)
            with ThreadPoolExecutor(threads) as pool:
                evidence.facts["threads_equal"] = all(counted == {alone} for counted in pool.map(count_all, range(threads)))
        except Exception as error:  # judged by the checks
            evidence.moments.append(Moment(label="end", given=(), error=error))
        found.append(evidence)
    return found
