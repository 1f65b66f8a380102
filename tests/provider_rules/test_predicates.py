"""Each rule reports a window that breaks it, its repair gives the right one, and the test of it can fail."""

from __future__ import annotations

import attrs
import pytest

from contextport.contracts import InvalidMessage
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.provider_rules import CHECKS, PROFILES, check, repair, repairs

from .case_form import Case, shape
from .predicate_cases import CASES


def profile_of(case: Case) -> ProviderProfile:
    return attrs.evolve(PROFILES[case.profile], **case.on)


def name_of(case: Case) -> str:
    return f"{case.rule}-{case.profile}"


def test_every_rule_has_a_case() -> None:
    assert sorted({case.rule for case in CASES}) == [f"V{n:02}" for n in range(1, 37)] == list(CHECKS)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_violation_is_reported(case: Case) -> None:
    found = [one for one in check(case.messages, profile_of(case), **case.facts) if one.rule == case.rule]
    assert found
    for one in found:
        assert one.detail
        assert one.index < 0 or case.messages[one.index].id == one.message_id
        assert one.part < 0 or one.part < len(case.messages[one.index].parts)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_repair_gives_the_right_window(case: Case) -> None:
    profile = profile_of(case)
    repaired = repair(case.messages, profile, **case.facts)
    assert shape(repaired.messages) == case.repaired
    left = check(repaired.messages, profile, **case.facts)
    if case.needs:
        assert set(case.needs) <= set(repaired.needs)
        assert {one.rule for one in left} == {case.rule}
        assert repaired.messages == case.messages
    else:
        assert left == ()
        assert case.rule in {one.rule for one in repaired.repairs}


@pytest.mark.parametrize("case", [case for case in CASES if case.off is not None], ids=name_of)
def test_a_profile_without_the_rule_does_not_report_it(case: Case) -> None:
    profile = attrs.evolve(profile_of(case), **(case.off or {}))
    assert case.rule not in {one.rule for one in check(case.messages, profile, **case.facts)}


@pytest.mark.parametrize("case", [case for case in CASES if not case.needs], ids=name_of)
def test_a_repair_that_does_nothing_would_be_caught(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    others = [(rules, mend) for rules, mend in repairs.REPAIRS if case.rule not in rules]
    monkeypatch.setattr(repairs, "REPAIRS", tuple(others))
    profile = profile_of(case)
    repaired = repair(case.messages, profile, **case.facts)
    assert shape(repaired.messages) != case.repaired


def test_rules_that_exclude_each_other_raise_an_error_that_names_them() -> None:
    impossible = attrs.evolve(PROFILES["mistral"], id_pattern="[A-Z]{9}")  # repairs make ids of hex digits
    window = next(case.messages for case in CASES if case.rule == "V08")
    with pytest.raises(InvalidMessage, match=r"3 messages cannot be made valid for mistral: V08 still broken"):
        repair(window, impossible)
