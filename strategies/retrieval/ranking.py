"""Which passages of a conversation a question needs: the scores of several signals, put together.

A turn of a talk says little alone: what "it" is stands in the turn before, what the talk is about stands further up. So a passage
is scored by itself and by its surroundings, and returned alone, so that the room is spent on what was asked for.

Signals, each brought to a range from 0 to 1:
- meaning: the cosine with the question, of the passage and of two passages either side (mean);
- words: BM25, of the passage, of two and, with half the weight, of eight passages either side (sum);
- coverage: the share of the question's words, by their rarity, that are said within eight passages either side;
- what the passage says for itself (`worth_of`), and whether the one speaks whom the question names: given as `bonus`.

The weights are few and round, and were chosen on the English conversations of LoCoMo and on Chinese ones of KdConv. They lie on a
plateau: a third more or less of any moves the mean recall of evidence by about 0.01 at most.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter

from attrs import frozen

from contextport.contracts.retrieval import Matches

from .lexical_scores import lexical_scores

__all__ = ["SPEAKER_BONUS", "Ranking", "rank_passages"]

SPEAKER_BONUS = 0.12
"""What a passage gets whose speaker the question names."""

_NEAR = 2  # passages either side: the exchange
_FAR = 8  # passages either side: the topic
_COVERAGE = 0.12
_FEW = 4_096  # passages that are all ranked; of more, those around the best ones by words and by meaning
_BEST = 384  # of each, which gives some thousands with those around them: more than any window has room for
_NO_RANGE = 1e-9  # below it, differences are rounding


@frozen(kw_only=True)
class Ranking:
    """Places of passages, the best first, and their scores from 0 to 1, which do not rise.

    The best one has the strength of the answer: the share of the question, by the rarity of its words, that is said around any
    passage, or the highest cosine, whichever is more. The others have less of it, as they rank.
    """

    places: Sequence[int] = ()
    scores: Sequence[float] = ()


def rank_passages(
    matches: Matches,
    places: Mapping[int, int],
    *,
    cosines: Sequence[tuple[int, float]] = (),
    fit: float = 1.0,
    bonus: Callable[[int], float],
) -> Ranking:
    """Rank the passages of `places`, {id: number in order}, for a question.

    `matches` and `cosines` (id, cosine) are what indexes found; ids that are not in `places` are passed over, and passages
    without a cosine count as the farthest that has one. `fit`, from 0 to 1, is the weight of meaning beside words: how far the
    embedder knows the script. `bonus` has what a place gets whatever the question is. Where nothing was found, nothing is ranked.
    """
    if not places:
        return Ranking()
    words = lexical_scores(matches, places, reach=_FAR)
    known = [(places[id], cosine) for id, cosine in cosines if id in places] if fit > 0 else []
    meaning = _by_place(known, len(places))
    shares = (fit if meaning else 0.0, 1.0 if words.known else 0.0)
    if not any(shares):
        return Ranking()
    ranked = range(len(places)) if len(places) <= _FEW else _around_the_best(words.own, known)
    totals = _added([bonus(place) for place in ranked], [words.covered[place] for place in ranked], _COVERAGE)
    if meaning:
        share = shares[0] / sum(shares) / 2
        totals = _added(totals, [meaning[place] for place in ranked], share)
        totals = _added(totals, _means(meaning, _NEAR, ranked), share)
    if words.known:
        share = shares[1] / sum(shares) / 5
        totals = _added(totals, [words.own[place] for place in ranked], 2 * share)
        totals = _added(totals, _sums(words.own, _NEAR, ranked), 2 * share)
        totals = _added(totals, _sums(words.own, _FAR, ranked), share)
    strength = min(1.0, max(words.known * max(words.covered), fit * max(meaning, default=0.0)))
    order = sorted(range(len(ranked)), key=totals.__getitem__, reverse=True)  # stable: of equals the older comes first
    best = max(totals[order[0]], _NO_RANGE)
    return Ranking(
        places=[ranked[one] for one in order], scores=[strength * max(0.0, min(1.0, totals[one] / best)) for one in order]
    )


def _around_the_best(own: array[float], known: Sequence[tuple[int, float]]) -> Sequence[int]:
    """The places of the best passages by words and of the best by meaning, with those near them, in order."""
    said = [place for place, score in enumerate(own) if score]
    best = heapq.nlargest(_BEST, said, key=own.__getitem__)
    best += [place for place, _ in heapq.nlargest(_BEST, known, key=itemgetter(1))]
    found: set[int] = set()
    for place in best:
        found.update(range(max(0, place - _NEAR), min(len(own), place + _NEAR + 1)))
    return sorted(found)


def _by_place(known: Sequence[tuple[int, float]], count: int) -> array[float]:
    """The cosine of each place; nothing if none is known."""
    if not known:
        return array("d")
    found = array("d", [min([cosine for _, cosine in known])]) * count
    for place, cosine in known:
        found[place] = cosine
    return found


def _sums(series: array[float], reach: int, wanted: Sequence[int]) -> list[float]:
    """The sums over the wanted places and so many either side."""
    edge = array("d", bytes(8 * reach))
    running = list(accumulate(edge + series + edge, initial=0.0))
    width = 2 * reach + 1
    return [running[place + width] - running[place] for place in wanted]


def _means(series: array[float], reach: int, wanted: Sequence[int]) -> list[float]:
    """As `_sums`, with those at the ends as large as if they had as many neighbours as the others."""
    sums, width, last = _sums(series, reach, wanted), 2 * reach + 1, len(series) - 1
    ends = {*range(reach), *range(len(wanted) - reach, len(wanted))}.intersection(range(len(wanted)))
    for number in ends:
        place = wanted[number]
        sums[number] *= width / (min(reach, place) + min(reach, last - place) + 1)
    return sums


def _added(totals: Sequence[float], series: Sequence[float], share: float) -> list[float]:
    """The totals with the series added, brought to the range from 0 to `share`."""
    least, most = min(series), max(series)
    factor = share / (most - least) if most - least > _NO_RANGE else 0.0
    offset = least * factor
    return [total + one * factor - offset for total, one in zip(totals, series, strict=True)]
