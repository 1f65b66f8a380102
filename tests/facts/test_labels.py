"""What values are of: the words next to them, the order they belong to, their role; and names without what is none."""

from __future__ import annotations

import pytest

from contextport.contracts.facts import Fact, FactKind, FactLedger
from contextport.contracts.messages import Message
from contextport.strategies.facts import extract_facts, merged

VALUES = (FactKind.IDENTIFIER, FactKind.NUMBER, FactKind.DATE, FactKind.PATH)
ORDER = "The opening order is PO-48213-B: 24 standing desks at 467.20 EUR each, delivery by 2027-03-14."


def told(*texts: str) -> list[Fact]:
    """Facts of a user and an assistant in turn, the user first."""
    said = [Message.user(text, id=f"m{n}") if n % 2 == 0 else Message.assistant(text, id=f"m{n}") for n, text in enumerate(texts)]
    return list(merged(FactLedger(), extract_facts(said)).facts)


def values(*texts: str) -> list[tuple[str, str]]:
    return [(fact.label, fact.text) for fact in told(*texts) if fact.kind in VALUES]


@pytest.mark.parametrize(
    ("text", "labelled"),
    [
        (
            ORDER,
            [
                ("opening order …", "PO-48213-B"),
                ("PO-48213-B …", "24 standing desks"),
                ("PO-48213-B desks …", "467.20 EUR"),
                ("PO-48213-B delivery date", "2027-03-14"),
            ],
        ),
        ("OK, order 8 monitor arms for Lyon.", [("order …", "8 monitor arms")]),
        ("The freight elevator code at the site is 5590#.", [("freight elevator code …", "5590#")]),
        ("The code of the greenhouse gate is KX-4471-Q.", [("code greenhouse gate …", "KX-4471-Q")]),
        ("货梯密码是5590#。", [("货梯密码 …", "5590#")]),
        (
            "首单是PO-48213-B:每张467元,交货日期2027-03-14。",
            [("首单 …", "PO-48213-B"), ("PO-48213-B 每张 …", "467元"), ("PO-48213-B 交货日期", "2027-03-14")],
        ),
        ("It failed at 2027-02-11T10:06:11Z again.", [("failed …", "2027-02-11T10:06:11Z")]),
    ],
)
def test_values_have_what_they_are_of(text: str, labelled: list[tuple[str, str]]) -> None:
    assert values(text) == labelled


@pytest.mark.parametrize(
    ("first", "then", "label", "old", "new"),
    [
        (
            ORDER,
            "The delivery of PO-48213-B moves to 2027-03-21 because the floor isn't ready.",
            "PO-48213-B delivery date",
            "2027-03-14",
            "2027-03-21",
        ),
        (
            "首单PO-48213-B,交货日期2027-03-14。",
            "PO-48213-B的交货推迟到2027-03-21。",
            "PO-48213-B 交货日期",
            "2027-03-14",
            "2027-03-21",
        ),
        (
            "The delivery is on 5 March this year.",
            "The delivery moves to 12 March this year.",
            "delivery date",
            "5 March",
            "12 March",
        ),
        ("交货日期是3月14日。", "交货改到3月21日。", "交货日期", "3月14日", "3月21日"),
    ],
)
def test_a_date_that_is_moved_takes_the_place_of_the_earlier_one(first: str, then: str, label: str, old: str, new: str) -> None:
    (date,) = [fact for fact in told(first, "OK.", then, "OK.") if fact.kind is FactKind.DATE]
    assert (date.label, date.text, date.earlier, date.sources) == (label, new, (old,), ("m0", "m2"))


def test_dates_of_two_orders_stay_apart() -> None:
    facts = told("PO-1 has its delivery on 2027-03-14.", "PO-2 has its delivery on 2027-03-21.")
    assert [(fact.label, fact.text, fact.earlier) for fact in facts if fact.kind is FactKind.DATE] == [
        ("PO-1 delivery date", "2027-03-14", ()),
        ("PO-2 delivery date", "2027-03-21", ()),
    ]


def test_the_same_day_without_its_year_changes_nothing() -> None:
    (date,) = [fact for fact in told(ORDER, "PO-48213-B arrives on 14 March at the dock.") if fact.kind is FactKind.DATE]
    assert (date.text, date.earlier, date.sources) == ("2027-03-14", (), ("m0", "m1"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Booked PO-48213-B for you.", []),
        ("Welcome Dana! Happy to help.", ["Dana"]),
        ("It costs 467 EUR or 500 USD.", []),
        ("Call Priya Raman. Ask Helena Vogt.", ["Priya Raman", "Helena Vogt"]),
        ("Welcome Dana Keller to Brightwater Logistics.", ["Dana Keller", "Brightwater Logistics"]),
    ],
)
def test_verbs_greetings_and_currencies_are_no_names(text: str, names: list[str]) -> None:
    assert [fact.text for fact in told(text) if fact.kind is FactKind.ENTITY] == names
