"""The rules of `LexicalIndex`."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from contextport.contracts.errors import IndexUnavailable
from contextport.contracts.retrieval import IndexedText, LexicalIndex, Matches

from .rules import rule, settled
from .store_inputs import HARD_TEXTS, at_once, at_once_in_threads, cancelled_at

if TYPE_CHECKING:
    from .lexical_suite import LexicalIndexConformance as Suite

__all__: list[str] = []

_WRITERS = 6
_CALLS = 5
_MOST_WAITS = 60  # awaits of one call; an index that waits more often is cancelled at the first 60


def _texts(*texts: str, first: int = 0) -> list[IndexedText]:
    return [IndexedText(id=first + n, text=text) for n, text in enumerate(texts)]


def _word(n: int) -> str:
    """A word of its own for a number, without an ending and with nothing in common with others."""
    return "q" + "".join(["bcdfghjklm"[int(digit)] for digit in str(n)]) + "x"


def _ids(found: Matches) -> list[int]:
    """The texts that were found, by any term; checks that they are told in both places."""
    matched = {id for posting in found.postings.values() for id in posting}
    assert set(found.lengths) == matched, f"lengths are of texts {sorted(found.lengths)}, postings of {sorted(matched)}"
    return sorted(matched)


async def _check(index: LexicalIndex, space: str, wanted: Mapping[str, Iterable[int]]) -> None:
    """Questions find just the texts that they should."""
    for question, ids in wanted.items():
        found = _ids(await index.matches(space, question))
        assert found == sorted(ids), f"{question!r:.60} finds texts {found!r:.200}, not {sorted(ids)!r:.200}"


def _terms_in(found: Matches, id: int) -> int:
    return sum(id in posting for posting in found.postings.values())


@rule("LEXICAL-1", LexicalIndex, cause="the matches are cut at a number, or lengths and counts are of something else.")
async def matches_are_all_and_counted(suite: Suite) -> None:
    async with suite.adapter() as index:
        texts = _texts("zebra lion", "zebra zebra lion zebra", "lion tiger", "zebra", "tiger tiger lion panda camel rhino otter")
        await index.add("s", texts)
        found = await index.matches("s", "zebra")
        counts = [dict(posting) for posting in found.postings.values() if posting]
        assert counts, "a word of three texts is in no posting"
        assert all(one == {0: 1, 1: 3, 3: 1} for one in counts), (
            f"'zebra' stands once, three times and once in texts 0, 1 and 3; the postings say {counts}"
        )
        await _check(index, "s", {"tiger": [2, 4], "zebra tiger": [0, 1, 2, 3, 4], "walrus": [], "walrus panda": [4]})
        twice = await index.matches("s", "zebra zebra")
        assert twice == found, f"a word that is asked twice gives {twice}, asked once {found}"
        _check_counts(await index.matches("s", "zebra lion tiger"), 5)
        lengths = (await index.matches("s", "lion zebra")).lengths
        assert lengths[3] < lengths[0] < lengths[1] < lengths[4], f"texts of 1, 2, 4 and 7 words have the lengths {lengths}"
        many = _texts(*(f"giraffe {_word(n)}" for n in range(1_500)), first=100)
        await index.add("s", many)
        await _check(index, "s", {"giraffe": [one.id for one in many], _word(1_499): [1_599]})
        _check_counts(await index.matches("s", "zebra lion tiger giraffe"), 1_505)


def _check_counts(found: Matches, texts: int) -> None:
    """Of a question that has a word of every text: the counts are those of the texts."""
    assert len(found.lengths) == texts, f"{len(found.lengths)} of {texts} texts were found"
    assert found.texts == texts, f"the space has {texts} texts, the answer says {found.texts}"
    mean = sum(found.lengths.values()) / texts
    assert math.isclose(found.mean_length, mean), f"the texts have {mean} terms on average, the answer says {found.mean_length}"


_FORMS = {
    "meeting": ("meetings", "MEETING", "Meetings!"),
    "walked": ("walking", "walks", "walk", "Walked"),
    "budgets": ("budget", "Budget's"),
    "boxes": ("box",),
    "cafe": ("café", "CAFÉ", "cafe\u0301"),
    "résumé": ("resume", "RESUME\u0301"),
    "Zürich": ("zurich", "zu\u0308rich", "ZÜRICH"),
    "\uff57\uff49\uff44\uff45": ("wide", "WIDE"),
}


@rule("LEXICAL-2", LexicalIndex, cause="words are compared letter by letter, or no word is left out.")
async def english_words_match_in_other_forms(suite: Suite) -> None:
    async with suite.adapter() as index:
        await index.add("s", _texts(*(f"He spoke about {word}." for word in _FORMS)))
        for n, (word, forms) in enumerate(_FORMS.items()):
            await _check(index, "s", {form: [n] for form in (word, *forms)})
        await _check(index, "s", {"wall": [], "bud": [], "meteor": []})
        await index.add("words", _texts("The budget of the office is in the box.", "budget office box"))
        lengths = (await index.matches("words", "budget")).lengths
        assert lengths[0] == lengths[1], f"with `the`, `of`, `is`, `in` a text has {lengths[0]} terms, without {lengths[1]}"
        await _check(index, "words", {"the": [], "What is the": [], "of the": [], "THE": [], "the box": [0, 1]})


_BY_SCRIPT = {
    "我们下周去上海开会": ("上海", "海", "开会", "上海开会吗", "下周"),
    "東京タワーの近くで会う": ("東京", "タワー", "東", "近く"),
    "회의는 서울에서 열립니다": ("서울", "회의", "서울에서"),
    "價格是三百元": ("價格", "三百元"),
    "𠮷野家 𰻞麵": ("𠮷野", "𠮷", "𰻞"),
    "Новый договор подписан": ("договор", "ДОГОВОР"),
    "Νέα συμφωνία υπογράφηκε": ("συμφωνία", "ΣΥΜΦΩΝΊΑ"),
    "תקציב הפרויקט": ("תקציב",),
    "ميزانية المشروع": ("ميزانية",),
    "परियोजना का बजट": ("बजट", "परियोजना"),
    "Հայաստան գեղեցիկ": ("հայաստան",),
    "shipped as AB-2024-001": ("AB-2024-001", "ab-2024-001", "ab"),
    "see report_final.pdf": ("report_final.pdf", "final", "Report Final"),
    "write to ann@example.org": ("ann@example.org", "example", "ann"),
    "invoice 4711 of 86.50": ("4711", "86.50", "invoice 4711"),
    "the host is 10.20.30.40": ("10.20.30.40",),
}
_ABSENT = ("北京", "京", "부산", "бюджет", "σύμβαση", "חוזה", "عقد", "अनुबंध", "CD-1999-777", "0815", "draft")


@rule("LEXICAL-3", LexicalIndex, cause="text is cut by a pattern for English, or at spaces alone.")
async def other_scripts_and_identifiers_match(suite: Suite) -> None:
    async with suite.adapter() as index:
        await index.add("s", _texts(*_BY_SCRIPT))
        for n, (text, questions) in enumerate(_BY_SCRIPT.items()):
            for question in questions:
                found = _ids(await index.matches("s", question))
                assert n in found, f"{question!r} does not find {text!r}"
        for question in _ABSENT:
            if question != "京":  # it is in 東京
                found = _ids(await index.matches("s", question))
                assert [n for n in found if "京" not in list(_BY_SCRIPT)[n]] == [], f"{question!r} finds texts {found}"
        await index.add("order", _texts("他住在上海附近", "在海边的山上"))
        found = await index.matches("order", "上海")
        near, far = _terms_in(found, 0), _terms_in(found, 1)
        assert far >= 1, "a text with both characters of 上海, apart, is not found"
        assert near > far, f"上海 as it stands has {near} terms of the question, its characters apart {far}: pairs do not count"


@rule("LEXICAL-4", LexicalIndex, cause="an id that is there is left as it is, or gets a second text.")
async def added_again_has_the_new_text(suite: Suite) -> None:
    async with suite.adapter() as index:
        await index.add("s", _texts("zebra lion", "zebra tiger"))
        for _ in range(2):
            await index.add("s", [IndexedText(id=1, text="zebra panda panda camel")])
            await _check(index, "s", {"tiger": [], "panda": [1], "zebra": [0, 1], "lion": [0]})
            _check_counts(await index.matches("s", "zebra"), 2)
        await index.add("s", _texts("otter", "", "otter"))
        await _check(index, "s", {"zebra lion panda": [], "otter": [0, 2]})
        counted = (await index.matches("s", "otter")).texts
        assert counted in (2, 3), f"of three texts, one of them empty, the answer counts {counted}"
        assert await index.newest("s") == 2, "after ids 0 to 2 were added again, the newest is not 2"


_NAMES = (
    "a",
    "s",
    "S",
    "s ",
    " s",
    "",
    "a/b",
    "a%",
    "a_",
    "a'",
    'a"',
    "a:1",
    "a\u0000b",
    "a\n",
    "ä",
    "a\u0308",
    "*",
    "1",
    "x" * 300,
    "\ud800",
)


@rule("LEXICAL-5", LexicalIndex, cause="names are folded, trimmed or cut, or a missing space is reported as an error.")
async def spaces_are_separate(suite: Suite) -> None:
    async with suite.adapter() as index:
        for name in _NAMES:
            for _ in range(2):
                found = await index.matches(name, "zebra")
                assert (_ids(found), found.texts) == ([], 0), f"the unwritten space {name!r:.40} has texts: {found}"
                assert await index.newest(name) is None, f"the unwritten space {name!r:.40} has a newest text"
            await index.drop(name)
        for n, name in enumerate(_NAMES):
            await index.add(name, [IndexedText(id=7, text=f"zebra {_word(n)}"), IndexedText(id=100 + n, text="zebra")])
        for n, name in enumerate(_NAMES):
            await _check(index, name, {_word(n): [7], "zebra": [7, 100 + n], _word(n + 1): []})
            counted = (await index.matches(name, "zebra")).texts
            assert counted == 2, f"the space {name!r:.40} has 2 texts, the answer says {counted}"
            assert await index.newest(name) == 100 + n, f"the newest of {name!r:.40} is not its own"
    async with suite.adapter() as one, suite.adapter() as other:
        await one.add("s", _texts("zebra"))
        await _check(other, "s", {"zebra": []})


@rule("LEXICAL-6", LexicalIndex, cause="texts wait for others before they are written, or newest is the last that was added.")
async def acknowledged_texts_are_there(suite: Suite) -> None:
    highest = 2**63 - 1
    async with suite.adapter() as index:
        await index.add("s", [])
        assert await index.newest("s") is None, "a space to which no text was added has a newest one"
        so_far: list[int] = []
        for id in (0, 5, 3, 1_024_000_007, 4, highest, 2):
            await index.add("s", [IndexedText(id=id, text=f"zebra {_word(id)}")])
            so_far.append(id)
            await _check(index, "s", {_word(id): [id], "zebra": so_far})
            newest = await index.newest("s")
            assert newest == max(so_far), f"after ids {so_far} the newest is {newest}"


_OPERATORS = (
    '"', "'", '""', "zebra AND", "NOT", "NEAR(", "zebra*", "^zebra", "terms:zebra", "{a b}:", "-zebra", "a OR", "(((", "%_",
    "'; DROP TABLE texts; --", "zebra + ", "[zebra]", "\\", ".*", "+", "~", "?",
)  # fmt: skip


@rule("LEXICAL-7", LexicalIndex, cause="a question is handed to the backend as a query, or text is encoded strictly or cut.")
async def every_text_may_be_added_and_asked(suite: Suite) -> None:
    hard = (*HARD_TEXTS, *_OPERATORS, "e" + "\u0301\u0323" * 5_000, "字" * 20_000, "ab-" * 20_000, "\ud800" * 1_000, "\u0000")
    async with suite.adapter() as index:
        await index.add("s", _texts(*(f"{_word(n)} {text} {_word(100 + n)}" for n, text in enumerate(hard))))
        await index.add("alone", _texts(*hard))
        for n, text in enumerate(hard):
            await index.matches("alone", text)
            await _check(index, "s", {_word(n): [n], _word(100 + n): [n]})
            found = _ids(await index.matches("s", f"{text} {_word(100 + n)}"))
            assert n in found, f"{text!r:.60} keeps a question from finding a word that stands behind it"
        await index.add("long", _texts(" ".join(map(_word, range(20_000))) + " zebra"))
        await _check(index, "long", {"zebra": [0], _word(19_999): [0], _word(0): [0]})
        await _check(index, "long", {" ".join(map(_word, range(20_000, 22_000))) + " zebra": [0]})


@rule("LEXICAL-8", LexicalIndex, cause="the texts go and their counts stay, or a space goes with others of like name.")
async def drop_empties_a_space(suite: Suite) -> None:
    async with suite.adapter() as index:
        for name in ("s", "s2", "t"):
            await index.add(name, _texts("zebra lion", "zebra", first=1))
        for _ in range(2):
            await index.drop("s")
            found = await index.matches("s", "zebra lion")
            assert (_ids(found), found.texts) == ([], 0), f"a dropped space has {found}"
            assert await index.newest("s") is None, "a dropped space has a newest text"
        for name in ("s2", "t"):
            await _check(index, name, {"zebra": [1, 2], "lion": [1]})
            assert await index.newest(name) == 2, "drop changed the newest of another space"
        await index.add("s", [IndexedText(id=1, text="zebra panda camel")])
        await _check(index, "s", {"lion": [], "zebra": [1], "panda": [1]})
        _check_counts(await index.matches("s", "zebra"), 1)
        assert await index.newest("s") == 1, "the newest of a space that was dropped and filled again is not its own"


async def _write(index: LexicalIndex, space: str, writer: int) -> None:
    for call in range(_CALLS):
        first = (writer * _CALLS + call) * 2
        await index.add(space, _texts(f"zebra {_word(first)}", f"zebra {_word(first + 1)}", first=first))
        found = _ids(await index.matches(space, f"{_word(first)} {_word(first + 1)}"))
        assert found == [first, first + 1], f"while others write, texts {first} and {first + 1} are found as {found}"


@rule("LEXICAL-9", LexicalIndex, cause="look, then write, without a lock or a transaction around both.")
async def calls_at_once_lose_nothing(suite: Suite) -> None:
    async with suite.adapter() as index:
        for n, run in enumerate((at_once, at_once_in_threads)):
            space = f"space {n}"
            await run(*(partial(_write, index, space, writer) for writer in range(_WRITERS)))
            texts = _WRITERS * _CALLS * 2
            await _check(index, space, {"zebra": range(texts)})
            _check_counts(await index.matches(space, "zebra"), texts)
            assert await index.newest(space) == texts - 1, f"the newest of {texts} texts that many added is another"


def _calls(index: LexicalIndex) -> Mapping[str, Callable[[], Awaitable[Any]]]:
    return {
        "add": lambda: index.add("s", _texts("zebra")),
        "matches": lambda: index.matches("s", "zebra"),
        "newest": lambda: index.newest("s"),
        "drop": lambda: index.drop("s"),
    }


async def _raised(call: Callable[[], Awaitable[Any]], what: str) -> IndexUnavailable:
    try:
        answer = await call()
    except IndexUnavailable as error:
        return error
    except Exception as error:
        raise AssertionError(f"{what} raised {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what} raised nothing and returned {answer!r}")


@rule("LEXICAL-10", LexicalIndex, cause="a library's exception passes through, or is replaced without `raise ... from`.")
async def failures_are_mapped(suite: Suite) -> None:
    async with suite.adapter() as index:
        await index.add("s", _texts("zebra"))
        await index.close()
        await index.close()
        for name, call in _calls(index).items():
            await _raised(call, f"{name} after close")
    built = suite.broken_index()
    if built is None:
        return
    broken = await settled(built)
    try:
        for name, call in _calls(broken).items():
            error = await _raised(call, f"{name} on a failing backend")
            assert error.__cause__ is not None, f"{name} raised IndexUnavailable without the foreign error as its cause"
    finally:
        await suite.release(broken)


class _Unreadable:
    """Stands where a text should be, and fails whatever is asked of it: the caller's mistake, in the middle of a call."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"this text has no {name}")


@rule("LEXICAL-11", LexicalIndex, cause="texts are written one by one, each in a transaction of its own.")
async def add_stores_all_or_nothing(suite: Suite) -> None:
    group = _texts("zebra", "zebra lion", "zebra tiger", "zebra panda", first=10)
    unreadable: Any = _Unreadable()
    for n in range(len(group)):
        async with suite.adapter() as index:
            await index.add("s", _texts("lion"))
            failing: list[Any] = [*group[:n], unreadable, *group[n + 1 :]]
            try:
                await index.add("s", failing)
            except Exception:
                await _check(index, "s", {"zebra": [], "lion": [0]})
            else:
                raise AssertionError(f"add stored a text that cannot be read, the one at {n}")
            await index.add("s", group)
            await _check(index, "s", {"zebra": [10, 11, 12, 13], "lion": [0, 11]})
            _check_counts(await index.matches("s", "zebra lion"), 5)
    for k in range(1, _MOST_WAITS):
        async with suite.adapter() as index:
            await index.add("s", _texts("lion"))
            waited = await cancelled_at(k, index.add("s", group))
            there = _ids(await index.matches("s", "zebra"))
            assert there in ([], [10, 11, 12, 13]), f"an add cancelled at wait {k} left texts {there}"
            asked = await cancelled_at(k, index.matches("s", "zebra"))
            await index.add("s", group)
            _check_counts(await index.matches("s", "zebra lion"), 5)
            if not waited and not asked:
                return
