"""The entry point of the command `contextport`."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from contextport.contracts import ContextPortError

from . import export, fit, logs
from .arguments import parser
from .terminal import OutputFailed, Terminal, silence

__all__ = ["main"]

_COMMANDS = {
    "fit": fit.fit,
    "sessions": logs.sessions,
    "show": logs.show,
    "export": export.export,
    "replay": logs.replay,
}
_ERROR, _INTERNAL, _INTERRUPTED, _BROKEN_PIPE = 1, 70, 130, 141  # 70 as in sysexits.h, the last two as shells report the signals
_DEBUG = "CONTEXTPORT_DEBUG"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code: 0 done, 1 an error and 70 a fault of ours, each one line on standard error.

    Wrong usage ends in `SystemExit(2)`, as argparse does it. With CONTEXTPORT_DEBUG set, a fault of ours is raised.
    """
    terminal = Terminal(out=_usable(sys.stdout, _closed()), err=_usable(sys.stderr, io.StringIO()))
    try:
        _run(arguments, terminal)
    except (ContextPortError, OutputFailed) as error:
        return _failed(terminal, str(error), _ERROR)
    except RecursionError:
        return _failed(terminal, "the input is nested too deeply", _ERROR)
    except BrokenPipeError:  # the reader has seen enough
        silence(terminal.out)
        return _BROKEN_PIPE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        if os.environ.get(_DEBUG):
            raise
        said = f"unexpected {type(error).__name__}: {error}; please report it, with the traceback that {_DEBUG}=1 shows"
        return _failed(terminal, said, _INTERNAL)
    return 0


def _run(arguments: Sequence[str] | None, terminal: Terminal) -> None:
    try:
        options = parser().parse_args(arguments)
        asyncio.run(_COMMANDS[options.command](options, _usable(sys.stdin, _closed()), terminal))
    except SystemExit:  # after --help
        terminal.flush()
        raise
    terminal.flush()


def _failed(terminal: Terminal, said: str, code: int) -> int:
    terminal.tell(f"contextport: {' '.join(said.split())}")
    silence(terminal.out)
    return code


def _usable(stream: TextIO | None, otherwise: TextIO) -> TextIO:
    """The stream, speaking UTF-8 as JSON does whatever the locale says; `otherwise` where the program was started without it."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace" if stream.writable() else "strict")
    return otherwise if stream is None else stream


def _closed() -> TextIO:
    stream = io.StringIO()
    stream.close()
    return stream


if __name__ == "__main__":
    sys.exit(main())
