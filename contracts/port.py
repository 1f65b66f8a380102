"""`Port`: one class per role, a zope interface when the program runs and a `Protocol` for type checkers.

    class Clock(Port):
        def now(self) -> float: ...

    @implements(Clock)
    class WallClock:
        def now(self) -> float:
            return time.time()

    provides(WallClock(), Clock)   # True; narrows the type
    verify(WallClock(), Clock)     # raises PortMismatch with every difference at once

`zope.interface.verify.verifyObject` compares how many positional arguments a method takes and no more. `violations` also sees
renamed and keyword-only parameters, sync for async, and callables that only look like methods.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, TypeVar

from zope.interface import Attribute, Interface, implementer
from zope.interface.declarations import Provides
from zope.interface.interface import InterfaceClass, Method, fromFunction

from .errors import PortMismatch

__all__ = ["Port", "declare", "implements", "provides", "verify", "violations"]

_C = TypeVar("_C", bound=type[Any])
_P = TypeVar("_P")

if TYPE_CHECKING:
    from typing import Protocol as Port

    from typing_extensions import TypeForm, TypeIs

    def implements(*ports: Any) -> Callable[[_C], _C]:
        """Class decorator: instances of the class provide `ports`."""
        ...

    def declare(adapter: object, *ports: Any) -> None:
        """Let this one adapter provide `ports` besides those of its class: an ability that it has if its parts have it."""
        ...

    def provides(candidate: object, port: TypeForm[_P]) -> TypeIs[_P]:
        """Whether `candidate` declares `port`; narrows the type of `candidate`."""
        ...

else:

    class PortClass(InterfaceClass):
        """An interface whose methods are written with `self`, as a Protocol wants, and kept whole for the strict check."""

        def __init__(self, name, bases=(), attrs=None, __doc__=None, __module__=None):
            members = dict(attrs or {})
            for key, annotation in members.get("__annotations__", {}).items():
                members.setdefault(key, Attribute(key, str(annotation)))
            for key, value in list(members.items()):
                if isinstance(value, property):
                    members[key] = Attribute(key, value.__doc__ or "")
                elif isinstance(value, FunctionType) and next(iter(inspect.signature(value).parameters), "") == "self":
                    members[key] = fromFunction(value, name=key, imlevel=1)
                    members[key].setTaggedValue(_FUNCTION, value)
                    members[key].form = _form(value)
            super().__init__(name, bases, members, __doc__, __module__)
            self.members_to_check = tuple(
                (name, description if isinstance(description, Method) else None)
                for name, description in sorted(self.namesAndDescriptions(all=True))
            )

    Port = PortClass("Port", (Interface,), {"__doc__": "Base of all ports."}, __module__=__name__)

    def implements(*ports):
        """Class decorator: instances of the class provide `ports`."""
        return implementer(*ports)

    def declare(adapter, *ports):
        """Let this one adapter, whose class has no slots, provide `ports` besides those of its class."""
        object.__setattr__(adapter, "__provides__", Provides(type(adapter), *ports))  # its class may be frozen

    def provides(candidate, port):
        """Whether `candidate` declares `port`."""
        return port.providedBy(candidate)


_FUNCTION = "contextport.function"


def verify(candidate: object, port: Any) -> None:
    """Raise `PortMismatch` unless `candidate` declares `port` and has all of it, exactly as the port has it."""
    if isinstance(candidate, type) and not port.providedBy(candidate):
        problem = f"the class itself was passed; pass an instance of {candidate.__name__}"
        raise PortMismatch(f"{candidate.__name__} does not provide {port.__name__}: {problem}", problems=(problem,))
    problems = violations(candidate, port)
    if not port.providedBy(candidate):
        problems = (f"it is not declared: decorate the class with @implements({port.__name__})", *problems)
    if problems:
        listed = "; ".join(problems)
        raise PortMismatch(f"{type(candidate).__name__} does not provide {port.__name__}: {listed}", problems=problems)


def violations(candidate: object, port: Any) -> tuple[str, ...]:
    """Every way in which the members of `candidate` differ from those of `port`; empty when there is none."""
    found: list[str] = []
    defined = _defined(candidate)
    members: tuple[tuple[str, Any], ...] = port.members_to_check
    for name, method in members:
        if name not in defined:
            found.append(f"{name} is missing")
        elif method is not None:
            member = getattr(candidate, name)
            # Most methods have the port's form, and need no slow inspection.
            if type(member) is not MethodType or _form(member.__func__) != method.form:
                found.extend(_method_violations(name, member, method))
    return tuple(found)


def _defined(candidate: object) -> set[str]:
    """The names that the object, its class or a base of it defines. No code of theirs is run, as a property would be."""
    places = (candidate, *type(candidate).__mro__, *(candidate.__mro__ if isinstance(candidate, type) else ()))
    return set().union(*[getattr(place, "__dict__", ()) for place in places])


def _method_violations(name: str, member: object, description: Method) -> list[str]:
    if not isinstance(member, _CALLABLE):
        return [f"{name} is a {type(member).__name__}, not a method"]
    if isinstance(member, MethodType) and not _takes_self(member.__func__):
        return [f"{name} has no self: it takes no argument by position"]
    wanted = description.getTaggedValue(_FUNCTION)
    wanted_parameters = list(inspect.signature(wanted).parameters.values())[1:]
    given = inspect.signature(member).parameters
    found = [
        problem
        for position, parameter in enumerate(wanted_parameters)
        if (problem := _parameter_violation(name, position, parameter, given))
    ]
    known = {parameter.name for parameter in wanted_parameters}
    for extra in given.values():
        if extra.name not in known and extra.default is extra.empty and extra.kind not in _VARIADIC:
            found.append(f"{name} requires {extra.name}, which the port does not pass")
        elif extra.kind in _VARIADIC:
            found.append(f"{name} takes *{extra.name}, so its real parameters cannot be told")
    if inspect.iscoroutinefunction(wanted) != inspect.iscoroutinefunction(member):
        found.append(f"{name} must be {'async def' if inspect.iscoroutinefunction(wanted) else 'a plain def'}")
    return found


def _takes_self(function: Callable[..., Any]) -> bool:
    """Whether a first argument can be given by position, as a call on an instance does."""
    first = next(iter(inspect.signature(function).parameters.values()), None)
    return first is not None and first.kind is not first.KEYWORD_ONLY and first.kind is not first.VAR_KEYWORD


def _form(function: object) -> object:
    """What decides how a plain function may be called: equal forms have no violation. Anything else equals only itself."""
    if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__") or hasattr(function, "__signature__"):
        return function
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    optional = (len(function.__defaults__ or ()), sorted(function.__kwdefaults__ or ()))
    return names, code.co_argcount, code.co_posonlyargcount, code.co_flags & _CALLING, optional


_CALLABLE = (FunctionType, MethodType, BuiltinFunctionType)
_CALLING = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _parameter_violation(
    method: str, position: int, wanted: inspect.Parameter, given: Mapping[str, inspect.Parameter]
) -> str | None:
    have = given.get(wanted.name)
    if have is None:
        return f"{method} has no parameter {wanted.name}"
    if wanted.kind is wanted.KEYWORD_ONLY:
        if have.kind not in (have.KEYWORD_ONLY, have.POSITIONAL_OR_KEYWORD):
            return f"{method}: {wanted.name} cannot be passed by name"
    elif have.kind is not have.POSITIONAL_OR_KEYWORD or [*given][position : position + 1] != [wanted.name]:
        return f"{method}: {wanted.name} must be parameter {position + 1}, by position or by name"
    if wanted.default is not wanted.empty and have.default is have.empty:
        return f"{method}: {wanted.name} must be optional"
    return None
