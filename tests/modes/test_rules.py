"""Rules of modes: layers, what is wrong with them and where, and the published schema."""

import itertools
import json
import random
from importlib.resources import files
from typing import Any

import attrs
import jsonschema
import pytest

from contextport.contracts.context import Mode
from contextport.contracts.errors import RulesInvalid
from contextport.contracts.modes import Control, ModeRules
from contextport.strategies.modes import RulesBook, read_rules, rules_schema
from contextport.strategies.modes.settings import SETTINGS


def problems_of(value: object) -> tuple[str, ...]:
    with pytest.raises(RulesInvalid) as raised:
        RulesBook.of(value)
    found: tuple[str, ...] = raised.value.problems
    return found


def problems_in(data: bytes) -> tuple[str, ...]:
    with pytest.raises(RulesInvalid) as raised:
        read_rules(data)
    found: tuple[str, ...] = raised.value.problems
    return found


def tenant_of(session_id: str) -> str | None:
    tenant, slash, _ = session_id.partition("/")
    return tenant if slash else None


# --- layers -------------------------------------------------------------------------------------------------------------


def test_a_session_holds_over_its_tenant_and_that_over_the_default() -> None:
    value = {
        "default": {"keep_messages": 10, "min_score": 0.2, "control": "manual"},
        "tenants": {"acme": {"keep_messages": 12, "start": "retrieval"}},
        "sessions": {"acme/vip": {"keep_messages": 15}, "alone": {"control": "semi_automatic"}},
    }
    book = RulesBook.of(value, tenant_of=tenant_of)
    plain = ModeRules(keep_messages=10, min_score=0.2, control=Control.MANUAL)
    assert book.rules_for("nobody") == plain
    assert book.rules_for("other/nobody") == plain
    assert book.rules_for("acme/x") == attrs.evolve(plain, keep_messages=12, start=Mode.RETRIEVAL)
    assert book.rules_for("acme/vip") == attrs.evolve(plain, keep_messages=15, start=Mode.RETRIEVAL)
    assert book.rules_for("alone") == attrs.evolve(plain, control=Control.SEMI_AUTOMATIC)


def test_nothing_stated_is_the_service_default() -> None:
    assert RulesBook.of({}).rules_for("s") == ModeRules()
    assert RulesBook.of({"$schema": "x", "default": {}, "tenants": {}, "sessions": {"s": {}}}).rules_for("s") == ModeRules()


def test_json_may_write_whole_numbers_with_a_point() -> None:
    kept = RulesBook.of({"default": {"keep_messages": 15.0}}).rules_for("s").keep_messages
    assert (kept, type(kept)) == (15, int)


def test_a_book_made_in_python_is_checked_too() -> None:
    with pytest.raises(RulesInvalid, match=r"\$\.sessions\.s\.keep_message: is not known; did you mean keep_messages"):
        RulesBook(sessions={"s": {"keep_message": 3}})
    with pytest.raises(RulesInvalid, match="SUMMARY comes first"):
        RulesBook(default=ModeRules(hybrid_from=0.7), tenants={"t": {"summary_from": 0.8}})
    assert RulesBook(tenants={"t": {"start": Mode.HYBRID}}, tenant_of=lambda _: "t").rules_for("s").start is Mode.HYBRID


def test_changes_are_told_by_place() -> None:
    before = RulesBook.of({"tenants": {"t": {"min_score": 0.5}}, "sessions": {"s": {"start": "full"}}})
    after = RulesBook.of({"default": {"keep_messages": 15}, "tenants": {"t": {"min_score": 0.3}}})
    assert after.changes_from(before) == {
        "default.keep_messages": [8, 15],
        "tenants.t.min_score": [0.5, 0.3],
        "sessions.s.start": ["full", None],
    }
    assert after.changes_from(after) == {}


# --- what is wrong ------------------------------------------------------------------------------------------------------


def test_all_problems_are_told_at_once_with_their_places() -> None:
    value = {
        "default": {"keep_mesages": 8, "keep_messages": -1, "min_score": 2, "start": "ful"},
        "tenants": {"acme": {"summary_from": "0.6", "reset_to": "hybrid"}, "a b": []},
        "sessions": {"s": {"control": "auto", "snippet_tokens": True, "signal_score": None}},
        "tenant": {},
    }
    assert problems_of(value) == (
        "$.tenant: is not known; did you mean tenants?",
        "$.default.keep_mesages: is not known; did you mean keep_messages?",
        "$.default.keep_messages: is -1; it must be a whole number, 0 or more",
        "$.default.min_score: is 2; it must be a number from 0 to 1",
        '$.default.start: is "ful"; did you mean full?',
        '$.tenants.acme.summary_from: is "0.6"; it must be a number from 0 to 1',
        '$.tenants.acme.reset_to: is "hybrid"; it must be one of full, zero_shot',
        '$.tenants["a b"]: is a list; it must be an object',
        '$.sessions.s.control: is "auto"; did you mean automatic?',
        "$.sessions.s.snippet_tokens: is true; it must be a whole number, 0 or more",
        "$.sessions.s.signal_score: is null; it must be a number from 0 to 1",
    )


def test_error_text_names_the_first_problems_and_counts_the_rest() -> None:
    with pytest.raises(RulesInvalid, match=r"\$\.a: .*; \$\.b: .*; \$\.c: .*; and 2 more$"):
        RulesBook.of(dict.fromkeys("abcde", 1))


@pytest.mark.parametrize("value", [None, [], "x", 1, True, [{}]])
def test_rules_are_an_object(value: object) -> None:
    assert len(problems_of(value)) == 1
    assert problems_of(value)[0].startswith("$: is ")


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"default": {"summary_from": 0.9}}, "$.default"),
        ({"default": {"hybrid_from": 0.5}}, "$.default"),
        ({"default": {"summary_from": 0.3, "hybrid_from": 0.5}, "tenants": {"t": {"summary_from": 0.6}}}, "$.tenants.t"),
        ({"sessions": {"s": {"summary_from": 0.86}}}, "$.sessions.s"),
        ({"tenants": {"t": {"summary_from": 0.8}}, "sessions": {"s": {"hybrid_from": 0.7}}}, "$.sessions.s"),
    ],
)
def test_summary_begins_below_hybrid_whichever_layers_meet(value: dict[str, Any], place: str) -> None:
    [problem] = problems_of(value)
    assert problem.startswith(f"{place}: summary_from ")


def test_whatever_layers_meet_rules_can_be_had() -> None:
    value = {
        "tenants": {"low": {"summary_from": 0.1, "hybrid_from": 0.2}, "high": {"summary_from": 0.9, "hybrid_from": 0.95}},
        "sessions": {"own": {"summary_from": 0.4, "hybrid_from": 0.5}, "start": {"start": "summary"}},
    }
    for session, tenant in itertools.product(("own", "start", "x"), ("low", "high", "none", None)):
        book = RulesBook.of(value, tenant_of=lambda _, tenant=tenant: tenant)  # type: ignore[misc]
        rules = book.rules_for(session)
        assert rules.summary_from <= rules.hybrid_from


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "$: is empty; an empty set of rules is {}"),
        (b" \n", "$: is empty; an empty set of rules is {}"),
        (b'{"default": {"keep', "$: is not JSON: Unterminated string starting at at line 1, column 14"),
        (b'{"default":\n oops}', "$: is not JSON: Expecting value at line 2, column 2"),
        ("{}".encode("utf-16"), "$: is not UTF-8 at byte 0; save it as UTF-8"),
        (b'{"default": "\xe4"}', "$: is not UTF-8 at byte 13; save it as UTF-8"),
        (b'{"default": {"min_score": NaN}}', "$: cannot be read: NaN is no number of JSON"),
        (b'{"default": {"min_score": 1e999}}', "$.default.min_score: is Infinity; it must be a number from 0 to 1"),
        (b'{"default": {"keep_messages": 1e999}}', "$.default.keep_messages: is Infinity; it must be a whole number, 0 or more"),
        (b"[" * 200_000, "$: cannot be read: it is nested too deeply"),
        (b'{"default": {}, "default": {}}', "$.default: is there twice; which one is meant?"),
        (b'{"sessions": {"s": {"start": "full", "start": "full"}}}', "$.sessions.s.start: is there twice; which one is meant?"),
    ],
)
def test_what_is_no_file_of_rules_is_refused(data: bytes, told: str) -> None:
    assert problems_in(data) == (told,)


def test_numbers_of_thousands_of_digits_are_refused() -> None:
    [problem] = problems_in(b'{"default": {"keep_messages": ' + b"9" * 5_000 + b"}}")
    assert problem.startswith("$: cannot be read: ")
    [problem] = problems_in(b'{"default": {"min_score": ' + b"9" * 4_000 + b"}}")
    assert problem == "$.default.min_score: is a very large number; it must be a number from 0 to 1"


def test_long_keys_and_values_are_not_told_whole() -> None:
    key = "k" * 100_000
    assert all(len(problem) < 500 for problem in problems_of({key: 1, "default": {key: 1, "start": key}, "sessions": {key: 1}}))


def test_a_byte_order_mark_is_no_problem() -> None:
    assert read_rules(b'\xef\xbb\xbf{"default": {"keep_messages": 9}}').rules_for("s").keep_messages == 9


# --- the schema ---------------------------------------------------------------------------------------------------------


def published() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files("contextport.strategies.modes") / "mode-rules.schema.json").read_text("utf-8"))
    return found


def test_published_schema_is_the_one_of_the_class() -> None:
    assert published() == rules_schema()
    jsonschema.Draft202012Validator.check_schema(published())


def test_settings_are_the_fields_of_the_rules() -> None:
    fields = attrs.fields_dict(ModeRules)
    assert list(SETTINGS) == list(fields)
    for name, one in fields.items():
        kind = {"share": (float,), "count": (int,), "choice": (Mode, Control)}[SETTINGS[name].kind]
        assert isinstance(one.default, kind), name
        assert SETTINGS[name].wrong(one.default) is None


_VALUES: tuple[Any, ...] = (
    *(0, 1, 8, 0.5, 8.0, 1.5, -1, -0.0, 10**20, 2.5, True, False, None, "", "full", "zero_shot", "hybrid", "manual", "automatic"),
    *("semi_automatic", "summary", "retrieval", "FULL", [], {}, ["full"]),
)


def random_rules(random: random.Random) -> Any:
    def layer() -> Any:
        names = [*SETTINGS, "keep", ""]
        return (
            {random.choice(names): random.choice(_VALUES) for _ in range(random.randrange(3))} if random.random() < 0.95 else []
        )

    value: dict[str, Any] = {}
    if random.random() < 0.7:
        value["default"] = layer()
    for kind in ("tenants", "sessions"):
        if random.random() < 0.5:
            value[kind] = {id: layer() for id in random.sample(["", "a", "b c", "ü"], random.randrange(3))}
    if random.random() < 0.05:
        value[random.choice(["Default", "$schema", "x"])] = random.choice(_VALUES)
    return value


def test_schema_and_reader_agree() -> None:
    validator = jsonschema.Draft202012Validator(published())
    chosen = random.Random(7)
    good = bad = 0
    for _ in range(3_000):
        value = random_rules(chosen)
        try:
            RulesBook.of(value)
            problems: list[str] = []
        except RulesInvalid as error:
            problems = [problem for problem in error.problems if "SUMMARY comes first" not in problem]
        valid = validator.is_valid(value)
        assert valid == (not problems), (value, problems)
        good, bad = good + valid, bad + (not valid)
    assert good > 300
    assert bad > 300


def test_each_setting_agrees_with_its_schema_on_every_value() -> None:
    validator = jsonschema.Draft202012Validator(published())
    for (name, setting), value in itertools.product(SETTINGS.items(), _VALUES):
        assert validator.is_valid({"default": {name: value}}) == (setting.wrong(value) is None), (name, value)
