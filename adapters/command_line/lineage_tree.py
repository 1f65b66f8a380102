"""The lineage of a session as a tree of lines: the live summary, what it stands for, and the folds before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from contextport.adapters.managers.lineage import Coverage, Lineage
from contextport.contracts import FoldRecord, Usage

from .log_lines import shown, span_text
from .report import first_line

__all__ = ["LineageTree", "usage_text"]

_DEEPEST = 12  # folds that are nested on a screen
_MOST_NUMBERS = 8


@frozen(kw_only=True)
class LineageTree:
    """What is drawn: `tokens` are the sizes of summaries by their id, `uncommitted` the records that no state points to."""

    lineage: Lineage
    tokens: Mapping[str, int]
    uncommitted: Sequence[FoldRecord] = ()

    def lines(self) -> Iterator[str]:
        """The tree, newest fold first; nothing for a session without folds."""
        folds = self.lineage.folds[::-1]
        if folds:
            yield f"  {self._totals()}"
        coverages = {one.summary_id: one for one in self.lineage.summaries}
        for depth, fold in enumerate(folds[:_DEEPEST]):
            before = "  " if not depth else "  " + "   " * (depth - 1) + "└─ "
            yield f"{before}{self._title(fold, coverages)}"
            indent = "  " + "   " * depth
            for line in self._details(fold):
                yield f"{indent}│  {line}"
            branches = list(_branches(fold, coverages))
            is_last = fold.seq == folds[-1].seq
            for n, branch in enumerate(branches, 1):
                yield f"{indent}{'└─' if is_last and n == len(branches) else '├─'} {branch}"
        if len(folds) > _DEEPEST:
            hidden = f"{len(folds) - _DEEPEST} folds before it; `contextport export` lists them all"
            yield f"  {'   ' * (_DEEPEST - 1)}└─ {hidden}"
        for record in self.uncommitted:
            yield f"  not committed: {_attempt(record)}; a race that was lost, or a crash before the commit"

    def _totals(self) -> str:
        lineage = self.lineage
        said = [_counted(len(lineage.folds), "fold")]
        if lineage.live is not None:
            said.append(f"{lineage.live.messages:,} messages of {lineage.live.tokens:,} tokens summarised")
        said += [f"{lineage.tokens_saved:,} tokens saved", f"{_counted(len(lineage.ledger.facts), 'fact')} known"]
        refusals = sum(len(fold.faults) for fold in lineage.folds)
        if refusals:
            said.append(f"{_counted(refusals, 'summary', 'summaries')} refused")
        if lineage.usage is not None:
            said.append(usage_text(lineage.usage))
        if not lineage.is_certain:
            said.append("the epoch is over, and its newest fold may have lost a race")
        return ", ".join(said)

    def _title(self, fold: FoldRecord, coverages: Mapping[str, Coverage]) -> str:
        coverage = coverages.get(fold.summary_id or "")
        if coverage is None:
            return f"fold at entry {fold.seq}, without a summary"
        live = ", live" if coverage == self.lineage.live else ""
        size = f"{self.tokens.get(coverage.summary_id, 0):,} tokens"
        stands = f"{coverage.messages:,} messages of {coverage.tokens:,} tokens, {span_text(fold.first, fold.through)}"
        return f"fold at entry {fold.seq}: summary {shown(coverage.summary_id)}, {size}{live}, stands for {stands}"

    def _details(self, fold: FoldRecord) -> Iterator[str]:
        by = f"by {shown(fold.origin)}; " if fold.origin else ""
        why = f"; {shown(first_line(fold.reason, 100))}" if fold.reason else ""
        yield f"{by}window {fold.tokens_before:,} to {fold.tokens_after:,} tokens{why}"
        if fold.usage is not None:
            yield usage_text(fold.usage)
        for fault in fold.faults:
            yield f"refused: {shown(first_line(fault, 100))}"


def _branches(fold: FoldRecord, coverages: Mapping[str, Coverage]) -> Iterator[str]:
    """What hangs on a fold besides the fold before it."""
    coverage = coverages.get(fold.summary_id or "")
    if coverage is not None and coverage.own.first <= coverage.own.last:
        earlier = coverages.get(coverage.earlier or "")
        count = coverage.messages - (earlier.messages if earlier else 0) - len(coverage.released)
        yield f"{span_text(coverage.own.first, coverage.own.last)}: {_counted(count, 'message')} folded here"
    if coverage is not None and coverage.released:
        yield f"stood till then: {_numbers(sorted(coverage.released))}"
    if fold.kept:
        yield f"left standing: {_numbers(fold.kept)}"
    if fold.rewritten:
        yield f"shortened: {_counted(len(fold.rewritten), 'later message')}, {fold.rewriting_saved:,} tokens saved"


def _numbers(seqs: Sequence[int]) -> str:
    more = f" and {len(seqs) - _MOST_NUMBERS} more" if len(seqs) > _MOST_NUMBERS else ""
    return f"{', '.join(map(str, seqs[:_MOST_NUMBERS]))}{more}"


def _counted(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


def _attempt(record: FoldRecord) -> str:
    summary = "no summary" if record.summary_id is None else f"summary {shown(record.summary_id)}"
    return f"fold at entry {record.seq}, {summary} of {span_text(record.first, record.through)}"


def usage_text(usage: Usage) -> str:
    """What a model took, such as `1,200 tokens read and 90 written by models`."""
    return f"{usage.input_tokens:,} tokens read and {usage.output_tokens:,} written by models"
