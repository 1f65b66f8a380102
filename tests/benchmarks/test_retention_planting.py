"""What the retention benchmark plants stands where it says, and is judged by the rule it states."""

# ruff: noqa: RUF001 - Chinese punctuation is the point

import json
import re
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import retention_chinese
import retention_english
from retention_judge import is_there, normalised
from retention_planting import EXACT, KINDS, Conversation, Plant, planted
from retention_schedule import FOLDS, count, folding_of
from retention_values import FORMS
from workload import Chat, chats

LANGUAGES = {"english": retention_english, "chinese": retention_chinese}
PER_KIND = 9


def given() -> list[Chat]:
    """A conversation with tools, its contents texts."""
    return [chat | {"content": chat["content"] or ""} for chat in chats(120)]


def conversation(seed: int, language: str = "english") -> Conversation:
    return planted(given(), Random(seed), name="workload", language=language, people=False, per_kind=PER_KIND)


def plant(text: str, *keys: str, kind: str = "") -> Plant:
    kind = kind or ("decision" if keys else "number")
    return Plant(kind=kind, text=text, keys=keys, wording="", held=False, message=0, start=0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_same_seed_makes_the_same_conversation(language: str) -> None:
    assert conversation(3, language) == conversation(3, language)
    assert conversation(3, language) != conversation(4, language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("seed", range(5))
def test_each_item_stands_verbatim_where_it_says_and_nowhere_else(seed: int, language: str) -> None:
    made = conversation(seed, language)
    texts = [chat["content"] for chat in made.chats]
    for item in made.plants:
        assert texts[item.message][item.start :].startswith(item.text)
        assert sum(text.count(item.text) for text in texts) == 1
        assert is_there(item, [normalised(texts[item.message])])


@pytest.mark.parametrize("language", LANGUAGES)
def test_as_many_of_each_kind_as_asked_for(language: str) -> None:
    made = conversation(1, language)
    assert Counter(item.kind for item in made.plants) == dict.fromkeys(KINDS, PER_KIND)
    held = Counter(item.kind for item in made.plants if item.held)
    assert held["decision"] == held["constraint"] == PER_KIND // 3
    assert [item.message for item in made.plants] == sorted(item.message for item in made.plants)


def test_what_was_said_stays_and_calls_keep_their_results() -> None:
    made = conversation(2)
    rest = iter(made.chats)
    for chat in given():
        assert any(chat["role"] == later["role"] and later["content"].startswith(chat["content"].rstrip("}")) for later in rest)
    for before, after in zip(made.chats, made.chats[1:], strict=False):
        if before.get("tool_calls"):
            assert after["role"] == "tool"
        if after["role"] == "tool":
            json.loads(after["content"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_wordings_name_known_forms_and_held_ones_are_others(language: str) -> None:
    module = LANGUAGES[language]
    topics = set(FORMS["topic"])
    for wordings in (module.USED, module.HELD):
        assert set(wordings) == set(KINDS)
        for kind, texts in wordings.items():
            assert len(set(texts)) == len(texts)
            for text in texts:
                slots = re.findall(r"\{(\w+)\}", text)
                items = [slot for slot in slots if slot not in topics]
                assert len(items) == (1 if kind in EXACT else 0)
                assert all(slot in FORMS[kind] for slot in items)
                assert (kind in EXACT) == (len(re.findall(r"\[[^\]]+\]", text)) < 2)
    assert not {text for texts in module.USED.values() for text in texts} & {t for texts in module.HELD.values() for t in texts}


def test_a_conversation_with_nothing_new_to_say_is_refused() -> None:
    with pytest.raises(ValueError, match="decision"):
        planted(given(), Random(1), name="", language="english", people=False, per_kind=60)


@pytest.mark.parametrize(
    ("item", "text", "expected"),
    [
        (plant("$1,200"), "it was $1200.", True),
        (plant("$1,200"), "it was $12,001", False),
        (plant("12 ms"), "took 212 ms", False),
        (plant("12 ms"), "took 12  MS", True),
        (plant("3.5％"), "占3.5%左右", True),
        (plant("3月14号"), "定在3月14号开会", True),
        (plant("3月14号"), "定在13月14号开会", False),
        (plant("v1.2.3"), "v1.2.34", False),
        (plant("We keep the red sofa.", "keep", "red", "sofa"), "they are keeping that red sofa", True),
        (plant("We keep the red sofa.", "keep", "red", "sofa"), "keep the sofa", False),
        (plant("We keep the red sofa.", "keep", "red", "sofa"), "keep it. " + "x " * 60 + "red sofa", False),
        (plant("No go.", "no", "go"), "noted, going", False),
        (plant("不要订转机的票。", "不要", "转机"), "机票：转机的不要", True),
    ],
)
def test_rule_of_judging(item: Plant, text: str, expected: bool) -> None:
    assert is_there(item, [normalised(text)]) is expected


def test_ten_folds_and_the_last_at_the_end() -> None:
    made = conversation(1)
    folding = folding_of(made)
    sizes = [count(chat) for chat in made.chats]
    assert len(folding.places) == FOLDS
    assert folding.places[-1] == len(made.chats)
    assert list(folding.places) == sorted(folding.places)
    assert folding.budget == sum(sizes) // 4
    assert sum(sizes[: folding.places[0]]) >= 0.85 * folding.budget > sum(sizes[: folding.places[0] - 2])
    assert not any(made.chats[place - 1].get("tool_calls") for place in folding.places[:-1])
