"""A summary may say an amount of its source with its unit or without, and not with another unit."""

from __future__ import annotations

import pytest

from contextport.conformance_tests.exact_counters import WordsCounter
from contextport.contracts import Message, Summary, SummaryRequest
from contextport.strategies.summaries import faults_of
from contextport.strategies.summaries.value_units import ValueUnits, other_units

SOURCE = ValueUnits.of_texts(
    [
        "The flat has 290 square meters, the deposit is $1,200 or 1.5万元, she takes 40 mg for 10 days, twelve of 36.",
        "A trip of 7-days, 20% off, 8 kg or 8 boxes.",
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "290",
            "290 square meters",
            "290 m2",
            "1200",
            "1,200 dollars",
            "US$1,200",
            "15000元",
            "40 milligrams",
            "40毫克",
            "10天",
            "20 percent",
        ),
        *("36 kg", "8 liters", "7 nights", "99 euros", "10 business days"),
    ],
)
def test_the_same_unit_none_or_one_that_is_not_known(text: str) -> None:
    assert list(other_units(f"It is {text} now.", SOURCE)) == []


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        *(("1,200 euros", "1200", "€"), ("€1,200", "1200", "€"), ("40 grams", "40", "g"), ("10 weeks", "10", "week")),
        *(("10小时", "10", "hour"), ("15000美元", "15000", "$"), ("7 hours", "7", "hour"), ("20 km", "20", "km")),
    ],
)
def test_another_unit(text: str, number: str, unit: str) -> None:
    assert list(other_units(f"It is {text} now.", SOURCE)) == [(number, unit)]


def test_it_is_a_fault_of_a_summary() -> None:
    padding = Message.assistant("We talked for a long while about the weather in the mountains and the food on the train back.")
    asked = SummaryRequest(
        messages=(Message.user("The deposit for the flat came to 1200 euros."), padding, padding), max_tokens=60
    )
    assert faults_of(Summary(text="The deposit was 1200 euros."), asked, WordsCounter()) == ()
    assert faults_of(Summary(text="The deposit was 1200 dollars."), asked, WordsCounter()) == ("other_unit: 1200 in $",)
