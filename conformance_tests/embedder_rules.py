"""The rules of `Embedder`."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from contextport.contracts import EmbeddingFailed
from contextport.contracts.vectors import Embedder, Vectors

from .embedder_inputs import NEAR_AND_FAR, short_texts
from .rules import NotChecked, rule, settled
from .store_inputs import HARD_TEXTS, at_once, at_once_in_threads, cancelled_at

if TYPE_CHECKING:
    from .embedder_suite import EmbedderConformance as Suite

__all__: list[str] = []

_SAME = 0.999  # cosine of two vectors of one text
_UNIT = 1e-3  # how far from 1 the length of a row may be
_HIGH = 0.8  # a coverage from which on an embedder is held to what texts mean
_TASKS = 6
_TURNS = 10  # turns that another task must get while a batch is embedded
_TRIES = 5
_MOST_WAITS = 60  # awaits of one call; an embedder that waits more often is cancelled at the first 60


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0


def _check_same(found: Vectors, wanted: Vectors, what: str) -> None:
    """Rows of the same texts, however they were made."""
    assert len(found) == len(wanted), f"{what}: {len(found)} rows for {len(wanted)} texts"
    for place in range(len(wanted)):
        cosine = _cosine(found.numbers(place), wanted.numbers(place))
        assert cosine >= _SAME, f"{what}: text {place} of {len(wanted)} has a vector with a cosine of {cosine:.4f} to its own"


@rule("EMBEDDER-1", Embedder, cause="a batch is cut or sorted and not put back, or rows are not scaled to length 1.")
async def rows_of_length_one_in_order(suite: Suite) -> None:
    texts = short_texts(130)  # more than one batch of most backends
    async with suite.adapter() as embedder:
        for query in (False, True):
            none = await embedder.embed([], query=query)
            assert (len(none), none.dimensions) == (0, embedder.dimensions), f"no texts gave {len(none)} rows"
            found = await embedder.embed(texts, query=query)
            assert found.dimensions == embedder.dimensions, f"rows have {found.dimensions} numbers, not {embedder.dimensions}"
            assert len(found) == len(texts), f"{len(texts)} texts gave {len(found)} rows"
            lengths = [math.hypot(*found.numbers(place)) for place in range(len(found))]
            wrong = [length for length in lengths if not abs(length - 1) <= _UNIT]
            assert not wrong, f"{len(wrong)} of {len(lengths)} rows have not length 1 but such as {wrong[0]}"
            back = await embedder.embed(texts[::-1], query=query)
            in_order = Vectors.joined([back.rows(place, place + 1) for place in reversed(range(len(back)))], back.dimensions)
            _check_same(in_order, found, "the texts in reverse order")


@rule("EMBEDDER-2", Embedder, cause="padding or other texts of the batch count, or the model is not in its mode for inference.")
async def a_text_keeps_its_vector(suite: Suite) -> None:
    texts = [*short_texts(5), "one", NEAR_AND_FAR[0].text]
    long = " ".join(short_texts(40))
    async with suite.adapter() as embedder:
        for query in (False, True):
            wanted = await embedder.embed(texts, query=query)
            _check_same(await embedder.embed(texts, query=query), wanted, "a second call")
            alone = [await embedder.embed([text], query=query) for text in texts]
            _check_same(Vectors.joined(alone, wanted.dimensions), wanted, "each text by itself")
            beside = await embedder.embed([long, *texts, "", long, *texts], query=query)
            _check_same(beside.rows(1, 1 + len(texts)), wanted, "beside long texts")
            _check_same(beside.rows(3 + len(texts), 3 + 2 * len(texts)), wanted, "the second time in one call")


@rule("EMBEDDER-3", Embedder, cause="an empty text gives a row of zeros, a text cannot be encoded, or a long one is refused.")
async def every_text_has_a_vector(suite: Suite) -> None:
    texts = [*HARD_TEXTS, " ", "\n", "\ud800", "\u0000", "1", "?!", "the end of a word " * 20_000]
    async with suite.adapter() as embedder:
        for query in (False, True):
            for text in (*texts[:4], texts[-1]):
                await _check_has_vectors(embedder, [text], query)
            await _check_has_vectors(embedder, texts, query)


async def _check_has_vectors(embedder: Embedder, texts: Sequence[str], query: bool) -> None:
    found = await embedder.embed(texts, query=query)
    assert len(found) == len(texts), f"{len(texts)} texts gave {len(found)} rows"
    for place, text in enumerate(texts):
        length = math.hypot(*found.numbers(place))
        assert math.isfinite(length), f"{text!r:.40} has numbers that are not finite"
        assert length > 0, f"{text!r:.40} has a row of zeros"


@rule("EMBEDDER-4", Embedder, cause="the wrong vector of the model is taken, or `coverage` is high for an unknown script.")
async def like_meanings_are_near(suite: Suite) -> None:
    async with suite.adapter() as embedder:
        tried = 0
        for one in NEAR_AND_FAR:
            coverage = min(embedder.coverage(text) for text in (one.text, one.near, one.far))
            if coverage < _HIGH:
                continue
            tried += 1
            others = await embedder.embed([one.near, one.far])
            for query in (False, True):
                itself = (await embedder.embed([one.text], query=query)).numbers(0)
                near, far = _cosine(itself, others.numbers(0)), _cosine(itself, others.numbers(1))
                assert near > far, (
                    f"{one.text!r} has a coverage of {coverage:.2f} and a cosine of {near:.3f} to {one.near!r}, "
                    f"but {far:.3f} to {one.far!r}"
                )
        if not tried:
            raise NotChecked(f"the embedder has a coverage below {_HIGH} of every text that is tried here")


@rule("EMBEDDER-5", Embedder, cause="the name lacks a setting that the vectors depend on, or something is random.")
async def name_stands_for_the_vectors(suite: Suite) -> None:
    texts = [one.text for one in NEAR_AND_FAR[:4]]
    async with suite.adapter() as embedder:
        before = embedder.name, embedder.dimensions
        assert isinstance(before[0], str), f"name is {before[0]!r}"
        assert before[0], "name is empty"
        vectors = {query: await embedder.embed(texts, query=query) for query in (False, True)}
        assert (embedder.name, embedder.dimensions) == before, f"{before} became {(embedder.name, embedder.dimensions)}"
        async with suite.adapter() as second:
            assert (second.name, second.dimensions) == before, f"two of a kind are {before} and {second.name, second.dimensions}"
            for query in (False, True):
                _check_same(await second.embed(texts, query=query), vectors[query], "another embedder of the same name")
        for built in suite.other_embedders():
            other = await settled(built)
            try:
                await _check_other(other, before, texts, vectors)
            finally:
                await suite.release(other)


async def _check_other(other: Embedder, before: tuple[str, int], texts: Sequence[str], vectors: dict[bool, Vectors]) -> None:
    """One of another configuration: its name differs, or its vectors do not."""
    if other.name != before[0]:
        return
    assert other.dimensions == before[1], f"{other.name} is the name of {before[1]} and of {other.dimensions} dimensions"
    for query in (False, True):
        _check_same(await other.embed(texts, query=query), vectors[query], f"one of another configuration, called {other.name}")


async def _raised(call: Callable[[], Awaitable[Any]], what: str) -> EmbeddingFailed:
    try:
        answer = await call()
    except EmbeddingFailed as error:
        return error
    except Exception as error:
        raise AssertionError(f"{what} raised {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what} raised nothing and returned {answer!r:.100}")


@rule("EMBEDDER-6", Embedder, cause="a library's exception passes through, or is replaced without `raise ... from`.")
async def failures_are_mapped(suite: Suite) -> None:
    async with suite.adapter() as embedder:
        await embedder.embed(["one"])
        await embedder.close()
        await embedder.close()
        for texts in (["one"], ["one", "two"], []):
            await _raised(partial(embedder.embed, texts), f"embed of {len(texts)} texts after close")
    built = suite.broken_embedder()
    if built is None:
        return
    broken = await settled(built)
    try:
        for query in (False, True):
            error = await _raised(partial(broken.embed, ["one", "two"], query=query), "embed on a failing backend")
            assert error.__cause__ is not None, "EmbeddingFailed has not the foreign error as its cause"
    finally:
        await suite.release(broken)


@rule("EMBEDDER-7", Embedder, cause="the model runs in the event loop, a client belongs to one loop, or calls share state.")
async def calls_at_once_get_their_own_rows(suite: Suite) -> None:
    own = [short_texts(6 * _TASKS)[task::_TASKS] for task in range(_TASKS)]
    async with suite.adapter() as embedder:
        wanted = [await embedder.embed(texts) for texts in own]

        async def one(task: int) -> None:
            _check_same(await embedder.embed(own[task]), wanted[task], f"task {task} of {_TASKS} at once")

        for run in (at_once, at_once_in_threads):
            await run(*(partial(one, task) for task in range(_TASKS)))
        turns = 0
        for _ in range(_TRIES):
            turns = max(turns, await _turns_beside(embedder))
            if turns >= _TURNS:
                return
        raise AssertionError(f"while 200 texts were embedded, another task got {turns} turns")


async def _turns_beside(embedder: Embedder) -> int:
    """How often another task has its turn while texts are embedded."""
    embedding = asyncio.ensure_future(embedder.embed(short_texts(200)))
    turns = 0
    while not embedding.done():
        await asyncio.sleep(0)
        turns += 1
    embedding.result()
    return turns


@rule("EMBEDDER-8", Embedder, cause="the share is a percentage, counts more than there is, or depends on earlier texts.")
async def coverage_is_a_share(suite: Suite) -> None:
    texts = [*HARD_TEXTS, *(text for one in NEAR_AND_FAR for text in (one.text, one.far)), *short_texts(20)]
    async with suite.adapter() as embedder:
        before = [embedder.coverage(text) for text in texts]
        for text, coverage in zip(texts, before, strict=True):
            assert 0 <= coverage <= 1, f"coverage of {text!r:.40} is {coverage}"
        await embedder.embed([text[:200] for text in texts])
        for text, coverage in zip(reversed(texts), reversed(before), strict=True):
            again = embedder.coverage(text)
            assert again == coverage, f"coverage of {text!r:.40} was {coverage}, and is {again} later"


@rule("EMBEDDER-9", Embedder, cause="a lock or a place in a queue is not given back, or half a call is left over.")
async def goes_on_after_a_cancelled_call(suite: Suite) -> None:
    texts = short_texts(12)
    async with suite.adapter() as embedder:
        wanted = await embedder.embed(texts)
        for k in range(1, _MOST_WAITS):
            if not await cancelled_at(k, embedder.embed(short_texts(40))):
                return
            _check_same(await embedder.embed(texts), wanted, f"after a call that was cancelled at its wait {k}")
