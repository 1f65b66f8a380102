"""Shares of planted items that are still there, as tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attrs import field, frozen
from retention_judge import is_there, normalised
from retention_planting import KINDS, Plant
from retention_schedule import Folding, count

__all__ = ["Row", "missed", "newest", "seen", "table"]

_AFTER = (1, 3, 5, 10)


@frozen(kw_only=True)
class Row:
    """What came of one item in one system after so many folds. `size` is that of the window, in shares of the budget."""

    system: str
    source: str
    language: str
    folds: int
    plant: Plant
    kept: bool
    size: float = field(repr=False)


def seen(system: str, folding: Folding, windows: Sequence[Sequence[str]], extra: Sequence[Sequence[str]] = ()) -> list[Row]:
    """Rows for every item said before the fold. `extra` are further texts in which an item counts as kept: a ledger."""
    rows: list[Row] = []
    talk = folding.conversation
    for folds in (folds for folds in _AFTER if folds <= len(folding.places)):
        window, said = windows[folds - 1], folding.places[folds - 1]
        texts = [normalised(text) for text in (*window, *(extra[folds - 1] if extra else ()))]
        size = sum(count({"content": text}) for text in window) / folding.budget
        for plant in talk.plants:
            if plant.message < said:
                rows.append(
                    Row(
                        system=system,
                        source=talk.name,
                        language=talk.language,
                        folds=folds,
                        plant=plant,
                        kept=is_there(plant, texts),
                        size=size,
                    )
                )
    return rows


def table(rows: Iterable[Row], title: str, name: Callable[[Row], str]) -> dict[str, Any]:
    """Print one line per name and number of folds, and return the same as JSON."""
    cells: dict[tuple[str, int], dict[str, list[bool]]] = defaultdict(lambda: {kind: [] for kind in KINDS})
    sizes: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for row in rows:
        key = (name(row), row.folds)
        cells[key][row.plant.kind].append(row.kept)
        sizes[key][row.source] = row.size
    most = max((sum(map(len, kinds.values())) for kinds in cells.values()), default=0)
    print(f"\n### {title}, up to {most} items a line\n\n| system | folds | {' | '.join(KINDS)} | window / budget |")
    print(f"|---|---:|{'---:|' * len(KINDS)}---:|")
    found: dict[str, Any] = {}
    for (system, folds), kinds in cells.items():
        size = sum(sizes[system, folds].values()) / len(sizes[system, folds])
        shares = {kind: sum(kept) / len(kept) if kept else None for kind, kept in kinds.items()}
        shown = " | ".join("" if share is None else f"{share:.3f}" for share in shares.values())
        print(f"| {system} | {folds} | {shown} | {size:.2f} |")
        items = {kind: len(kept) for kind, kept in kinds.items()}
        found.setdefault(system, {})[str(folds)] = {"share": shares, "items": items, "window": size}
    return found


def newest(rows: Sequence[Row]) -> list[Row]:
    """The rows after the last fold of each conversation."""
    last: dict[str, int] = {}
    for row in rows:
        last[row.source] = max(row.folds, last.get(row.source, 0))
    return [row for row in rows if row.folds == last[row.source]]


def missed(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Wordings of which items were lost after the last fold, most first, with one example each; held-out ones stay unnamed."""
    last = [row for row in newest(rows) if not row.plant.held]
    all_of = Counter(row.plant.wording for row in last)
    lost = Counter(row.plant.wording for row in last if not row.kept)
    example = {row.plant.wording: row.plant.text for row in last if not row.kept}
    kind = {row.plant.wording: row.plant.kind for row in last}
    return [
        {"wording": wording, "kind": kind[wording], "lost": times, "of": all_of[wording], "example": example[wording]}
        for wording, times in lost.most_common()
    ]
