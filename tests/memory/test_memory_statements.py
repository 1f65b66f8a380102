"""What users say of themselves, a piece for each thing, and what is no telling although it sounds like one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.conformance_tests.exact_counters import WordsCounter
from contextport.contracts import Entry, Message
from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import MemoryKind, MemoryScope
from contextport.strategies.memory_flush import flush_entries
from contextport.strategies.memory_kinds import about_of, kind_of
from contextport.strategies.memory_reader import MemoryReader
from contextport.strategies.memory_statements import handed_over, own_statements, parted, parts_of

ANN = MemoryScope(subject="ann")


def known(path: Path, sessions: Sequence[str], question: str) -> tuple[list[str], list[str]]:
    """What another session is shown early, without open tasks, and for the question; each text was a session of its own."""

    async def scenario() -> tuple[list[str], list[str]]:
        memory = SqliteLongTermMemory(path / "memory.db")
        for n, text in enumerate(sessions):
            said = [Message.user(text), Message.assistant("I see.")]
            entries = [
                Entry(seq=k, epoch=1, turn=1, at=100.0 * n + k, tokens=5, counter="words", message=message)
                for k, message in enumerate(said, 1)
            ]
            await flush_entries(memory, ANN, entries, session_id=f"s{n}")
        reading = await MemoryReader(memory, WordsCounter(), seconds=60).read(ANN, Message.user(question, id="q"))
        await memory.close()
        resident = reading.resident.text.split("\n")[1:] if reading.resident else []
        return [line for line in resident if not line.startswith("- open")], reading.recalled.text.split(
            "\n"
        ) if reading.recalled else []

    return asyncio.run(scenario())


def told(text: str) -> list[tuple[str, str]]:
    """The parts in which the user tells of themselves, with what each is about where there is one answer to it."""
    facts = list(own_statements(Message.user(text, id="m")))
    return [(fact.text, about_of(fact, ())) for fact in facts if about_of(fact, ()).startswith(("profile ", "preference "))]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Hi, I'm Lena Brandt, I live in Kiel.",
            [("Hi, I'm Lena Brandt", "profile name"), ("I live in Kiel.", "profile home")],
        ),
        (
            "My name is Ann and please always answer in German",
            [("My name is Ann", "profile name"), ("please always answer in German", "preference language of answers")],
        ),
        (
            "I'm Priya, a nurse from Pune.",
            [("I'm Priya", "profile name"), ("I'm a nurse", "profile work"), ("I'm from Pune.", "profile home")],
        ),
        (
            "My name is Bo, I live in Ghent, and I speak Dutch.",
            [("My name is Bo", "profile name"), ("I live in Ghent", "profile home"), ("I speak Dutch.", "profile languages")],
        ),
        ("I'm Sam who studied in Oslo.", []),
        ("I live in Kiel and work at Bosch.", [("I live in Kiel", "profile home"), ("I work at Bosch.", "profile work")]),
        (
            "I\u2019m Sam, and I work at Airbus; I speak Dutch.",
            [("I\u2019m Sam", "profile name"), ("I work at Airbus", "profile work"), ("I speak Dutch.", "profile languages")],
        ),
        ("你好\uff0c我叫李明\uff0c住在上海。", [("你好\uff0c我叫李明", "profile name"), ("我住在上海。", "profile home")]),
        ("我叫张伟\uff0c在腾讯上班。", [("我叫张伟", "profile name"), ("我在腾讯上班。", "profile work")]),
        ("我老婆叫王芳\uff0c是护士。", [("我老婆叫王芳\uff0c是护士。", "profile 老婆")]),
        ("I moved, I live in Hamburg now.", [("I moved, I live in Hamburg now.", "profile home")]),
        ("I used to live in Rome, now I live in Turin.", [("I used to live in Rome, now I live in Turin.", "profile home")]),
    ],
)
def test_a_sentence_is_cut_where_it_tells_of_another_thing(text: str, parts: list[tuple[str, str]]) -> None:
    assert told(text) == parts


@pytest.mark.parametrize(
    "text", ["I prefer tea, I think, and my sister does not.", "Never use tabs, and please add no tests.", "", "x"]
)
def test_what_settles_nothing_of_its_own_is_not_cut(text: str) -> None:
    assert parts_of(text) == (text,)


def test_each_part_is_of_the_kind_that_it_is_alone() -> None:
    fact = Fact(kind=FactKind.TASK, text="I live in Lyon, please book a hotel in Oslo.", sources=("a",))
    cut = [(one.kind, one.text, one.sources) for one in parted(fact)]
    assert cut == [
        (FactKind.STATEMENT, "I live in Lyon", ("a",)),
        (FactKind.TASK, "please book a hotel in Oslo.", ("a",)),
    ]
    for role in ("assistant", "tool"):
        other = Fact(kind=FactKind.CONCLUSION, text=fact.text, role=role)
        assert parted(other) == [other]


@pytest.mark.parametrize(
    ("sessions", "stays", "comes", "goes"),
    [
        (["Hi, I'm Lena Brandt, I live in Kiel.", "I moved, I live in Hamburg now."], "Lena Brandt", "Hamburg", "Kiel"),
        (["I work at Siemens and my wife is called Clara.", "I changed jobs, I'm at Bosch now."], "Clara", "Bosch", "Siemens"),
        (["I'm based in Lima and my dog is called Paco.", "We've moved to Cusco."], "Paco", "Cusco", "Lima"),
        (["My name is Mei and I'm a chef.", "I'm retired now."], "Mei", "retired", "chef"),
        (["Call me Kit, and please keep your answers brief.", "Please give me long answers."], "Kit", "long", "brief"),
        (["我叫李明\uff0c住在上海。", "我搬家了\uff0c现在住在杭州。"], "李明", "杭州", "上海"),
        (["我在小米上班\uff0c我家的猫叫奶茶。", "我现在在华为上班。"], "奶茶", "华为", "小米"),
        (["我是一名护士\uff0c我对青霉素过敏。", "我不当护士了\uff0c现在是一名老师。"], "青霉素", "老师", "一名护士"),
        (["我住在西安\uff0c我每次都想要素食。", "我搬去兰州了。"], "素食", "兰州", "西安"),
    ],
)
def test_a_change_takes_the_place_of_its_own_part_alone(
    tmp_path: Path, sessions: list[str], stays: str, comes: str, goes: str
) -> None:
    resident = "\n".join(known(tmp_path, sessions, "Hello!")[0])
    assert stays in resident
    assert comes in resident
    assert goes not in resident


@pytest.mark.parametrize(
    "text",
    [
        "I can't eat gluten.",
        "I\u2019m allergic to penicillin.",
        "I'm lactose intolerant.",
        "I have type 2 diabetes, so I watch my sugar.",
        "Nuts make me sick.",
        "I stopped eating meat two years ago.",
        "My son can't have eggs.",
        "I keep kosher.",
        "I have been vegan since 2019.",
        "I'm on a low-sodium diet.",
        "My dog's called Biscuit, he's a beagle.",
        "我一喝牛奶就拉肚子",
        "I was diagnosed with celiac disease last spring.",
        "I'm trying to avoid dairy because of my skin.",
        "我有高血压。",
        "我不能吃辣。",
        "我是素食主义者",
        "我从小就不吃香菜",
        "我儿子对海鲜过敏。",
        "我乳糖不耐受\uff0c喝牛奶会肚子疼。",
        "I have a dog named Bruno.",
        "We have two cats, Miso and Tofu.",
        "My daughter Emma just turned six.",
        "我的猫叫团子",
        "我养了一只金毛\uff0c叫豆豆。",
        "我们家有三口人。",
    ],
)
def test_health_and_household_are_shown_early(tmp_path: Path, text: str) -> None:
    assert [line.partition(": ")[2] for line in known(tmp_path, [text], "Hello!")[0]] == [text]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("My budget is 500 euros.", "What can I spend?"),
        ("I drive a 2014 Honda Civic.", "What car do I drive?"),
        ("I own a small sailing boat called Petrel.", "What is my boat called?"),
        ("My visa expires on 3 March 2027.", "When does my visa expire?"),
        ("I pay 900 a month in rent.", "How much rent do I pay?"),
        ("I'm getting married on 5 September.", "When am I getting married?"),
        ("My son Jonas plays the cello.", "Which instrument does my son play?"),
        ("我每月房租3500元。", "我的房租多少钱\uff1f"),
        ("我有一辆特斯拉Model 3。", "我开什么车\uff1f"),
        ("我妈妈的生日是9月12号。", "我妈妈生日是哪天\uff1f"),
        ("我妹妹在日本留学。", "我妹妹在哪里留学\uff1f"),
    ],
)
def test_things_money_and_days_come_back_when_they_are_asked_for(tmp_path: Path, text: str, question: str) -> None:
    resident, recalled = known(tmp_path, [text], question)
    assert resident == []
    assert [line for line in recalled if line.endswith(text)]
    assert known(tmp_path, [], "Explain tail recursion.") == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "Can I eat gluten if I have celiac disease?",
        "If I were allergic to nuts, what would I cook?",
        "My friend can't eat dairy.",
        "My neighbour has diabetes.",
        "In the story the hero says: I have a dog named Rex.",
        "She told me: I'm pregnant.",
        "Suppose I have a dog named Max, how much food does he need?",
        "I wish I had a cat.",
        "I have a question about Python.",
        "I have a cat command that prints nothing.",
        "I have three children nodes in my tree.",
        "We're single-threaded here.",
        "I might move to Berlin next year.",
        "I moved the file to src.",
        "I'm American.",
        "I'm Done.",
        "She has two daughters.",
        "I used to be a nurse.",
        "My sister said she is pregnant.",
        "我以前住在广州。",
        "我不在北京工作。",
        "I'm Python-curious.",
        "Same here!",
        "I can't drink and drive.",
        "I don't eat lunch today.",
        "Translate: I live in London.",
        "Translate this:\nI live in London.\nI'm allergic to nuts.",
        "Give me an example sentence with 'I live in Tokyo'.",
        "Please answer in English the questions about the contract.",
        "Answer in French for this one only.",
        "如果我对花生过敏怎么办",
        "我能吃芒果吗",
        "我朋友不能吃辣。",
        "她说她对牛奶过敏。",
        "小说里的主人公说他养了一只猫。",
        "我想养一只狗",
        "我要是住在海边就好了。",
        "我可能会搬到深圳。",
        "他叫王强\uff0c住在重庆。",
        "我叫了一份外卖。",
        "我不吃这一套。",
        "我是来问问题的。",
        "翻译一下\uff1a我住在伦敦。",
        "请把下面的话改得正式一点\uff1a我在医院工作\uff0c我叫李娜。",
        "请用中文回答关于猫的问题",
    ],
)
def test_what_only_sounds_like_a_telling_is_not_shown_early(tmp_path: Path, text: str) -> None:
    assert known(tmp_path, [text], "Hello!")[0] == []


def test_a_language_for_one_matter_does_not_take_the_place_of_that_for_all(tmp_path: Path) -> None:
    resident, _ = known(tmp_path, ["请用英文回答。", "请用中文回答关于猫的问题"], "Hello!")
    assert resident == ["- preference: 请用英文回答。"]
    for_contracts = "Please always answer questions about contracts in German."
    resident, _ = known(tmp_path, [for_contracts], "Hello!")
    assert sorted(resident) == [f"- preference: {for_contracts}", "- preference: 请用英文回答。"]


def test_what_is_handed_over_begins_with_the_request() -> None:
    text = "I'm Ann.\nPlease translate this:\nI live in London."
    assert handed_over(Message.user(text)) == "Please translate this:\nI live in London."
    assert told(text) == [("I'm Ann.", "profile name")]
    assert handed_over(Message.user("I'm Ann.")) == ""
    assert handed_over(Message.assistant(text)) == ""
    assert handed_over(Message.user(text + "x" * 2_000)) == ""


def test_a_rule_of_the_user_below_a_request_still_holds(tmp_path: Path) -> None:
    resident, _ = known(tmp_path, ["Write commit messages like this: short. Never use the past tense."], "Hello!")
    assert resident == ["- preference: Never use the past tense."]


def test_a_telling_in_the_words_of_a_decision_is_a_telling() -> None:
    assert kind_of(Fact(kind=FactKind.DECISION, text="我从小就不吃香菜")) is MemoryKind.FACT
    [fact] = own_statements(Message.user("我从小就不吃香菜", id="a"))
    assert kind_of(fact) is MemoryKind.PREFERENCE
