"""Which passages of a conversation a question needs: the scores of several signals, put together.

A turn of a talk says little alone: what "it" is stands in the turn before, what the talk is about stands further up. So a passage
is scored by itself and by its surroundings, and returned alone, so that the room is spent on what was asked for.

Signals, each brought to a range from 0 to 1:
- meaning: the cosine with the question, of the passage and of two passages either side (mean);
- words: BM25, of the passage, of two and, with half the weight, of eight passages either side (sum);
- coverage: the share of the question's words, by their rarity, that are said within eight passages either side;
- what the passage says for itself (`worth_of`), and whether the one speaks whom the question names: given as `bonus`.

The weights are few and round, and were chosen on the English conversations of LoCoMo and on Chinese ones of KdConv: half or twice
as much of any changes the mean recall of evidence by less than 0.02.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import sub

from attrs import frozen

from contextport.contracts.retrieval import Matches

from .lexical_scores import lexical_scores

__all__ = ["SPEAKER_BONUS", "Ranking", "rank_passages"]

SPEAKER_BONUS = 0.12
"""What a passage gets whose speaker the question names."""

_NEAR = 2  # passages either side: the exchange
_FAR = 8  # passages either side: the topic
_COVERAGE = 0.12
_NO_RANGE = 1e-9  # below it, differences are rounding


@frozen(kw_only=True)
class Ranking:
    """Places of passages, the best first, and how their totals become scores."""

    order: Sequence[int]
    totals: array[float]
    strength: float

    def score(self, place: int) -> float:
        """The score of a passage, from 0 to 1.

        The best one has the strength of the answer: the share of the question, by the rarity of its words, that is said around
        any passage, or the highest cosine, whichever is more. The others have less of it, as they rank.
        """
        best = self.totals[self.order[0]]
        return self.strength * min(1.0, max(0.0, self.totals[place] / best)) if best > 0 else 0.0


def rank_passages(
    matches: Matches,
    places: Mapping[int, int],
    *,
    cosines: Sequence[tuple[int, float]] = (),
    fit: float = 1.0,
    bonus: Sequence[float],
) -> Ranking:
    """Rank the passages of `places`, {id: number in order}, for a question.

    `matches` and `cosines` (id, cosine) are what indexes found; ids that are not in `places` are passed over, and passages
    without a cosine count as the farthest that has one. `fit`, from 0 to 1, is the weight of meaning beside words: how far the
    embedder knows the script. Where nothing was found the order is empty; otherwise it has every place.
    """
    if not places:
        return Ranking(order=(), totals=array("d"), strength=0.0)
    words = lexical_scores(matches, places, reach=_FAR)
    meaning, nearest = _meaning(cosines if fit > 0 else (), places)
    shares = (fit if meaning else 0.0, 1.0 if words.known else 0.0)
    if not any(shares):
        return Ranking(order=(), totals=array("d"), strength=0.0)
    for_meaning, for_words = shares[0] / sum(shares) / 2, shares[1] / sum(shares) / 5
    meaning = meaning or array("d", bytes(8 * len(places)))
    totals = _total(
        bonus,
        (
            (words.covered, _COVERAGE),
            (meaning, for_meaning),
            (_means(meaning, _NEAR), for_meaning),
            (words.own, 2 * for_words),
            (_sums(words.own, _NEAR), 2 * for_words),
            (_sums(words.own, _FAR), for_words),
        ),
    )
    order = sorted(range(len(totals)), key=totals.__getitem__, reverse=True)  # stable: of equals the older comes first
    strength = max(words.known * max(words.covered), fit * nearest)
    return Ranking(order=order, totals=totals, strength=min(1.0, strength))


def _meaning(cosines: Sequence[tuple[int, float]], places: Mapping[int, int]) -> tuple[array[float], float]:
    """The cosine by place, and the highest; nothing if there are none."""
    known = [(places[id], cosine) for id, cosine in cosines if id in places]
    if not known:
        return array("d"), 0.0
    found = array("d", [min([cosine for _, cosine in known])]) * len(places)
    for place, cosine in known:
        found[place] = cosine
    return found, max(0.0, max(found))


def _sums(series: array[float], reach: int) -> array[float]:
    """The sum over each place and so many either side."""
    edge = array("d", bytes(8 * reach))
    running = array("d", accumulate(edge + series + edge, initial=0.0))
    return array("d", map(sub, running[2 * reach + 1 :], running))


def _means(series: array[float], reach: int) -> array[float]:
    """As `_sums`, with those at the ends as large as if they had as many neighbours as the others."""
    sums, width = _sums(series, reach), 2 * reach + 1
    last = len(series) - 1
    for place in {*range(min(reach, last + 1)), *range(max(0, last - reach + 1), last + 1)}:
        sums[place] *= width / (min(reach, place) + min(reach, last - place) + 1)
    return sums


def _total(bonus: Sequence[float], parts: Sequence[tuple[array[float], float]]) -> array[float]:
    """The bonus and all parts, each series brought to the range from 0 to its share: in one pass, as there may be many places."""
    (a, f_a, least_a), (b, f_b, least_b), (c, f_c, least_c), (d, f_d, least_d), (e, f_e, least_e), (f, f_f, least_f) = [
        (series, *_range(series, share)) for series, share in parts
    ]
    offset = least_a + least_b + least_c + least_d + least_e + least_f
    return array(
        "d",
        [
            g + v * f_a + w * f_b + x * f_c + y * f_d + z * f_e + u * f_f - offset
            for g, v, w, x, y, z, u in zip(bonus, a, b, c, d, e, f, strict=True)
        ],
    )


def _range(series: array[float], share: float) -> tuple[float, float]:
    """The factor that makes the range of the series the share, and where the range then begins."""
    least, most = min(series), max(series)
    factor = share / (most - least) if most - least > _NO_RANGE else 0.0
    return factor, least * factor
