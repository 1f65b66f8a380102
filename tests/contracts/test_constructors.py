"""A quick constructor makes what a call of the class makes: equal, frozen, checked, of the same defaults."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from contextport.adapters.managers import session_window
from contextport.contracts import InvalidMessage, Message, Mode, Receipt, Text, context, messages, store
from contextport.contracts.constructors import constructor_of

_RECEIPT_FIELDS: dict[str, Any] = {"session_id": "s", "epoch": 1, "version": 2, "config": "c", "mode": Mode.FULL, "slots": ()}
_RECEIPT = Receipt(**_RECEIPT_FIELDS)
_WITH_DEFAULTS: list[tuple[Callable[..., Any], type[Any], dict[str, Any]]] = [
    (messages.make_text, messages.Text, {"text": "hello"}),
    (messages.make_native, messages.Native, {"api": "a", "raw": {"role": "user"}, "parts": ()}),
    (messages.make_message, messages.Message, {"role": "user", "parts": (Text("hello"),), "id": "m1"}),
    (store.make_head, store.Head, {"session_id": "s"}),
    (messages.make_tool_call, messages.ToolCall, {"call_id": "c", "name": "n", "arguments": "{}"}),
    (messages.make_tool_result, messages.ToolResult, {"call_id": "c", "parts": ()}),
    (context.make_receipt, context.Receipt, _RECEIPT_FIELDS),
    (context.make_context, context.Context, {"session_id": "s", "messages": (), "tokens": 0, "limit": 8, "receipt": _RECEIPT}),
    (session_window.make_region, session_window.Region, {"kept": (), "tail": (), "messages": 0, "tokens": 0, "last_seq": 0}),
    (session_window.make_view, session_window.View, {"messages": (), "slots": (), "tokens": 0, "said": 0, "extendable": True}),
]
_WHOLE: list[tuple[Callable[..., Any], type[Any]]] = [
    *[(make, cls) for make, cls, _ in _WITH_DEFAULTS if cls is not messages.Message],
    (store.make_draft, store.Draft),
    (store.make_entry, store.Entry),
    (context.make_span, context.Span),
    (session_window.make_window, session_window.SessionWindow),
]


@pytest.mark.parametrize(("make", "cls", "given"), _WITH_DEFAULTS, ids=lambda one: getattr(one, "__name__", None))
def test_what_is_left_out_has_the_default_of_the_class(make: Callable[..., Any], cls: type[Any], given: dict[str, Any]) -> None:
    made, called = make(**given), cls(**given)
    assert type(made) is cls
    assert {f.name: getattr(made, f.name) for f in attrs.fields(cls)} == {
        f.name: getattr(called, f.name) for f in attrs.fields(cls)
    }


@pytest.mark.parametrize(("make", "cls"), _WHOLE, ids=lambda one: getattr(one, "__name__", None))
def test_every_argument_goes_into_its_field(make: Callable[..., Any], cls: type[Any]) -> None:
    given = {field.name: object() for field in attrs.fields(cls) if field.init}
    made = make(**given)
    assert {name: getattr(made, name) for name in given} == given


@pytest.mark.parametrize(("make", "cls"), _WHOLE, ids=lambda one: getattr(one, "__name__", None))
def test_what_was_made_cannot_be_changed(make: Callable[..., Any], cls: type[Any]) -> None:
    made = make(**{field.name: 1 for field in attrs.fields(cls) if field.init})
    name = attrs.fields(cls)[0].name
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(made, name, 2)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        delattr(made, name)
    assert getattr(made, name) == 1


def test_defaults_that_are_made_are_made_for_each() -> None:
    first, second = (messages.make_message(role="user", parts=()) for _ in range(2))
    assert first.id != second.id
    assert first.metadata is not second.metadata


def test_the_checks_of_the_class_are_made() -> None:
    with pytest.raises(InvalidMessage, match="role is 'nobody'"):
        messages.make_message(role="nobody", parts=())  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def test_arguments_are_required_and_known_as_with_the_class() -> None:
    with pytest.raises(TypeError, match="parts"):
        messages.make_message(role="user")  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="roles"):
        messages.make_message(roles="user", parts=())  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="positional"):
        messages.make_message("user", ())  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]


def test_it_is_copied_pickled_and_edited_like_any_other() -> None:
    made = messages.make_message(role="user", parts=(Text("hello"),), metadata={"a": 1})
    called = Message(role="user", parts=(Text("hello"),), id=made.id, metadata={"a": 1})
    assert made == called
    assert copy.deepcopy(made) == called
    assert pickle.loads(pickle.dumps(made)) == called
    assert attrs.evolve(made, name="ann") == attrs.evolve(called, name="ann")
    assert repr(made) == repr(called)


def test_a_class_of_which_it_would_leave_something_out_is_refused() -> None:
    @attrs.frozen
    class Converted:
        size: int = attrs.field(converter=int)

    @attrs.frozen
    class Checked:
        size: int = attrs.field(validator=attrs.validators.gt(0))

    @attrs.frozen
    class Derived:
        size: int
        twice: int = attrs.field(default=attrs.Factory(lambda self: self.size * 2, takes_self=True))

    @attrs.frozen
    class Private:
        _size: int

    refused: list[Any] = [Converted, Checked, Derived, Private]
    for cls in refused:
        with pytest.raises(TypeError, match=rf"^{cls.__name__}\.(size|twice|_size) has "):
            constructor_of(cls)
