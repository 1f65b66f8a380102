"""The command line as argparse sees it."""

from __future__ import annotations

import argparse
from decimal import Decimal, InvalidOperation
from importlib.metadata import PackageNotFoundError, version

from .choices import COUNTERS, STRATEGIES
from .conversation_files import ACCEPTED

__all__ = ["parser"]

_EXITS = "Exit codes: 0 done, 1 an error that the message names, 2 a command line that cannot be read, 70 a fault of contextport."
_STRATEGIES = (
    "recent: the newest steps that fit; turns: the fewest newest turns that hold 8 messages, however much room is left, or as "
    "recent where these do not fit; shorten: long messages are shortened first, then as recent"
)


def parser() -> argparse.ArgumentParser:
    """The parser of `contextport`."""
    top = argparse.ArgumentParser(
        prog="contextport", description="Decides what a language model sees of a long conversation.", epilog=_EXITS
    )
    top.add_argument("--version", action="version", version=f"contextport {_version()}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _fit(commands.add_parser("fit", help="print what of a conversation fits a budget", epilog=_EXITS))

    sessions = commands.add_parser("sessions", help="list the sessions of a log", epilog=_EXITS)
    sessions.add_argument("database", metavar="DB", help="SQLite file of a log")

    show = commands.add_parser("show", help="print a session's log, its folds, and a window of it", epilog=_EXITS)
    show.add_argument("database", metavar="DB", help="SQLite file of a log")
    show.add_argument("session", metavar="SESSION", help="id of the session")
    show.add_argument("--receipt", action="store_true", help="print only the receipt of the window, for replay")
    _epoch(show)
    _budget(show, required=False)
    _how(show)

    export = commands.add_parser("export", help="print messages, summaries, facts and transitions of a session", epilog=_EXITS)
    export.add_argument("database", metavar="DB", help="SQLite file of a log")
    export.add_argument("session", metavar="SESSION", help="id of the session")
    export.add_argument("--json", action="store_true", help="one JSON object instead of text, an item in a line")
    _epoch(export)

    replay = commands.add_parser("replay", help="print what a model saw, byte for byte", epilog=_EXITS)
    replay.add_argument("database", metavar="DB", help="SQLite file of a log")
    replay.add_argument("receipt", metavar="RECEIPT", help="file of a receipt, '-' for standard input, or its JSON text")
    return top


def _fit(fit: argparse.ArgumentParser) -> None:
    fit.description = f"Reads {ACCEPTED}, and prints what fits on standard output, an account of it on standard error."
    fit.add_argument("file", metavar="FILE", help="the conversation; '-' for standard input")
    _budget(fit, required=True)
    fit.add_argument(
        "--margin",
        type=_share,
        default=Decimal(0),
        metavar="SHARE",
        help="share of the budget to leave free, since an estimate may be too low: 0.1 leaves a tenth; default: 0",
    )
    _how(fit)
    fit.add_argument("--index", type=_whole_number, metavar="N", help="which conversation, of a file with several; from 0")
    fit.add_argument("--system", metavar="TEXT", help="system prompt; replaces one that the file begins with")
    fit.add_argument(
        "--format",
        choices=("openai", "json"),
        default="openai",
        help="openai: array of chat messages (default); json: object with messages and account",
    )
    fit.add_argument("--receipt", metavar="OUT", help="write the receipt of the window to this file")


def _budget(command: argparse.ArgumentParser, *, required: bool) -> None:
    default = "" if required else "; default: half of a window of 128000"
    command.add_argument(
        "--budget", type=_whole_number, required=required, metavar="N", help=f"tokens for all that is sent{default}"
    )


def _epoch(command: argparse.ArgumentParser) -> None:
    command.add_argument("--epoch", type=_whole_number, metavar="N", help="which epoch, from 1; default: the current one")


def _how(command: argparse.ArgumentParser) -> None:
    command.add_argument("--counter", default="heuristic", metavar="COUNTER", help=f"{COUNTERS}; default: heuristic")
    command.add_argument("--strategy", default="recent", choices=tuple(STRATEGIES), help=f"{_STRATEGIES}; default: recent")


def _whole_number(text: str) -> int:
    """A number of tokens or a place in a list. What is too small is said by the library, with its numbers."""
    try:
        return int(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def _share(text: str) -> Decimal:
    """A share of the budget, exact: a tenth of 30 is 3."""
    try:
        share = Decimal(text)
        if 0 <= share < 1:
            return share
    except InvalidOperation:  # no number, or one that has no order
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is not a share; give a number from 0 up to, not including, 1")


def _version() -> str:
    try:
        return version("contextport")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "of a checkout"
