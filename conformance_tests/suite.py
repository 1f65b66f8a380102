"""What all suites have: the rules of a port as tests, the claims of an adapter, and its known deviations."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable, Mapping, Set
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, ClassVar

from contextport.contracts import provides, verify

from .rules import AbsentPort, NotChecked, Rule, call_rule, failure_text, rules_of, run_async

__all__ = ["Conformance"]

_LEAST_REASON = 15  # characters of a reason that says something


class Conformance:
    """What all suites have: rules, claims, known deviations.

    `claims`, if stated, are the optional ports that the adapter must provide, no more and no fewer.
    `known_deviations` maps rule ids to reasons: such a rule is expected to fail, and to be taken off the list once it holds.
    """

    port: ClassVar[Any] = None
    capabilities: ClassVar[tuple[Any, ...]] = ()
    rules: ClassVar[tuple[Rule, ...]] = ()
    claims: ClassVar[Set[Any] | None] = None
    known_deviations: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, *, port: Any = None, capabilities: tuple[Any, ...] = (), **more: Any) -> None:
        super().__init_subclass__(**more)
        if port is not None:
            cls.port, cls.capabilities, cls.rules = port, capabilities, rules_of(port, *capabilities)
            for checked in cls.rules:
                setattr(cls, checked.test_name, _test_method(checked))
            return
        sealed = {"test_claims", *(one.test_name for one in cls.rules)}
        redefined = sorted(sealed & set(vars(cls)))
        if redefined:
            raise TypeError(f"{cls.__name__} redefines {', '.join(redefined)}; a rule is sealed: list it in known_deviations")
        _check_deviations(cls)
        if cls.claims is not None and (unknown := set(cls.claims) - set(cls.capabilities)):
            names = ", ".join(sorted(getattr(one, "__name__", repr(one)) for one in unknown))
            known = ", ".join(one.__name__ for one in cls.capabilities) or "none"
            raise TypeError(f"{cls.__name__} claims {names}; the optional ports of {cls.port.__name__} are: {known}")

    def fresh_name(self) -> str:
        """A name that nothing else has: for a prefix, a schema, a file."""
        return f"conformance-{uuid.uuid4().hex}"

    async def make(self) -> Any:
        """Build the adapter and check that it declares the port and has its shape."""
        raise NotImplementedError

    async def release(self, adapter: Any) -> None:
        """Let go of an adapter that `make` built."""

    @asynccontextmanager
    async def adapter(self) -> AsyncGenerator[Any]:
        """An adapter of its own for one rule."""
        built = await self.make()
        try:
            yield built
        finally:
            await self.release(built)

    async def require_port(self, port: Any) -> None:
        """Raise `AbsentPort` unless the adapter provides the optional port."""
        if port is self.port:
            return
        async with self.adapter() as adapter:
            if not provides(adapter, port):
                raise AbsentPort(f"{type(adapter).__name__} does not provide {port.__name__}")
            verify(adapter, port)

    async def describe(self) -> dict[str, Any]:
        """Class, module and optional ports of the adapter, for reports."""
        async with self.adapter() as adapter:
            provided = [port.__name__ for port in self.capabilities if provides(adapter, port)]
            return {"adapter": type(adapter).__name__, "module": type(adapter).__module__, "provides": provided}

    def test_claims(self, record_property: Callable[[str, object], None]) -> None:
        """The adapter has the port's shape, and provides just the optional ports it claims."""
        facts = run_async(self.describe)
        record_property("contextport.adapter", facts)
        if self.claims is not None:
            claimed, provided = {port.__name__ for port in self.claims}, set(facts["provides"])
            assert claimed == provided, (
                f"claims says {sorted(claimed)}, {facts['adapter']} provides {sorted(provided)}; "
                "correct claims, or declare the port with @implements"
            )


def _test_method(checked: Rule) -> Callable[..., None]:
    def test(self: Conformance, record_property: Callable[[str, object], None]) -> None:
        from . import plugin  # here, not above: a suite is of use without pytest

        __tracebackhide__ = True  # pytest shows the rule and what it called, not what called the rule
        reason = self.known_deviations.get(checked.id)
        try:
            call_rule(self, checked)
        except NotChecked as error:
            plugin.not_run(str(error))
        except AbsentPort as error:
            record_property("contextport.absent", checked.port.__name__)
            plugin.not_run(str(error))
        except Exception as error:
            record_property("contextport.failure", failure_text(checked, error))
            if reason is not None:
                plugin.deviates(f"{checked.id}: {reason}")
            error.add_note(checked.explanation(error))
            error.__traceback__ = _from_the_rule(error.__traceback__, checked)
            raise
        else:
            assert reason is None, f"{checked.id} holds now: take it out of known_deviations (its reason was: {reason})"

    test.__name__ = checked.test_name
    test.__qualname__ = checked.test_name
    test.__doc__ = f"{checked.id}: {checked.sentence}"
    test.contextport_rule = checked.id  # type: ignore[attr-defined]
    return test


def _from_the_rule(found: TracebackType | None, checked: Rule) -> TracebackType | None:
    """The frames from the rule on; all of them if it was not reached."""
    code, at = getattr(checked.check, "__code__", None), found
    while at is not None and at.tb_frame.f_code is not code:
        at = at.tb_next
    return at or found


def _check_deviations(cls: type[Conformance]) -> None:
    known = {one.id for one in cls.rules}
    for rule_id, reason in cls.known_deviations.items():
        if rule_id not in known:
            raise TypeError(f"{cls.__name__}: known_deviations names {rule_id!r}, which is no rule of {cls.port.__name__}")
        if len(reason.strip()) < _LEAST_REASON:
            raise TypeError(
                f"{cls.__name__}: the reason for {rule_id} is {reason!r}; say why in {_LEAST_REASON} characters or more"
            )
