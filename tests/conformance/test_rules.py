"""Every rule of a port has a test, every test a rule, every rule a broken adapter, and the page tells of all."""

import re
from collections import Counter
from pathlib import Path

import pytest

from contextport.conformance_tests.broken import BROKEN
from contextport.conformance_tests.rules import Rule, rules_of, sentences
from contextport.conformance_tests.rules_page import rules_page
from contextport.conformance_tests.suites import SUITES

ROOT = Path(__file__).resolve().parents[2]
RULES = [rule for suite in SUITES for rule in suite.rules]
_PREFIXES = (
    "STORE|COUNTER|STRATEGY|MANAGER|SINK|LIMITS|CODEC|MODEL|CLASSIFIER|SUMMARIZER|MEMORY"
    "|EMBEDDER|INDEX|LEXICAL|VECTORS|RETRIEVER|HISTORY|MODE|SIGNAL"
)
RULE_ID = re.compile(rf"\b(?:{_PREFIXES})-\d+\b")


def ids_opening_a_line() -> set[str]:
    """Rule ids at the beginning of a line of the contracts: where a docstring states a rule."""
    sources = [path.read_text("utf-8") for path in (ROOT / "contracts").glob("*.py")]
    lines = [line.strip() for source in sources for line in source.splitlines()]
    return {found[0] for line in lines if (found := RULE_ID.match(line))}


def test_docstrings_and_tests_name_the_same_rules() -> None:
    stated = ids_opening_a_line()
    assert len(stated) >= 156
    assert {rule.id for rule in RULES} == stated


def test_no_id_is_used_twice() -> None:
    assert [id for id, count in Counter(rule.id for rule in RULES).items() if count > 1] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_knows_its_sentence_and_where_to_look(rule: Rule) -> None:
    assert rule.sentence.endswith(".")
    assert rule.cause.endswith(".")
    assert rule.explanation(AssertionError()) == f"{rule.id}: {rule.sentence}\nLikely cause: {rule.cause}"


def test_every_rule_has_a_killer() -> None:
    assert [rule.id for rule in RULES if not any(rule.id in one.must_fail for one in BROKEN)] == []


def test_there_are_enough_broken_adapters_and_each_breaks_something() -> None:
    known = {rule.id for rule in RULES}
    assert len(BROKEN) >= 60
    assert len({one.name for one in BROKEN}) == len(BROKEN)
    assert [one.name for one in BROKEN if not one.must_fail or not one.must_fail <= known] == []


def test_sentence_of_several_lines_is_read_whole() -> None:
    class Plain:
        """A port.

        Obligations
            ONE-1  It begins here
                   and ends here.
            ONE-2  Another.

        Latitude: none of ONE-3 is a rule.
        """

    assert sentences(Plain) == {"ONE-1": "It begins here and ends here.", "ONE-2": "Another."}


def test_rules_come_by_number() -> None:
    numbers = [int(rule.id.rpartition("-")[2]) for rule in rules_of(SUITES[0].port)]
    assert numbers == sorted(numbers)


def test_page_of_rules_is_up_to_date() -> None:
    written = (ROOT / "docs" / "rules.md").read_text("utf-8")
    assert written == rules_page(), "run: python -m contextport.conformance_tests --rules > docs/rules.md"
