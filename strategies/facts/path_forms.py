"""Paths of files as they are written: from a root or from here, of Windows and of its shares, on other machines."""

from __future__ import annotations

import re
from re import Match

__all__ = ["LETTER", "PATHS", "REMOTE_PATHS", "path_forms", "remote_path_forms"]

#: Letters of alphabets that are written with spaces. Others, such as Han and kana, end a value.
LETTER = "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u03ff\u0400-\u04ff"

_WIDE = r"(?![和或及在是看把给从里请再就了])[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # none of the words that stand after paths
_NAME_SIGN = rf"(?:{_WIDE}|[{LETTER}0-9_.@%+~()-])"
_SEGMENT = f"[{LETTER}0-9_.@%+~-]{{1,255}}+"
_WIDE_FOLDER = rf"[0-9]{{0,8}}{_WIDE}{_NAME_SIGN}{{0,80}}+"
_END = r"\.[A-Za-z][A-Za-z0-9]{0,9}(?![A-Za-z0-9_]|\.[A-Za-z0-9])"
_WIDE_FILE = (
    rf"(?:[{LETTER}0-9_.@%+~-]{{0,60}}[0-9_-])?{_WIDE}{_NAME_SIGN}{{0,80}}?{_END}"  # what has no ending may be a sentence
)
_REST = rf"(?:/(?:{_SEGMENT}|{_WIDE_FOLDER})(?=/)){{0,63}}+(?:/(?:{_WIDE_FILE}|{_SEGMENT}))?/?"
_FIRST = rf"/(?:[{LETTER}0-9_.@%+~-]|{_WIDE_FILE}|{_WIDE_FOLDER}/)"
_SIGN = r"[^\s\\/:*?\"'<>|,;\u3000-\u303f\uff00-\uffef]"
_PLAIN = r"[^\s:*?\"'<>|,;\\\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]{1,255}"
_FOLDER = rf"{_SIGN}{{1,255}}+(?: (?=[A-Z0-9(]){_SIGN}{{1,80}}+){{0,3}}"  # words after a space begin with a capital
_FOLDERS = rf"(?:{_FOLDER}\\){{0,64}}+(?:{_WIDE_FILE}|{_PLAIN})?"

#: Paths that are no URLs.
PATHS = re.compile(
    rf"(?<![{LETTER}0-9_./~%:\\-])"
    rf"(?:(?:~|\.{{1,2}})?(?={_FIRST}){_REST}"  # from a root, or from here
    rf"|{_SEGMENT}(?={_FIRST}){_REST}"
    rf"|[A-Za-z]:\\(?={_SIGN}){_FOLDERS}"
    rf"|\\\\[A-Za-z0-9._$-]{{1,64}}\\(?={_SIGN}){_FOLDERS})"
)

#: Paths on another machine, as git and ssh have them.
REMOTE_PATHS = re.compile(
    r"(?<![A-Za-z0-9._%+-])([A-Za-z0-9._-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}):"
    r"[/~]?(?:[A-Za-z0-9_.~+-]{1,100}/){1,20}[A-Za-z0-9_.~+-]{0,100}"
)

_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}/?\Z")
_EXACT = re.compile("[0-9_.]|[a-z][A-Z]")
_NARROW_END = re.compile(rf"(?<![{LETTER}0-9_.-])[{LETTER}0-9_][{LETTER}0-9_.-]*\Z")
_ANY = 512  # characters in which a letter or digit is looked for


def path_forms(match: Match[str]) -> tuple[str, ...] | None:
    """The path, its length being that of the first form or one more, then the name of the file; None if it is no path."""
    path = match[0].rstrip(".,;:!?")
    name = path.rstrip("/").replace("\\", "/").rsplit("/", 1)[-1]
    rooted = path[:1] in ("/", "~", ".", "\\") or ":\\" in path
    if not rooted and not _EXTENSION.search(path) and (path.count("/") < 2 or path.replace("/", "").isdigit()):
        return None
    if not any(sign.isalnum() for sign in path[:_ANY]):
        return None
    return (path, *_names(name))


def remote_path_forms(match: Match[str]) -> tuple[str, ...]:
    """The path, who is at which machine, and the name of the file."""
    path = match[0].rstrip(".,;:!?")
    return (path, match[1].lower(), *_names(path.rstrip("/").rsplit("/", 1)[-1]))


def _names(name: str) -> tuple[str, ...]:
    """The name of a file, and what of it stands behind letters that are written without spaces, if they are exact."""
    end = _NARROW_END.search(name)
    return tuple(dict.fromkeys([form for form in (name, end[0] if end else name) if _EXACT.search(form)]))
