"""What becomes of open stores in a forked child.

SQLite's connections, and the locks they believe they hold, must not be carried over a fork. So the connections are brought to
rest before it, and the child closes its copies while the parent, which holds the real locks, is sure to be alive. It opens its
own when it first needs them. (https://www.sqlite.org/howtocorrupt.html, section 2.6.)
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet

__all__ = ["keep_apart_on_fork"]


class _Forkable(Protocol):
    def before_fork(self) -> None: ...

    def after_fork(self, *, child: bool) -> None: ...


_open: WeakSet[_Forkable] = WeakSet()
_at_rest: list[_Forkable] = []


def keep_apart_on_fork(store: _Forkable) -> None:
    """From now on parent and child use different connections of `store`."""
    _open.add(store)


def _before() -> None:
    _at_rest.extend(_open)
    for store in _at_rest:
        store.before_fork()


def _after(*, child: bool) -> None:
    for store in _at_rest:
        store.after_fork(child=child)
    _at_rest.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_before, after_in_parent=lambda: _after(child=False), after_in_child=lambda: _after(child=True))
