"""The port: one definition, a strict check at run time."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from zope.interface import Interface, directlyProvides, implementedBy
from zope.interface.adapter import AdapterRegistry
from zope.interface.interfaces import IInterface
from zope.interface.verify import verifyObject

from contextport.contracts import Port, PortMismatch, implements, provides, verify, violations


class Clock(Port):
    """Tells the time."""

    zone: str

    def now(self, offset: int, *, utc: bool = False) -> float:
        """The time."""
        ...

    async def wait(self, seconds: float) -> None:
        """Wait."""
        ...

    @property
    def resolution(self) -> float:
        """The smallest step."""
        ...


class Alarm(Port):
    """Rings."""

    def ring(self) -> None:
        """Ring."""
        ...


class Sound:
    zone = "UTC"
    resolution = 1.0

    def now(self, offset: int, *, utc: bool = False) -> float:
        return 0.0

    async def wait(self, seconds: float) -> None: ...


def made(**members: Any) -> object:
    """An instance of a declared clock with some members replaced; None removes one."""
    body = {**{k: v for k, v in vars(Sound).items() if not k.startswith("__")}, **members}
    kind = type("Made", (), {k: v for k, v in body.items() if v is not None})
    return implements(Clock)(kind)()


def test_a_sound_adapter_passes() -> None:
    verify(made(), Clock)
    assert violations(made(), Clock) == ()
    assert provides(made(), Clock)
    assert not provides(Sound(), Clock)
    assert not provides(made(), Alarm)


def renamed(self: Any, shift: int, *, utc: bool = False) -> Any: ...
def no_keyword(self: Any, offset: int) -> Any: ...
def extra_required(self: Any, offset: int, *, utc: bool = False, zone: str) -> Any: ...
def no_default(self: Any, offset: int, *, utc: bool) -> Any: ...
def positional_only(self: Any, offset: int, /, *, utc: bool = False) -> Any: ...
def swallows_all(self: Any, *args: Any, **more: Any) -> Any: ...
def no_self(offset: int, *, utc: bool = False) -> Any: ...
def no_parameters() -> Any: ...
def by_name_alone(*, self: Any, offset: int, utc: bool = False) -> Any: ...
async def turned_async(self: Any, offset: int, *, utc: bool = False) -> Any: ...
def turned_sync(self: Any, seconds: float) -> None: ...
def optional_extra(self: Any, offset: int, *, utc: bool = False, zone: str = "") -> Any: ...


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({"now": renamed}, "no parameter offset"),
        ({"now": no_keyword}, "no parameter utc"),
        ({"now": extra_required}, "requires zone"),
        ({"now": no_default}, "utc must be optional"),
        ({"now": positional_only}, "offset must be parameter 1"),
        ({"now": swallows_all}, "real parameters cannot be told"),
        ({"now": no_self}, "no parameter offset"),
        ({"now": no_parameters}, "now has no self"),
        ({"now": by_name_alone}, "now has no self"),
        ({"now": turned_async}, "must be a plain def"),
        ({"wait": turned_sync}, "must be async def"),
        ({"now": MagicMock()}, "not a method"),
        ({"now": 5}, "not a method"),
        ({"now": None}, "now is missing"),
        ({"zone": None}, "zone is missing"),
        ({"resolution": None}, "resolution is missing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_defect_is_named(members: dict[str, Any], found: str) -> None:
    with pytest.raises(PortMismatch, match=found):
        verify(made(**members), Clock)


class Shelf(Port):
    """Holds things."""

    def put(self, key: str, thing: str) -> None:
        """Put it there."""
        ...


def test_a_method_that_lacks_its_first_parameter_is_told_so() -> None:
    @implements(Shelf)
    class Heap:
        def put(self, thing: str) -> None: ...

    assert violations(Heap(), Shelf) == ("put has no parameter key", "put: thing must be parameter 2, by position or by name")


def test_optional_extras_are_allowed() -> None:
    verify(made(now=optional_extra), Clock)


def test_an_undeclared_adapter_is_told_how_to_declare_itself() -> None:
    with pytest.raises(PortMismatch, match=r"@implements\(Clock\)"):
        verify(Sound(), Clock)


def test_a_class_in_place_of_an_instance_is_named() -> None:
    for kind in (Sound, implements(Clock)(type("Declared", (Sound,), {}))):
        with pytest.raises(PortMismatch) as caught:
            verify(kind, Clock)
        problem = f"the class itself was passed; pass an instance of {kind.__name__}"
        assert str(caught.value) == f"{kind.__name__} does not provide Clock: {problem}"
        assert caught.value.problems == (problem,)


def test_a_class_that_provides_the_port_itself_passes() -> None:
    class Single:
        zone = "UTC"
        resolution = 1.0

        @classmethod
        def now(cls, offset: int, *, utc: bool = False) -> float:
            return 0.0

        @classmethod
        async def wait(cls, seconds: float) -> None: ...

    directlyProvides(Single, Clock)
    verify(Single, Clock)


def test_a_mock_and_a_wildcard_do_not_pass() -> None:
    class Wildcard:
        def __getattr__(self, name: str) -> Any:
            return lambda *args: None

    for candidate in (MagicMock(), Wildcard()):
        with pytest.raises(PortMismatch):
            verify(candidate, Clock)


def test_all_problems_are_listed_at_once() -> None:
    with pytest.raises(PortMismatch) as caught:
        verify(made(now=renamed, wait=turned_sync, zone=None), Clock)
    assert len(caught.value.problems) == 4


def test_a_port_is_a_real_interface() -> None:
    port: Any = Clock
    assert IInterface.providedBy(port)
    assert port.isOrExtends(Interface)
    assert Clock in implementedBy(type(made()))
    assert verifyObject(port, made())
    registry: Any = AdapterRegistry()
    registry.register([port], Alarm, "", "an alarm for a clock")
    assert registry.lookup([implementedBy(type(made()))], Alarm, "") == "an alarm for a clock"
