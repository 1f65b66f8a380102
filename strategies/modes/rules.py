"""The rules of modes for a default, tenants and sessions: read from JSON, checked as a whole, and looked up (R184, R189)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast

import attrs
from attrs import field, frozen

from contextport.contracts.errors import RulesInvalid
from contextport.contracts.messages import Json
from contextport.contracts.modes import ModeRules

from .settings import SETTINGS, at, named, nearest

__all__ = ["Layer", "RulesBook", "TenantOf"]

#: What one layer says: the settings of `ModeRules` that it states, by name.
Layer = Mapping[str, Any]

#: Finds the tenant of a session; None or a tenant without rules has the default's. It must not raise.
TenantOf = Callable[[str], str | None]

_KEYS = ("$schema", "default", "tenants", "sessions")


def _nobody(session_id: str) -> None:
    return None


@frozen(kw_only=True)
class RulesBook:
    """Rules by session: what a session says holds over what its tenant says, and that over `default`, setting by setting.

    `tenants` and `sessions` have the settings that differ, by id. `RulesBook.of` makes one from JSON. Raises `RulesInvalid`.
    """

    default: ModeRules = field(factory=ModeRules)
    tenants: Mapping[str, Layer] = field(factory=dict[str, Layer])
    sessions: Mapping[str, Layer] = field(factory=dict[str, Layer])
    tenant_of: TenantOf = field(default=_nobody, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        problems: list[str] = []
        for place, layers in (("$.tenants", self.tenants), ("$.sessions", self.sessions)):
            for id, layer in layers.items():
                _layer(dict(layer), at(place, id), problems)
        problems.extend(() if problems else _crossed(attrs.asdict(self.default), self.tenants, self.sessions))
        if problems:
            raise invalid(problems)

    @classmethod
    def of(cls, value: Json, *, tenant_of: TenantOf | None = None) -> RulesBook:
        """Read `{"default": {...}, "tenants": {id: {...}}, "sessions": {id: {...}}}`; each of the three may be absent.

        Raises `RulesInvalid` with all that is wrong, each with its place, such as `$.tenants.acme.keep_messages: ...`.
        """
        problems: list[str] = []
        top = _object(value, "$", problems)
        problems.extend(_unknown(top, _KEYS, "$"))
        if not isinstance(top.get("$schema", ""), str):
            problems.append(f"$.$schema: is {named(top['$schema'])}; it must be a string")
        default = _layer(top.get("default", {}), at("$", "default"), problems)
        tenants = _layers(top.get("tenants", {}), at("$", "tenants"), problems)
        sessions = _layers(top.get("sessions", {}), at("$", "sessions"), problems)
        problems.extend(_crossed(attrs.asdict(ModeRules()) | dict(default), tenants, sessions))
        if problems:
            raise invalid(problems)
        return cls(default=ModeRules(**default), tenants=tenants, sessions=sessions, tenant_of=tenant_of or _nobody)

    def rules_for(self, session_id: str) -> ModeRules:
        """The rules of a session."""
        own = self.sessions.get(session_id)
        tenant = self.tenant_of(session_id) if self.tenants else None
        of_tenant = None if tenant is None else self.tenants.get(tenant)
        if not own and not of_tenant:
            return self.default
        return attrs.evolve(self.default, **{**(of_tenant or {}), **(own or {})})

    def changes_from(self, before: RulesBook) -> dict[str, list[Json]]:
        """What is not as it was: `{"default.keep_messages": [8, 15]}`, None where a layer did not say."""
        old, new = before.flat(), self.flat()
        places = dict.fromkeys([*new, *old])
        return {place: [old.get(place), new.get(place)] for place in places if old.get(place) != new.get(place)}

    def flat(self) -> dict[str, Json]:
        """Every setting that is stated, by its place: all of the default's."""
        found = {f"default.{name}": _plain(value) for name, value in attrs.asdict(self.default).items()}
        for kind, layers in (("tenants", self.tenants), ("sessions", self.sessions)):
            for id, layer in layers.items():
                found.update({f"{kind}.{id}.{name}": _plain(value) for name, value in layer.items()})
        return found


def invalid(problems: list[str]) -> RulesInvalid:
    """The error that tells of the problems, the first few in its text."""
    shown = "; ".join(problems[:3]) + (f"; and {len(problems) - 3} more" if len(problems) > 3 else "")
    return RulesInvalid(f"these rules cannot be used: {shown}", problems=tuple(problems))


def _plain(value: Any) -> Json:
    return str(value) if isinstance(value, str) else value


def _object(value: Json, place: str, problems: list[str]) -> dict[str, Json]:
    if isinstance(value, dict):
        return cast(dict[str, Json], value)
    problems.append(f"{place}: is {named(value)}; it must be an object")
    return {}


def _unknown(value: Mapping[str, Json], known: tuple[str, ...], place: str) -> Iterator[str]:
    for key in value:
        if key not in known:
            yield f"{at(place, key)}: is not known; {nearest(key, known)}"


def _layers(value: Json, place: str, problems: list[str]) -> Mapping[str, Layer]:
    layers = _object(value, place, problems)
    return MappingProxyType({id: _layer(layer, at(place, id), problems) for id, layer in layers.items()})


def _layer(value: Json, place: str, problems: list[str]) -> Layer:
    """The settings of a layer that can be used; the rest is told."""
    given = _object(value, place, problems)
    problems.extend(_unknown(given, tuple(SETTINGS), place))
    read: dict[str, Any] = {}
    for name, stated in given.items():
        setting = SETTINGS.get(name)
        if setting is None:
            continue
        if (wrong := setting.wrong(stated)) is None:
            read[name] = setting.read(stated)
        else:
            problems.append(f"{at(place, name)}: {wrong}")
    return MappingProxyType(read)


def _crossed(default: Layer, tenants: Mapping[str, Layer], sessions: Mapping[str, Layer]) -> Iterator[str]:
    """Where SUMMARY would begin above HYBRID. `default` is whole. Any session may be any tenant's, so it has to fit all."""
    begin = {name: default[name] for name in _THRESHOLDS}
    below = {at("$.tenants", id): layer for id, layer in tenants.items() if _THRESHOLDS & layer.keys()}
    bases = {"$.default": begin} | {place: begin | dict(layer) for place, layer in below.items()}
    for place, merged in bases.items():
        yield from _order(place, merged)
    good = [(place, merged) for place, merged in bases.items() if not any(_order(place, merged))]
    for id, layer in sessions.items():
        if _THRESHOLDS & layer.keys():
            found = (problem for base, merged in good for problem in _order(at("$.sessions", id), merged | dict(layer), base))
            yield from list(found)[:1]


_THRESHOLDS = frozenset({"summary_from", "hybrid_from"})


def _order(place: str, merged: Layer, base: str = "") -> Iterator[str]:
    summary_from, hybrid_from = merged["summary_from"], merged["hybrid_from"]
    if summary_from > hybrid_from:
        over = f" over {base}" if base else ""
        yield f"{place}: summary_from {summary_from:g} is above hybrid_from {hybrid_from:g}{over}; SUMMARY comes first"
