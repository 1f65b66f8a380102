"""What a summary gives its room to first, by the use that is made of it (R100, R121, R178)."""

from __future__ import annotations

import attrs
from attrs import frozen

from contextport.contracts import Hint

__all__ = ["Emphasis", "emphasis_for"]

Share = tuple[frozenset[str], float]


@frozen(kw_only=True)
class Emphasis:
    """`shares`: fields of a summary and the share of the room that they get before anything else, in this order.

    `values` is what an exact value adds to a passage, in rarest words. `recency` is how much more the newest passage is worth
    than the oldest, as a share.
    """

    shares: tuple[Share, ...]
    values: float = 0.8
    recency: float = 0.0

    def within(self, max_tokens: int, usual: float) -> Emphasis:
        """The same for that much room. Where it is room for not even two pieces of `usual` size, names come before prose."""
        if max_tokens < _FEW * usual:
            return attrs.evolve(self, shares=(*self.shares, (_BARE, 1.0)))
        return attrs.evolve(self, shares=(*self.shares, (_SAID, 1 - _FOR_NAMES), (_BARE, 1.0)))


_WISHES = frozenset(["decisions", "constraints", "pinned"])
_BARE = frozenset(["value"])
_SAID = frozenset(["pinned", "text", "decisions", "constraints", "open", "done", "conclusions"])
_FOR_NAMES = 0.1  # of what is left after the shares: for names that no sentence said; what they do not need goes to prose
_FEW = 2.0
_OPEN, _FOUND, _DONE = frozenset(["open"]), frozenset(["conclusions"]), frozenset(["done"])

_BY_HINT = {
    Hint.GENERAL: Emphasis(shares=((_WISHES, 0.25), (_OPEN, 0.05), (_FOUND, 0.05))),
    Hint.PLANNER_INPUT: Emphasis(shares=((_WISHES, 0.5), (_OPEN, 0.2), (_FOUND, 0.1))),
    Hint.REACT_ITERATION: Emphasis(shares=((_WISHES, 0.25), (_OPEN, 0.2), (_FOUND, 0.2)), recency=1.0),
    Hint.STEP_DEPENDENCY: Emphasis(shares=((_FOUND, 0.4), (_WISHES, 0.3)), values=1.6),
}
_HANDOFF = Emphasis(shares=((_OPEN, 0.25), (_DONE, 0.15), (_FOUND, 0.2), (_WISHES, 0.3)))


def emphasis_for(hint: Hint, handoff: bool) -> Emphasis:
    """What comes first for that use; at a handoff what is open, done and concluded (R121)."""
    return _HANDOFF if handoff else _BY_HINT[hint]
