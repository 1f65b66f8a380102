"""What a sentence is for a later conversation, and what it is about, in several languages."""

from __future__ import annotations

import pytest

from contextport.contracts import Message
from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import MemoryKind, MemoryOrigin, normal_form
from contextport.strategies.memory_kinds import about_of, is_lasting, kind_of, origin_of
from contextport.strategies.memory_statements import own_statements


def kinds(text: str) -> list[tuple[str, str]]:
    """The kinds of the sentences in which the user tells of themselves, and what they are about."""
    return [(str(kind_of(fact)), about_of(fact, ())) for fact in own_statements(Message.user(text, id="m"))]


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("My name is Ann.", "profile name"),
        ("Please call me Ann.", "profile name"),
        ("我叫李雷。", "profile name"),
        ("Ich heiße Karl.", "profile name"),
        ("Je m'appelle Luc.", "profile name"),
        ("Me llamo Ana.", "profile name"),
        ("меня зовут Иван", "profile name"),
        ("私の名前は田中です", "profile name"),
        ("I live in Lyon.", "profile home"),
        ("I'm based in Oslo now.", "profile home"),
        ("我现在住在北京", "profile home"),
        ("I am a senior software engineer.", "profile work"),
        ("我是一名程序员", "profile work"),
        ("My birthday is 3 May.", "profile age"),
        ("My e-mail address is ann@example.org", "profile e-mail"),
        ("My wife is called Eva.", "profile wife"),
        ("Please answer in English.", "preference language of answers"),
        ("Please always answer in German.", "preference language of answers"),
        ("请始终用中文回答。", "preference language of answers"),
        ("Bitte antworte immer auf Deutsch.", "preference language of answers"),
        ("Réponds toujours en français.", "preference language of answers"),
        ("Keep your answers short.", "preference length of answers"),
        ("回答请尽量简短", "preference length of answers"),
        ("My favourite colour is blue.", "preference favourite colour"),
        ("我最喜欢的颜色是蓝色", "preference favourite 颜色"),
    ],
)
def test_what_there_is_one_answer_to_at_a_time(text: str, about: str) -> None:
    assert kinds(text) == [(about.partition(" ")[0], about)]


@pytest.mark.parametrize(
    "text",
    [
        "I prefer tea over coffee.",
        "I don't eat meat.",
        "I am allergic to nuts.",
        "From now on use metres.",
        "我喜欢喝茶",
        "我对花生过敏",
        "以后请不要用表情符号",
        "Ich mag keinen Kaffee.",
        "Je préfère le train.",
        "Me gustan los gatos.",
        "いつも敬語で話してください",
        "항상 존댓말로 답해 주세요",
    ],
)
def test_preferences_are_about_their_own_words(text: str) -> None:
    assert kinds(text) == [("preference", normal_form(text))]


@pytest.mark.parametrize(
    "text",
    [
        "What is my name?",
        "Do I live in Lyon?",
        "He never came back.",
        "I like it.",
        "Call me back at six.",
        "The garage goes to my brother.",
        "```\nmy name is code\n```",
        "They live in Lyon, he is an engineer.",
        "他叫李雷\uff0c你叫什么",
        "Es regnet immer.",
        "Novels always give me a lot of ideas.",
        "I always feel nervous.",
        "You always help me, and I hope we can chat in the future.",
        "和你聊天总是让我收获很多。",
        "我的上司总是要求我加班",
        "如果你喜欢可以去看一下",
        "最近我在思考要不要换一份工作",
        "",
    ],
)
def test_what_tells_nothing_of_the_user(text: str) -> None:
    assert kinds(text) == []


def test_pasted_text_and_other_roles_tell_nothing_of_the_user() -> None:
    assert kinds("My name is Ann. " + "x" * 2_000) == []
    assert not list(own_statements(Message.assistant("My name is Bot. I prefer tea.", id="m")))
    for role in ("assistant", "tool", "system"):
        assert kind_of(Fact(kind=FactKind.CONSTRAINT, text="Always obey. My name is Eve.", role=role)) is MemoryKind.FACT


def test_kinds_of_facts() -> None:
    assert kind_of(Fact(kind=FactKind.CONSTRAINT, text="Never touch main.py.")) is MemoryKind.PREFERENCE
    assert kind_of(Fact(kind=FactKind.CONSTRAINT, text="The price must be below 10 EUR.")) is MemoryKind.FACT
    assert kind_of(Fact(kind=FactKind.DECISION, text="We always go with plan B.")) is MemoryKind.FACT
    assert kind_of(Fact(kind=FactKind.TASK, text="Please book a hotel, I live in Lyon.")) is MemoryKind.TASK
    assert kind_of(Fact(kind=FactKind.ENTITY, text="Ann")) is MemoryKind.FACT


def test_origins() -> None:
    wanted = {"user": "user", "assistant": "assistant", "tool": "tool", "developer": "host", "system": "host"}
    assert {role: origin_of(Fact(kind=FactKind.DECISION, text="x", role=role)) for role in wanted} == wanted
    assert origin_of(Fact(kind=FactKind.DECISION, text="x", role="")) is MemoryOrigin.HOST


def test_a_sentence_that_tells_two_things_in_one_breath_takes_the_place_of_neither() -> None:
    assert kinds("My name is Ann Lee who I live in Lyon with.") == [("profile", "my name is ann lee who i live in lyon with")]


def test_a_named_number_is_about_the_rest_of_its_sentence() -> None:
    def about(text: str, value: str) -> str:
        beside = [Fact(kind=FactKind.NUMBER, text=value, label="budget")]
        return about_of(Fact(kind=FactKind.CONSTRAINT, text=text), beside)

    trip = about("Our trip budget is 5000 EUR.", "5000 EUR")
    assert about("The trip budget is now 6000 USD!", "6000 USD") == trip
    assert about("The laptop budget is 5000 EUR.", "5000 EUR") != trip


def test_names_are_about_themselves_below_their_label() -> None:
    same = Fact(kind=FactKind.PATH, text="src/App.py", label="edit …")
    assert about_of(same, ()) == about_of(same, ()) != about_of(Fact(kind=FactKind.PATH, text="src/app.py", label="edit …"), ())


def test_requests_for_later_last() -> None:
    for text in ("Remind me to call Bob.", "I have to pay the rent.", "记得给妈妈打电话", "Erinnere mich daran"):
        assert is_lasting(text), text
    assert not is_lasting("Please translate this.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Lyon.", "i live  in LYON!"),
        ("请始终用中文回答。", "请始终用中文回答"),
        ("\uff21nn says \u201cyes\u201d", 'ann says "yes"'),
        ("Well, yes: it is", "well yes it is"),
    ],
)
def test_normal_forms_of_what_says_the_same(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(("one", "other"), [("C++", "C"), ("3.14", "314"), ("a.b", "ab"), ("-5", "5"), ("?!", "..."), ("", "x")])
def test_normal_forms_of_what_does_not(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)
