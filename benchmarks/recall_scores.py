"""What is in a window of what a question needs: shares by system, budget and category, as tables and as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen
from estimator_tokenizers import Count
from recall_conversations import CATEGORIES, Conversation, Question, plain

__all__ = ["Outcome", "Shown", "figures", "judged", "tables"]

_FRAMING, _NAME = 4, 1  # tokens that OpenAI's chat form adds to a message, and to one with a name
_ADVERSARIAL = "5"


@frozen(kw_only=True)
class Shown:
    """A window: (role, name, text) of each message, the question last; and how long it took to get, in seconds."""

    messages: Sequence[tuple[str, str, str]]
    seconds: float = 0.0

    def tokens(self, count: Count) -> int:
        """The size of the whole window."""
        return sum([_FRAMING + count(text) + (count(name) + _NAME if name else 0) for _, name, text in self.messages])


@frozen(kw_only=True)
class Outcome:
    """One question in one window."""

    system: str
    budget: int
    category: str
    recall: float
    has_answer: bool | None
    tokens: int
    seconds: float


def judged(system: str, budget: int, conversation: Conversation, question: Question, shown: Shown, count: Count) -> Outcome:
    """Evidence counts as present when the whole text of its turn stands in one of the messages before the question.

    Answers are looked for where somebody said them in these words.
    """
    window = "\n".join([plain(text) for _, _, text in shown.messages[:-1]])
    there = [conversation.texts[id] in window for id in question.evidence]
    answer = plain(question.answer).casefold()
    return Outcome(
        system=system,
        budget=budget,
        category=question.category,
        recall=sum(there) / len(there),
        has_answer=answer in window.casefold() if answer and answer in conversation.said else None,
        tokens=shown.tokens(count),
        seconds=shown.seconds,
    )


def figures(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """One row per system, budget and category; category `1-4` is the mean of all questions that are not adversarial."""
    groups: dict[tuple[str, int, str], list[Outcome]] = defaultdict(list)
    for one in outcomes:
        groups[one.system, one.budget, one.category].append(one)
        if one.category != _ADVERSARIAL:
            groups[one.system, one.budget, "1-4"].append(one)
    return [_figures(*key, group) for key, group in groups.items()]


def _figures(system: str, budget: int, category: str, group: Sequence[Outcome]) -> dict[str, Any]:
    answers = [one.has_answer for one in group if one.has_answer is not None]
    seconds = sorted([one.seconds for one in group])
    return {
        "system": system,
        "budget": budget,
        "category": category,
        "questions": len(group),
        "evidence_recall": _mean([one.recall for one in group]),
        "full_recall": _mean([one.recall == 1 for one in group]),
        "answer_recall": _mean(answers),
        "tokens": _mean([one.tokens for one in group]),
        "over_budget": _mean([one.tokens > budget for one in group]),
        "query_ms_median": 1e3 * seconds[len(seconds) // 2],
        "query_ms_p95": 1e3 * seconds[len(seconds) * 95 // 100],
    }


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / max(1, len(given))


_COLUMNS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "evidence recall": lambda row: f"{row['evidence_recall']:.3f}",
    "full recall": lambda row: f"{row['full_recall']:.3f}",
    "answer string": lambda row: f"{row['answer_recall']:.3f}",
    "tokens / over": lambda row: f"{row['tokens']:.0f} / {row['over_budget']:.1%}",
    "query ms": lambda row: f"{row['query_ms_median']:.1f}",
}


def tables(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str] = CATEGORIES) -> str:
    """All systems over the questions that are not adversarial, then evidence and full recall by category."""
    budgets = sorted({row["budget"] for row in rows})
    systems = list(dict.fromkeys([row["system"] for row in rows]))
    by_key = {(row["system"], row["budget"], row["category"]): row for row in rows}
    lines = [
        f"| system | questions | {' | '.join(f'{name} @{budgets}' for name in _COLUMNS)} |",
        "|---|---:|" + "---|" * len(_COLUMNS),
    ]
    for system in systems:
        found = [by_key[system, budget, "1-4"] for budget in budgets if (system, budget, "1-4") in by_key]
        if found:
            cells = [", ".join([shown(row) for row in found]) for shown in _COLUMNS.values()]
            lines.append(f"| {system} | {found[0]['questions']} | {' | '.join(cells)} |")
    categories = sorted({row["category"] for row in rows} - {"1-4"})
    lines += ["", f"Evidence recall (full recall) by category @{budgets}:", ""]
    lines += [f"| system | {' | '.join(names.get(one, one) for one in categories)} |", "|---|" + "---|" * len(categories)]
    for system in systems:
        shares: list[str] = []
        for category in categories:
            found = [by_key[system, budget, category] for budget in budgets if (system, budget, category) in by_key]
            shares.append(", ".join([f"{row['evidence_recall']:.3f} ({row['full_recall']:.3f})" for row in found]) or "-")
        lines.append(f"| {system} | {' | '.join(shares)} |")
    return "\n".join(lines)
