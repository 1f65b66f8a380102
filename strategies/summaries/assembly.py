"""Chosen pieces put together as a summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contextport.contracts import Summary

from .candidates import Candidate

__all__ = ["ORIGIN", "assembled", "line_of"]

ORIGIN = "extractive"
_TAGS = {"decisions": "[decided]", "constraints": "[must]", "open": "[open]", "done": "[done]", "conclusions": "[found]"}
_ENDS = ".!?…"
_WIDE_ENDS = "。\uff01\uff1f”」』"


def line_of(candidate: Candidate) -> str:
    """The piece as a line of the summary: prose of anyone but the user begins with who spoke."""
    if candidate.slot in _TAGS:
        return f"{_TAGS[candidate.slot]} {candidate.text}"
    return candidate.text if candidate.speaker in ("", "user") else f"{candidate.speaker}: {candidate.text}"


def assembled(pieces: Sequence[Candidate]) -> Summary:
    """The summary of the pieces, each field and the prose in the order in which they were said; bare values last."""
    ordered = sorted(pieces, key=lambda piece: piece.place)
    prose = [piece for piece in ordered if piece.slot in ("pinned", "text")]
    lines = _paragraphs(prose)
    bare = [piece.text for slot in ("value", "weak value") for piece in ordered if piece.slot == slot]
    bare = [text for text in bare if not any(text in line for line in lines)]  # chosen first, and then said in a sentence
    lines += [" ".join(bare)] if bare else []
    return Summary(
        decisions=_texts(ordered, "decisions"),
        constraints=_texts(ordered, "constraints"),
        open=_texts(ordered, "open"),
        done=_texts(ordered, "done"),
        conclusions=_texts(ordered, "conclusions"),
        text="\n".join(lines),
        origin=ORIGIN,
    )


def _texts(pieces: Iterable[Candidate], slot: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([piece.text for piece in pieces if piece.slot == slot]))


def _paragraphs(pieces: Iterable[Candidate]) -> list[str]:
    """One line for whole sentences of one message, one for each other piece."""
    lines: list[str] = []
    before: Candidate | None = None
    for piece in pieces:
        same = before is not None and (before.turn, before.speaker) == (piece.turn, piece.speaker)
        if same and piece.speaker != "tool" and lines[-1][-1] in _ENDS + _WIDE_ENDS:
            lines[-1] += piece.text if lines[-1][-1] in _WIDE_ENDS else f" {piece.text}"
        else:
            lines.append(line_of(piece))
        before = piece
    return lines
