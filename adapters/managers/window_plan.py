"""What a window is to be made of: by its mode, and by what is put in beside the conversation."""

from __future__ import annotations

from attrs import frozen

from contextport.contracts import Control, Mode, ModeRules

from .session_state import SessionMode

__all__ = ["NO_MODES", "SHOWS_FOLDS", "SHOWS_SNIPPETS", "WindowPlan", "plan_of"]

SHOWS_FOLDS = frozenset({Mode.SUMMARY, Mode.HYBRID})
SHOWS_SNIPPETS = frozenset({Mode.RETRIEVAL, Mode.HYBRID})


@frozen(kw_only=True)
class WindowPlan:
    """How the window of a session is made up.

    `mode` is None where a manager has no modes. `floor` is the entry that it begins with, unless a summary reaches beyond it;
    0 for all of the epoch. With `turns`, only so many turns before that of the newest question are shown. `folded` says that
    summary and facts stand for what is folded. Snippets may take `snippets` tokens; up to the share `snippet_share` of the
    room is kept free for them. `remembers` says whether long-term memory has a place.
    """

    mode: Mode | None = None
    control: Control = Control.AUTOMATIC
    floor: int = 0
    turns: int | None = None
    folded: bool = True
    snippets: int = 0
    snippet_share: float = 0.0
    min_score: float = 0.0
    remembers: bool = True

    def reserve_in(self, room: int) -> int:
        """Tokens of so much room that are kept for snippets, so that the rest of the window need not change for them."""
        return min(self.snippets, int(room * self.snippet_share))

    def most_snippets(self, room: int) -> int:
        """The most tokens that snippets may take of so much room: where they stand for the history, all that is left."""
        return self.snippets if self.turns is not None else self.reserve_in(room)


NO_MODES = WindowPlan()


def plan_of(kept: SessionMode, rules: ModeRules, *, folds: bool) -> WindowPlan:
    """The plan for a session whose mode is `kept`, under the rules; `folds` says whether its history is folded at all."""
    mode = kept.mode or rules.start
    turns = {Mode.ZERO_SHOT: 0, Mode.RETRIEVAL: rules.retrieval_turns}.get(mode)
    return WindowPlan(
        mode=mode,
        control=kept.control or rules.control,
        floor=kept.floor,
        turns=turns,
        folded=folds and mode in SHOWS_FOLDS,
        snippets=_most(mode, rules),
        snippet_share=rules.snippet_share,
        min_score=rules.retrieval_min_score if mode is Mode.RETRIEVAL else rules.min_score,
        remembers=mode is not Mode.ZERO_SHOT,
    )


def _most(mode: Mode, rules: ModeRules) -> int:
    if mode not in SHOWS_SNIPPETS:
        return 0
    return rules.retrieval_tokens if mode is Mode.RETRIEVAL else rules.snippet_tokens
