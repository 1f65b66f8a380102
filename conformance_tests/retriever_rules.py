"""The rules of `Retriever`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from contextport.contracts import RetrievalFailed
from contextport.contracts.retrieval import Query, Retriever, Snippet

from .retriever_inputs import DOCUMENTS, FEW, QUESTIONS, SESSION, find, texts_of, with_fillers
from .rules import rule, settled
from .store_inputs import HARD_TEXTS, at_once, at_once_in_threads, cancelled_at

if TYPE_CHECKING:
    from .retriever_suite import RetrieverConformance as Suite

__all__: list[str] = []

_WORDLESS = ("", " ", "\n\t\r\n", "?!...", "-- // ()", "\u3002\uff1f")
_OPERATORS = ('"', "AND OR NOT NEAR(", "a* ^b -c +d", "title:x {y z}", "(((", "'; DROP TABLE messages; --", "[a-z]+?(", "%_\\")
_TURNS = 4  # rounds of calls at once
_MOST_WAITS = 40  # awaits of one call; a retriever that waits more often is cancelled at the first 40

#: One text has all three words of a question, others one each.
_OF_THREE_WORDS = with_fillers(
    {
        "one of cello": "The cello stands in the hall.",
        "one of lisbon": "Lisbon has many hills.",
        "all": "Carla played the cello in Lisbon.",
        "one of carla": "Carla is late again.",
    }
)
_THREE_WORDS = "Carla cello Lisbon"
_REPEATED = with_fillers(
    {
        "first": "The violin was repaired in Cremona.",
        "again": "The violin was repaired in Cremona.",
        "more": "The violin was repaired in Cremona. It cost a lot.",
        "part": "repaired in Cremona",
    }
)


@rule("RETRIEVER-1", Retriever, cause="sizes are not added up, the size of the first is not checked, or the order is of time.")
async def keeps_to_the_room_with_the_best_first(suite: Suite) -> None:
    async with suite.searching(_OF_THREE_WORDS) as retriever:
        everything = await find(retriever, _THREE_WORDS)
        assert everything, f"nothing was found for {_THREE_WORDS!r}, although a text has all of the words"
        best = everything[0]
        assert best.text.strip(".") in "Carla played the cello in Lisbon", f"the text with all words came after {best.text!r}"
        sizes = [snippet.tokens for snippet in everything]
        assert min(sizes) >= 1, f"a snippet takes {min(sizes)} tokens"
        for room in sorted({0, 1, *[sum(sizes[:n]) + more for n in range(len(sizes) + 1) for more in (-1, 0, 1)]}):
            found = await find(retriever, _THREE_WORDS, max_tokens=max(0, room))
            taken = sum([snippet.tokens for snippet in found])
            assert taken <= max(0, room), f"with max_tokens={room} snippets of {taken} tokens were returned"
        alone = texts_of(await find(retriever, _THREE_WORDS, max_tokens=best.tokens))
        assert alone, f"with max_tokens={best.tokens}, the size of the best snippet, nothing was returned"
        assert alone[0] == best.text, f"with room for the best snippet alone, {alone[0]!r} was returned"


@rule("RETRIEVER-2", Retriever, cause="texts are compared by their ids, or passages overlap.")
async def returns_no_text_twice(suite: Suite) -> None:
    async with suite.searching(_REPEATED) as retriever:
        for question in ("Where was the violin repaired?", "violin Cremona", "repaired in Cremona"):
            texts = texts_of(await find(retriever, question))
            assert any("Cremona" in text for text in texts), f"{question!r} found {texts}"
            for n, text in enumerate(texts):
                around = [other for at, other in enumerate(texts) if at != n and text in other]
                assert not around, f"{text!r} was returned, and so was {around[0]!r}"


@rule("RETRIEVER-3", Retriever, cause="text is cleaned on its way into the index and returned from there, or ids are mixed up.")
async def quotes_word_for_word_and_says_where(suite: Suite) -> None:
    documents = with_fillers(
        {
            "spaced": "Rome  has\tseven hills;\nTHE oldest is the Palatine.",
            "accented": "The Café “Zürich” serves crème brûlée — daily!",
            "code": "def palatine(x):\n    return  {'hill': x}  # seven",
        }
    )
    asked = {
        "spaced": "oldest Palatine hills of Rome",
        "accented": "crème brûlée Café Zürich",
        "code": "def palatine return hill",
    }
    async with suite.searching(documents) as retriever:
        for name, question in asked.items():
            found = await find(retriever, question)
            assert any(_is_from(snippet, name) for snippet in found), f"{question!r} found nothing that says it is of {name!r}"
            for snippet in found:
                sources = [name for name in documents if _is_from(snippet, name)]
                assert sources, f"{snippet!r} does not say which text it is from"
                assert any(snippet.text in documents[name] for name in sources), f"{snippet.text!r} is no piece of {sources}"


def _is_from(snippet: Snippet, name: str) -> bool:
    if snippet.source:
        return name in snippet.source
    return snippet.message_id == name and snippet.session_id == SESSION and snippet.seq > 0 and snippet.role == "user"


@rule(
    "RETRIEVER-4",
    Retriever,
    cause="words are found by a pattern of one script, or the text is not normalised as the question is.",
)
async def finds_rare_words_in_any_script(suite: Suite) -> None:
    async with suite.searching(DOCUMENTS) as retriever:
        for name, question in QUESTIONS.items():
            texts = texts_of(await find(retriever, question, max_tokens=FEW))
            assert DOCUMENTS[name] in texts, f"{question!r} in {FEW} tokens found {texts}, not {DOCUMENTS[name]!r}"


@rule("RETRIEVER-5", Retriever, cause="scores of several searches are joined as they are, or the least score is not looked at.")
async def scores_fall_and_have_a_floor(suite: Suite) -> None:
    async with suite.searching(_OF_THREE_WORDS) as retriever:
        for question in (_THREE_WORDS, "the hills of Lisbon", "cello", QUESTIONS["safari"]):
            scores = [snippet.score for snippet in await find(retriever, question)]
            assert scores == sorted(scores, reverse=True), f"{question!r} has the scores {scores}"
            for least in sorted({0.0, 0.001, 0.5, 0.999, 1.0, *scores}):
                above = [snippet.score for snippet in await find(retriever, question, min_score=least)]
                assert all(score >= least for score in above), f"{question!r} with min_score={least} has the scores {above}"
                assert above or not scores or scores[0] < least, f"{question!r} with min_score={least} found nothing of {scores}"


@rule("RETRIEVER-6", Retriever, cause="the question is handed to a query language as it is, or its length is not bounded.")
async def any_text_may_be_asked(suite: Suite) -> None:
    many = " ".join([f"w{n}" for n in range(20_000)])
    async with suite.searching(DOCUMENTS) as retriever:
        for question in (*HARD_TEXTS, *_OPERATORS, many, "?" * 100_000):
            try:
                await find(retriever, question, max_tokens=FEW)
            except Exception as error:
                raise AssertionError(f"the question {question[:40]!r} raised {type(error).__name__}: {error}") from error
        for question in _WORDLESS:
            texts = texts_of(await find(retriever, question, max_tokens=FEW))
            assert not texts, f"the question {question!r} has no words and found {texts}"
        for sign in _OPERATORS:
            texts = texts_of(await find(retriever, f"{sign} giraffe Zanzibar {sign}", max_tokens=FEW))
            assert DOCUMENTS["safari"] in texts, f"between {sign!r} and {sign!r}, words were not found: {texts}"


@rule("RETRIEVER-7", Retriever, cause="a random order of equals, or state that is kept from one question to the next.")
async def equal_questions_get_equal_answers(suite: Suite) -> None:
    questions = [*QUESTIONS.values(), "On Monday", "the day"]
    async with suite.searching(DOCUMENTS) as retriever:
        first = [await find(retriever, question, max_tokens=FEW) for question in questions]
        for order in (range(len(questions)), reversed(range(len(questions)))):
            for n in order:
                again = await find(retriever, questions[n], max_tokens=FEW)
                assert again == first[n], f"{questions[n]!r} found {texts_of(first[n])}, later {texts_of(again)}"


async def _raised(call: Callable[[], Awaitable[Any]], what: str) -> RetrievalFailed:
    try:
        answer = await call()
    except RetrievalFailed as error:
        return error
    except Exception as error:
        raise AssertionError(f"{what} raised {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what} raised nothing and returned {answer!r}")


@rule("RETRIEVER-8", Retriever, cause="a library's exception passes through, or is replaced without `raise ... from`.")
async def failures_are_mapped(suite: Suite) -> None:
    async with suite.searching(DOCUMENTS) as retriever:
        await retriever.close()
        await retriever.close()
        for question in ("On Monday", ""):
            await _raised(partial(find, retriever, question), f"retrieve of {question!r} after close")
        await _raised(partial(find, retriever, "On Monday", max_tokens=0), "retrieve into no room after close")
    built = suite.broken_retriever()
    if built is None:
        return
    broken = await settled(built)
    try:
        error = await _raised(partial(find, broken, "On Monday"), "retrieve on a failing backend")
        assert error.__cause__ is not None, "retrieve raised RetrievalFailed without the foreign error as its cause"
    finally:
        await suite.release(broken)


@rule("RETRIEVER-9", Retriever, cause="what belongs to one call is kept on the retriever, or a lock is not given back.")
async def calls_at_once_get_their_own(suite: Suite) -> None:
    async with suite.searching(DOCUMENTS) as retriever:
        alone = {name: await find(retriever, question, max_tokens=FEW) for name, question in QUESTIONS.items()}

        async def one(name: str) -> None:
            for _ in range(_TURNS):
                found = await find(retriever, QUESTIONS[name], max_tokens=FEW)
                assert found == alone[name], f"{QUESTIONS[name]!r} found {texts_of(found)} beside other calls"

        names: Sequence[str] = list(QUESTIONS)
        await at_once(*(partial(one, name) for name in names))
        await at_once_in_threads(*(partial(one, name) for name in names[:4]))
        for k in range(1, _MOST_WAITS):
            query = Query(text=QUESTIONS[names[k % len(names)]], session_id=SESSION)
            waited = await cancelled_at(k, _retrieved(retriever, query))
            async with asyncio.timeout(60):
                await one(names[0])
            if not waited:
                break


async def _retrieved(retriever: Retriever, query: Query) -> None:
    await retriever.retrieve(query, max_tokens=FEW)
