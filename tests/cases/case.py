"""One case of a file, and whether this version can run it."""

from __future__ import annotations

from typing import Any, cast

from attrs import frozen

from .case_input import Dict, expand

#: Operations and strategies that come with later releases, and what they need.
LATER_OPERATIONS = {
    "redis_ttl": "the Redis store",
}
#: Stores of this release; a case that names others as well runs on these.
STORES = ("memory", "sqlite")


@frozen(kw_only=True)
class Case:
    """`given` is the input with its notation written out."""

    id: str
    operation: str
    given: Dict
    expect: tuple[Dict, ...]

    @classmethod
    def load(cls, raw: Dict) -> Case:
        return cls(
            id=str(raw["id"]),
            operation=str(raw["operation"]),
            given=cast(Dict, expand(raw["input"])),
            expect=tuple(raw["expect"]),
        )

    def asks_for(self, prefix: str) -> bool:
        """Whether any check's name begins with `prefix`."""
        return any(name.startswith(prefix) for name in _names(self.expect))

    @property
    def stores(self) -> list[str]:
        return [name for name in self.given.get("stores", STORES) if name in STORES]

    @property
    def skip_reason(self) -> str | None:
        """What of a later release the case needs, or None."""
        if self.operation in LATER_OPERATIONS:
            return f"needs {LATER_OPERATIONS[self.operation]}"
        if "stores" in self.given and not self.stores:
            return f"needs the store {' or '.join(self.given['stores'])}"
        return None

    @property
    def _calls_a_summariser(self) -> bool:
        """Whether a summariser may be called: one is given, and no check forbids it. Without one, every strategy trims."""
        forbidden = any(one["check"] == "summariser_calls" and one.get("max") == 0 for one in self.expect)
        return "fake_summariser" in self.given and not forbidden


def _names(expect: Any) -> list[str]:
    return [name for one in expect for name in (one["check"], *_names(one.get("of", [])))]
