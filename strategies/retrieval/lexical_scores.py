"""Scores of passages by the words of a question: BM25, and how much of the question is said around a passage."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate

from attrs import frozen

from contextport.contracts.retrieval import Matches

__all__ = ["LexicalScores", "lexical_scores"]

_SATURATION = 1.2  # k1 of BM25
_LENGTH = 0.5  # b of BM25; k1 and b hardly matter here
_FEWEST = 64  # texts, at least, among which a word is rare: of two or three texts, every word is in many


@frozen(kw_only=True)
class LexicalScores:
    """Per place: the BM25 of the passage, and the share of the question, by the rarity of its words, that is said within `reach`.

    The share is of words that the texts know at all. `known` is their share in the whole question.
    """

    own: array[float]
    covered: array[float]
    known: float


def lexical_scores(matches: Matches, places: Mapping[int, int], *, reach: int) -> LexicalScores:
    """Score the passages whose ids are in `places`: {id: number of the passage in order, from 0}.

    BM25 as by Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the inverse document
    frequency that is never negative: log(1 + (N - n + 0.5) / (n + 0.5)).
    """
    count = len(places)
    own, edges = array("d", bytes(8 * count)), array("d", bytes(8 * (count + 1)))
    total = known = 0.0
    floor = _SATURATION * (1 - _LENGTH)
    texts = max(matches.texts, _FEWEST)
    slope = _SATURATION * _LENGTH / (matches.mean_length or 1.0)
    for posting in matches.postings.values():
        rarity = math.log(1 + (texts - len(posting) + 0.5) / (len(posting) + 0.5))
        total += rarity
        found: list[int] = []
        for id, often in posting.items():
            place = places.get(id)
            if place is not None:
                found.append(place)
                own[place] += rarity * often * (_SATURATION + 1) / (often + floor + slope * matches.lengths[id])
        if found:
            known += rarity
            _mark(edges, found, rarity, reach)
    for place, edge in enumerate(edges):
        if edge:
            edges[place] = edge / known
    covered = array("d", accumulate(edges[:-1]))
    return LexicalScores(own=own, covered=covered, known=known / total if total else 0.0)


def _mark(edges: array[float], found: Sequence[int], rarity: float, reach: int) -> None:
    """Add the rarity to all places within reach of one of the found, of which there is at least one: as steps up and down."""
    last = len(edges) - 1
    ordered = sorted(found)
    begin, end = max(0, ordered[0] - reach), 0
    for place in ordered:
        if place - reach > end > 0:
            edges[begin] += rarity
            edges[end] -= rarity
            begin = place - reach
        end = place + reach + 1
    edges[begin] += rarity
    edges[min(end, last)] -= rarity
