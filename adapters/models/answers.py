"""What the chat models of all SDKs do with a request and an answer alike."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from attrs import evolve

from contextport.contracts import InvalidArgument, Message, Part, new_id
from contextport.contracts.json_values import copy_json

from .sdk_failure import UnreadableAnswer

__all__ = ["as_received", "check_max_output", "checked_parameters", "whole_arguments", "with_own_ids", "with_parts"]


def check_max_output(max_output: int | None) -> None:
    """Raise `InvalidArgument` unless it is None or a whole number from 1 on."""
    if max_output is None or (isinstance(max_output, int) and not isinstance(max_output, bool) and max_output >= 1):
        return
    raise InvalidArgument(
        f"max_output is {max_output!r}; it must be a whole number of tokens from 1 on, or None",
        name="max_output",
        value=max_output,
    )


def checked_parameters(
    given: Mapping[str, Any] | None, reserved: Sequence[str], taken_by: Callable[..., Any] | None = None
) -> dict[str, Any]:
    """A copy of the request parameters of a host.

    Raises `InvalidArgument` for one that the adapter sets itself, and for one that the SDK's method `taken_by` does not take.
    """
    parameters = cast(dict[str, Any], copy_json(given or {}))
    for name in parameters:
        if name in reserved:
            raise InvalidArgument(
                f"parameters has {name!r}, which each call sets; reserved: {', '.join(reserved)}", name="parameters", value=name
            )
        if taken_by is not None and name not in inspect.signature(taken_by).parameters:
            raise InvalidArgument(
                f"parameters has {name!r}, which this version of the SDK does not take; fields of a request that it does not "
                "know go in 'extra_body'",
                name="parameters",
                value=name,
            )
    return parameters


def whole_arguments(arguments: str, *, cut: bool) -> bool:
    """Whether the arguments of a call are whole JSON. Nothing at all is a call without arguments, unless the answer was cut."""
    if not arguments.strip():
        return not cut
    try:
        json.loads(arguments, parse_int=float)  # a number of thousands of digits is whole, too, and no int of Python's
    except (ValueError, RecursionError):
        return False
    return True


def with_own_ids(calls: Sequence[dict[str, Any]], prefix: str) -> list[dict[str, Any]]:
    """The calls of one answer, each with an id that none before it has: a result names its call by it alone.

    Some hosts give no id, an empty one, a number, or all calls the same.
    """
    taken: set[str] = set()
    named: list[dict[str, Any]] = []
    for call in calls:
        given = call.get("id")
        id = "" if given is None or isinstance(given, bool | dict | list) else str(given)
        if not id or id in taken:
            id = f"{prefix}{new_id()[:24]}"
        taken.add(id)
        named.append({**call, "id": id})
    return named


def with_parts(message: Message, parts: tuple[Part, ...], *, same_on_the_wire: bool = True) -> Message:
    """The message with parts that say more than those decoded. Its wire form still stands for it if `same_on_the_wire`."""
    native = message.native
    if native is not None and same_on_the_wire:
        native = evolve(native, parts=parts)
    return evolve(message, parts=parts, native=native)


def as_received(answer: Any) -> dict[str, Any]:
    """An SDK's answer or stream event as the dict that came. SDKs hand out a plain string where the answer is no JSON."""
    if not hasattr(answer, "to_dict"):
        raise UnreadableAnswer(
            f"the answer is {type(answer).__name__} and no JSON object", answer if isinstance(answer, str) else None
        )
    return cast(dict[str, Any], answer.to_dict(warnings=False))
