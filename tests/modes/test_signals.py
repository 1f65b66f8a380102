"""Signals: what people say in several languages, and what only looks like it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contextport.contracts.errors import InvalidArgument
from contextport.contracts.messages import Media, Message, Text
from contextport.contracts.modes import ModeSignal, SensedTurn
from contextport.strategies.modes import AsksAboutEarlyDetails, BeginsNewTask, NeedsKnowledge

from .turns import TURNS, turn

ROOT = Path(__file__).resolve().parents[2]
COUNTS = 0.5  # what a signal counts from, by default


def cases(name: str) -> list[object]:
    texts = [(language, text) for language, texts in TURNS[name].items() for text in texts]
    return [pytest.param(text, id=f"{language}{n}") for n, (language, text) in enumerate(texts)]


@pytest.mark.parametrize("text", cases("new_task"))
def test_new_task_is_sensed(text: str) -> None:
    assert BeginsNewTask().sense(turn(text)).score >= COUNTS


@pytest.mark.parametrize("text", cases("no_new_task"))
def test_look_alike_of_a_new_task_is_not(text: str) -> None:
    assert BeginsNewTask().sense(turn(text, "Hello", "Hi, what can I do?")).score < COUNTS


@pytest.mark.parametrize("text", cases("reaching_back"))
def test_question_about_what_was_said_is_sensed(text: str) -> None:
    assert AsksAboutEarlyDetails().sense(turn(text)).score >= COUNTS


@pytest.mark.parametrize("text", cases("not_reaching_back"))
def test_question_about_something_else_is_not(text: str) -> None:
    assert AsksAboutEarlyDetails().sense(turn(text)).score < COUNTS


@pytest.mark.parametrize("text", cases("knowledge"))
def test_question_about_texts_of_the_host_is_sensed(text: str) -> None:
    assert NeedsKnowledge().sense(turn(text)).score >= COUNTS


@pytest.mark.parametrize("text", cases("no_knowledge"))
def test_what_needs_no_knowledge_is_not(text: str) -> None:
    assert NeedsKnowledge().sense(turn(text)).score < COUNTS


# --- other evidence -----------------------------------------------------------------------------------------------------


def asked(text: str, **more: object) -> SensedTurn:
    return SensedTurn(question=Message.user(text), **more)  # type: ignore[arg-type]


def test_fact_of_the_ledger_is_enough() -> None:
    sensed = AsksAboutEarlyDetails().sense(asked("And the number?", known_facts=1))
    assert (sensed.score >= COUNTS, sensed.reason) == (True, "ledger")


@pytest.mark.parametrize(
    ("text", "found", "counts"),
    [
        ("Which colour was the car?", (0.9, 0.4, 0.3), True),
        ("Which colour was the car?", (0.9, 0.85, 0.8), False),
        ("Which colour was the car?", (0.9,), False),
        ("Which colour was the car?", (), False),
        ("Which colour was the car?", (0.0, 0.0), False),
        ("Which colour was the car?", None, False),
        ("Paint the car.", (0.9, 0.4, 0.3), False),
        ("Paint the car like last week.", (0.9, 0.4, 0.3), True),
    ],
)
def test_one_place_that_stands_out_counts_for_a_question(text: str, found: tuple[float, ...] | None, counts: bool) -> None:
    assert (AsksAboutEarlyDetails().sense(asked(text, found=found)).score >= COUNTS) is counts


def test_margin_may_be_set() -> None:
    found = (0.9, 0.7)
    assert AsksAboutEarlyDetails(margin=0.2).sense(asked("Which?", found=found)).score >= COUNTS
    assert AsksAboutEarlyDetails(margin=0.3).sense(asked("Which?", found=found)).score < COUNTS
    with pytest.raises(InvalidArgument, match="margin is 2"):
        AsksAboutEarlyDetails(margin=2)


DOCUMENT = Media(media="document", file_id="f1", mime="application/pdf")


def test_hints_reset_only_all_together() -> None:
    before = [Message.user("Where do whales sleep?"), Message.assistant("Near the surface.")]
    words = "Another question. Which mortgage interest rates apply to farm buildings nowadays?"
    everything = SensedTurn(question=Message(role="user", parts=(Text(words), DOCUMENT)), before=before, seconds_since=90_000.0)
    sensed = BeginsNewTask().sense(everything)
    assert sensed.score >= COUNTS
    assert sensed.reason == "another+document+pause+words"
    for fewer in (
        SensedTurn(question=Message.user(words), before=before, seconds_since=90_000.0),
        SensedTurn(question=Message(role="user", parts=(Text("Summarise."), DOCUMENT)), before=before, seconds_since=90_000.0),
        SensedTurn(question=Message(role="user", parts=(Text(words), DOCUMENT)), seconds_since=60.0),
        SensedTurn(question=Message.user("Which mortgage rates apply to farm buildings?"), before=before),
    ):
        assert BeginsNewTask().sense(fewer).score < COUNTS


def test_words_that_were_said_lately_are_no_question_for_a_library() -> None:
    before = ("The X200 has a red casing and a steel lid.", "Noted.")
    assert NeedsKnowledge().sense(turn("Which colour has the casing of the X200?", *before)).score < COUNTS
    assert NeedsKnowledge().sense(turn("Which colour has the casing of the X200?")).score >= COUNTS


# --- what all have in common --------------------------------------------------------------------------------------------

SIGNALS: tuple[ModeSignal, ...] = (AsksAboutEarlyDetails(), BeginsNewTask(), NeedsKnowledge())
HARD = (
    "",
    "\ud800\u0000",
    "?" * 100_000,
    "new task " * 50_000,
    "a" * 400_000,
    "换" * 200_000,
    "ok " * 100_000,
    " \n\t" * 100_000,
)


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda one: type(one).__name__)
def test_long_and_strange_messages_are_read(signal: ModeSignal) -> None:
    for text in HARD:
        assert 0 <= signal.sense(turn(text, *HARD)).score <= 1


def test_scores_do_not_depend_on_the_order_of_sets() -> None:
    code = """
from contextport.strategies.modes import *
from tests.modes.turns import *
texts = [text for languages in TURNS.values() for texts in languages.values() for text in texts]
for signal in (AsksAboutEarlyDetails(), BeginsNewTask(), NeedsKnowledge()):
    print([signal.sense(turn(text, "The offer of Friday", "Noted, 12 chairs")) for text in texts])
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}, cwd=ROOT
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
