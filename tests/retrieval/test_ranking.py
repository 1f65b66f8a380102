"""What puts a passage before another."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from contextport.contracts.retrieval import Matches
from contextport.strategies.retrieval import ranking as module
from contextport.strategies.retrieval.lexical_scores import lexical_scores
from contextport.strategies.retrieval.passage_worth import worth_of
from contextport.strategies.retrieval.ranking import Ranking, rank_passages


def matches(texts: Sequence[str], question: str) -> Matches:
    """Words as they are, by number of the text."""
    words = [text.split() for text in texts]
    postings = {
        term: {n: one.count(term) for n, one in enumerate(words) if term in one} for term in dict.fromkeys(question.split())
    }
    lengths = {n: len(one) for n, one in enumerate(words)}
    return Matches(postings=postings, lengths=lengths, texts=len(texts), mean_length=sum(lengths.values()) / len(texts))


def nothing(place: int) -> float:
    return 0.0


def rank(
    texts: Sequence[str],
    question: str,
    cosines: Sequence[tuple[int, float]] = (),
    fit: float = 1.0,
    bonus: Callable[[int], float] = nothing,
) -> Ranking:
    return rank_passages(matches(texts, question), {n: n for n in range(len(texts))}, cosines=cosines, fit=fit, bonus=bonus)


FILLERS = [f"filler{n} word{n} more{n}" for n in range(40)]


def test_the_rarer_word_counts_more() -> None:
    texts = [*["tea again", *FILLERS] * 3, "giraffe again", *FILLERS]
    assert rank(texts, "tea giraffe").places[0] == 123


def test_a_passage_among_others_that_match_comes_before_one_alone() -> None:
    texts = list(FILLERS)
    texts[5] = "zebra here"
    texts[29:32] = ["about zebra", "zebra here", "of zebra"]
    assert list(rank(texts, "zebra").places[:4]) == [29, 30, 31, 5]


def test_the_answer_beside_its_question_is_found_although_it_has_none_of_the_words() -> None:
    texts = list(FILLERS)
    texts[20:22] = ["where zebra sleep", "under the tree"]
    assert 21 in rank(texts, "zebra sleep").places[:4]


def test_coverage_is_the_share_of_known_terms_within_reach() -> None:
    for seed in range(200):
        dice = random.Random(seed)
        texts = [" ".join(term for term in "abc" if dice.random() < dice.choice([0.02, 0.3])) or "x" for _ in range(40)]
        found = matches(texts, "a b c")
        scores = lexical_scores(found, {n: n for n in range(40)}, reach=3)
        alone = {term: lexical_scores(matches(texts, term), {n: n for n in range(40)}, reach=0).own for term in "abc"}
        for place in range(40):
            near = {term for term in "abc" if any(alone[term][max(0, place - 3) : place + 4])}
            assert (scores.covered[place] > 1e-9) is bool(near)
            if near == {term for term in "abc" if any(alone[term])} and near:
                assert scores.covered[place] == pytest.approx(1)


def test_meaning_finds_what_has_none_of_the_words() -> None:
    cosines = [(n, 0.1) for n in range(40) if n != 33]
    assert rank(FILLERS, "unknown", [(33, 0.8), *cosines]).places[0] == 33


def test_meaning_of_a_script_that_the_embedder_does_not_know_counts_for_nothing() -> None:
    texts = [*FILLERS, "zebra here"]
    cosines = [(3, 0.9), *[(n, 0.1) for n in range(41) if n != 3]]
    assert rank(texts, "zebra", cosines, fit=0.0) == rank(texts, "zebra")
    assert rank(texts, "zebra", cosines, fit=0.1).places[0] == 40


def test_nothing_is_ranked_where_nothing_was_found() -> None:
    assert rank(FILLERS, "unknown") == Ranking()
    assert rank_passages(Matches(), {}, bonus=nothing) == Ranking()


def test_the_best_has_the_share_of_the_question_that_is_said_and_the_others_less() -> None:
    texts = [*FILLERS, "zebra here"]
    whole, half = rank(texts, "zebra"), rank(texts, "zebra unknown")
    assert whole.scores[0] == pytest.approx(1)
    assert 0.3 < half.scores[0] < 0.6
    for ranking in (whole, half):
        assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
        assert sorted(ranking.places) == list(range(41))


def test_of_many_passages_those_around_the_best_are_ranked_in_about_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(7)
    texts = [" ".join(dice.choices([f"w{n}" for n in range(300)], k=8)) for _ in range(1_000)]
    cosines = [(n, dice.random()) for n in range(1_000)]
    every = rank(texts, "w1 w2 w3", cosines)
    monkeypatch.setattr(module, "_FEW", 100)
    some = rank(texts, "w1 w2 w3", cosines)
    assert some.places[:5] == every.places[:5]
    assert len(set(some.places[:20]) & set(every.places[:20])) >= 18
    assert len(some.places) < len(every.places)


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("We moved in May 2023.", "We moved some time ago, I think."),
        ("I met Otto at the bar.", "I met him at the bar."),
        ("I went there with my sister.", "Did you go there with your sister?"),
        ("我们去年搬家了。", "我们搬家了吗？"),  # noqa: RUF001
    ],
)
def test_what_tells_when_or_whom_is_worth_more_than_what_does_not(more: str, less: str) -> None:
    assert worth_of(more) > worth_of(less)


def test_addressing_a_speaker_names_nobody_and_parts_of_answers_and_results_are_worth_less() -> None:
    text = "That was great, Ann and all."
    assert worth_of(text, speakers=frozenset({"ann"})) < worth_of(text)
    assert worth_of(text, role="tool") < worth_of(text, role="assistant", is_whole=False) < worth_of(text, role="assistant")
    assert worth_of(text, is_whole=False) == worth_of(text)
