"""The tables of a lexical index, and what is done to them, as plain functions of a connection with a transaction open.

All spaces share one table of terms. A term is written with the number of its space before it, `12_budget`, so that a look-up
reads what one space has of it and nothing else. The stemmer takes number and `_` for consonants at the front of the word, which
it never cuts. Nothing of a text or a question is ever read as a query of FTS5: terms are looked up in its table of instances.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence

from contextport.contracts.retrieval import Matches

__all__ = ["APPLICATION_ID", "OF_CONNECTION", "TABLES", "VERSION", "Cut", "add", "drop", "matches", "newest"]

APPLICATION_ID = 0x43545849  # "CTXI"
VERSION = 1

Cut = tuple[int, Sequence[str]]
"""An id, and the terms of its text."""

# All that is not ASCII belongs to a term as it is: terms come folded.
_CUT_AND_STEM = "tokenize = \"porter ascii tokenchars '_.'\", columnsize = 0"
TABLES = (
    # A name has no type: text as such, or a blob where it has lone surrogates.
    "CREATE TABLE spaces (key INTEGER PRIMARY KEY, name NOT NULL UNIQUE, texts INTEGER NOT NULL, terms INTEGER NOT NULL)",
    """
    CREATE TABLE texts (
        key INTEGER PRIMARY KEY,
        space INTEGER NOT NULL,
        id INTEGER NOT NULL,
        length INTEGER NOT NULL,
        UNIQUE (space, id)
    )
    """,
    f"CREATE VIRTUAL TABLE postings USING fts5 (terms, {_CUT_AND_STEM})",
)
OF_CONNECTION = (
    "CREATE VIRTUAL TABLE temp.places USING fts5vocab (main, postings, instance)",
    f"CREATE VIRTUAL TABLE temp.question USING fts5 (terms, {_CUT_AND_STEM})",
    "CREATE VIRTUAL TABLE temp.stems USING fts5vocab (question, row)",
)

_SPACE = "SELECT key, texts, terms FROM spaces WHERE name = ?"
_NEW_SPACE = "INSERT INTO spaces (name, texts, terms) VALUES (?, 0, 0)"
_TEXT = "SELECT key, length FROM texts WHERE space = ? AND id = ?"
_NEW_TEXT = "INSERT INTO texts (space, id, length) VALUES (?, ?, ?)"
_NEW_TERMS = "INSERT OR REPLACE INTO postings (rowid, terms) VALUES (?, ?)"
_GROWN = "UPDATE spaces SET texts = texts + ?, terms = terms + ? WHERE key = ?"
# As one text each: a row for every place a term stands at takes twice the time, most of it in Python.
_PLACES = """
    SELECT json_group_array(t.id), json_group_array(t.length)
    FROM temp.places p CROSS JOIN texts t ON t.key = p.doc WHERE p.term = ?
"""
_NEWEST = "SELECT max(t.id) FROM spaces s JOIN texts t ON t.space = s.key WHERE s.name = ?"
_DROP = (
    "DELETE FROM postings WHERE rowid IN (SELECT key FROM texts WHERE space = ?)",
    "DELETE FROM texts WHERE space = ?",
    "DELETE FROM spaces WHERE key = ?",
)
_LEFT = "SELECT total(texts) FROM spaces"
_OPTIMIZE = "INSERT INTO postings (postings) VALUES ('optimize')"


def add(connection: sqlite3.Connection, space: str, texts: Sequence[Cut]) -> None:
    """Store the terms of texts, in the place of those that an id had before."""
    row = connection.execute(_SPACE, (_value(space),)).fetchone()
    key = row[0] if row else connection.execute(_NEW_SPACE, (_value(space),)).lastrowid
    new_texts = new_terms = 0
    for text_id, terms in texts:
        before = connection.execute(_TEXT, (key, text_id)).fetchone()
        if before is None:
            text = connection.execute(_NEW_TEXT, (key, text_id, len(terms))).lastrowid
            new_texts += 1
        else:
            text, length = before
            connection.execute("UPDATE texts SET length = ? WHERE key = ?", (len(terms), text))
            new_terms -= length
        new_terms += len(terms)
        connection.execute(_NEW_TERMS, (text, _in_space(key, terms)))
    connection.execute(_GROWN, (new_texts, new_terms, key))


def matches(connection: sqlite3.Connection, space: str, question: Sequence[str]) -> Matches:
    """Where the terms of a question stand in a space. Leaves the question in the transaction, which is to be undone."""
    row = connection.execute(_SPACE, (_value(space),)).fetchone()
    if row is None or not row[1]:
        return Matches()
    key, texts, terms = row
    connection.execute("INSERT INTO temp.question (terms) VALUES (?)", (_in_space(key, list(dict.fromkeys(question))),))
    postings: dict[str, dict[int, int]] = {}
    lengths: dict[int, int] = {}
    for (stem,) in connection.execute("SELECT term FROM temp.stems").fetchall():
        ids_as_json, lengths_as_json = connection.execute(_PLACES, (stem,)).fetchone()
        ids: list[int] = json.loads(ids_as_json)
        postings[stem.partition("_")[2]] = dict(Counter(ids))
        lengths.update(zip(ids, json.loads(lengths_as_json), strict=True))
    return Matches(postings=postings, lengths=lengths, texts=texts, mean_length=terms / texts)


def newest(connection: sqlite3.Connection, space: str) -> int | None:
    """The highest id of a space."""
    found: int | None = connection.execute(_NEWEST, (_value(space),)).fetchone()[0]
    return found


def drop(connection: sqlite3.Connection, space: str) -> None:
    """Remove the texts of a space."""
    row = connection.execute(_SPACE, (_value(space),)).fetchone()
    if row is None:
        return
    for statement in _DROP:
        connection.execute(statement, row[:1])
    # FTS5 keeps removed terms until it merges; merging all costs what is left, and pays if that is no more than what went.
    if connection.execute(_LEFT).fetchone()[0] <= row[1]:
        connection.execute(_OPTIMIZE)


def _in_space(key: int | None, terms: Sequence[str]) -> str:
    return " ".join([f"{key}_{term}" for term in terms])


def _value(text: str) -> str | bytes:
    """Text as such where UTF-8 can hold it; a blob where it has lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text
