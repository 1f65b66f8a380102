"""The entry point of the command `contextport`."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from contextport.contracts import ContextPortError

from . import fit, logs
from .arguments import parser
from .terminal import Terminal

__all__ = ["main"]

_COMMANDS = {"fit": fit.fit, "sessions": logs.sessions, "show": logs.show, "replay": logs.replay}
_ERROR, _INTERRUPTED, _BROKEN_PIPE = 1, 130, 141  # the last two as shells report the signals


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code: 0 done, 1 an error of ours, which is one line on standard error.

    Wrong usage ends in `SystemExit(2)`, as argparse does it.
    """
    options = parser().parse_args(arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        _speak_utf8(stream)
    try:
        asyncio.run(_COMMANDS[options.command](options, sys.stdin, Terminal(out=sys.stdout, err=sys.stderr)))
        sys.stdout.flush()
    except ContextPortError as error:
        print(f"contextport: {' '.join(str(error).split())}", file=sys.stderr)
        return _ERROR
    except BrokenPipeError:  # the reader has seen enough; keep Python from complaining when it closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def _speak_utf8(stream: TextIO) -> None:
    """JSON is UTF-8, whatever the locale says."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace" if stream.writable() else "strict")


if __name__ == "__main__":
    sys.exit(main())
