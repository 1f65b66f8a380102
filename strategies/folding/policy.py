"""When to fold, how far, and how large what stands for the folded may be."""

from __future__ import annotations

from attrs import field, frozen

from contextport.contracts import InvalidArgument
from contextport.strategies.arguments import check_count, check_share

from .prices import PRICES, Prices

__all__ = ["FoldPolicy"]

_LATEST_SHARE = 1 / 3  # of the room, for the messages that a fold leaves alone

_SMALL_ROOM = 2_000  # tokens; providers cache prompts from about there on (512 to 4096), and what a fold leaves is read anew
_SHARE_ABOVE = 0.1


@frozen(kw_only=True)
class FoldPolicy:
    """The settings of folds. Shares are of the room: what the limit leaves beside the system prompt, limit - system.

    Below `light` nothing is folded. From `light` on, a fold is made if it pays; from `heavy` on, whatever it costs, and a window
    waits for it up to `wait_seconds` (R83 to R86, D14); after `give_up_seconds` a fold is given up. It goes down to
    `target_share`, far below `light`, so that there are few of them: each makes the provider read the window anew. It leaves the
    newest `keep_latest` messages alone, as long as they take no more than a third of the room (R78, R85).

    A fold that frees less than `min_gain` is not made. One that failed is tried again after `cooldown_seconds`, one that freed
    nothing after the conversation grew by `cooldown_share` (R91, D17).

    Summary and facts may take `summary_share` and `facts_share` of the first 2 000 tokens of the room, and a tenth each of the
    rest, but no more than `summary_tokens` and `facts_tokens`: a small window lives on its facts, a large one needs no longer
    summary, and from about there on each fold is paid for. `summary_reserve` is what stays free above `heavy` while the summary
    is written (R80). `max_facts` is the size of the ledger behind the window.

    `prices` say what a fold costs. It pays if it has earned that by the end of `expected_turns` more requests. None leaves that
    to the conversation: see `expected_turns_after`.

    Raises `InvalidArgument` for a setting outside of its domain, or thresholds that are not target_share < light < heavy.
    """

    light: float = 0.60
    heavy: float = 0.85
    target_share: float = 0.20
    keep_latest: int = 8
    min_gain: float = 0.05
    cooldown_seconds: float = 60.0
    cooldown_share: float = 0.05
    wait_seconds: float = 5.0
    give_up_seconds: float = 120.0
    summary_share: float = 0.25
    summary_tokens: int = 2_000
    facts_share: float = 0.50
    facts_tokens: int = 4_000
    summary_reserve: float = 0.05
    max_facts: int = 2_048
    expected_turns: float | None = None
    prices: Prices = field(default=PRICES["unknown"])

    def __attrs_post_init__(self) -> None:
        for name in ("light", "heavy", "target_share", "summary_share", "facts_share"):
            check_share(name, getattr(self, name), zero=False)
        for name in ("min_gain", "cooldown_share", "summary_reserve"):
            check_share(name, getattr(self, name), zero=True)
        for name in ("keep_latest", "summary_tokens", "facts_tokens", "max_facts"):
            check_count(name, getattr(self, name))
        for name in ("cooldown_seconds", "wait_seconds", "give_up_seconds", "expected_turns"):
            _check_amount(name, getattr(self, name), none=name == "expected_turns")
        if not isinstance(self.prices, Prices):
            raise InvalidArgument(f"prices is {self.prices!r:.80}; it must be Prices, such as prices_for(model)", name="prices")
        self._check_order()

    def _check_order(self) -> None:
        if not self.target_share < self.light < self.heavy:
            raise InvalidArgument(
                f"target_share {self.target_share:g}, light {self.light:g} and heavy {self.heavy:g} must grow in this order: "
                "a fold has to end below where it begins",
                name="light",
                value=self.light,
            )
        if self.heavy + self.summary_reserve > 1:
            raise InvalidArgument(
                f"heavy {self.heavy:g} leaves less than summary_reserve {self.summary_reserve:g} for the summary's own output; "
                "lower one of them",
                name="heavy",
                value=self.heavy,
            )
        if self.summary_share + self.facts_share > 1:
            raise InvalidArgument(
                f"summary_share {self.summary_share:g} and facts_share {self.facts_share:g} are above 1 together",
                name="facts_share",
                value=self.facts_share,
            )

    def summary_cap(self, room: int) -> int:
        """The most tokens that a summary may take of so much room."""
        return min(self.summary_tokens, _capped(room, self.summary_share))

    def facts_cap(self, room: int) -> int:
        """The most tokens that the block of facts may take of so much room."""
        return min(self.facts_tokens, _capped(room, self.facts_share))

    def min_gain_of(self, room: int) -> int:
        """Tokens that a fold has to free, at least one."""
        return max(1, _share(room, self.min_gain))

    def cooldown_tokens(self, room: int) -> int:
        """Tokens by which a conversation has to grow before a fold is tried again that freed nothing."""
        return max(1, _share(room, self.cooldown_share))

    def history_after(self, room: int, latest: int) -> int:
        """The expected size of the history after a fold, where the messages to keep take `latest` tokens.

        That is the target. If the newest messages with summary and facts are larger, as in a small window, it is what they take:
        the messages up to a third of the room, the others up to a third of the rest.
        """
        tail = min(latest, _share(room, _LATEST_SHARE))
        return max(_share(room, self.target_share), tail + min(self._memory_cap(room), (room - tail) // 3))

    def tail_after(self, room: int, latest: int) -> int:
        """What the newest messages may take of that: those to keep, as far as they leave room, or more up to the target."""
        tail = min(latest, _share(room, _LATEST_SHARE))
        return max(tail, self.history_after(room, latest) - self._memory_cap(room))

    def _memory_cap(self, room: int) -> int:
        return self.summary_cap(room) + self.facts_cap(room)

    def expected_turns_after(self, turns_since_fold: int) -> float:
        """How many more requests a fold may take to pay for itself, so many requests after the last one.

        Where the policy does not say, half of those. With K the requests that pay for a fold that saves D tokens at price r, a
        fold every m requests costs K·D·r / m for each, and carries m/2 requests' growth on average, D/2·r. The sum is least
        where K = m/2 (the rule of economic lot sizes), so a fold is due once half of the requests since the last reach K.
        """
        return turns_since_fold / 2 if self.expected_turns is None else self.expected_turns


def _share(room: int, share: float) -> int:
    return int(max(0, room) * share)


def _capped(room: int, share: float) -> int:
    """The share of a small room, and less and less of a larger one."""
    return _share(min(room, _SMALL_ROOM), share) + _share(room - _SMALL_ROOM, min(share, _SHARE_ABOVE))


def _check_amount(name: str, value: object, *, none: bool) -> None:
    if value is None and none:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise InvalidArgument(f"{name} is {value!r}; it must be a number, 0 or more", name=name, value=value)
