"""Put other people's compaction through our conformance suite, and write docs/scoreboard.md.

    python -m benchmarks.incumbents.run [--environments DIR] [--only SYSTEM ...] [--keep-results]

Each system gets a virtual environment of its own with its published version, the wheel of this checkout and pytest. The suite
runs there, and so does every reproduction: a script that shows a failure with the bare system, without our wrapper.
The network is needed the first time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from .scoreboard import Ran, scoreboard
from .systems import SYSTEMS, System

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(tempfile.gettempdir()) / "contextport-incumbents"
    parser.add_argument("--environments", type=Path, default=default, metavar="DIR", help=f"default: {default}")
    parser.add_argument("--only", nargs="+", choices=[system.name for system in SYSTEMS], metavar="SYSTEM")
    parser.add_argument("--keep-results", action="store_true", help="reuse the results of the last run where there are some")
    options = parser.parse_args()
    wheel = None if options.keep_results else build_wheel(options.environments / "wheel")
    ran: list[Ran] = []
    for system in SYSTEMS:
        folder: Path = options.environments / system.module
        result = folder / "results.json"
        wanted = options.only is None or system.name in options.only
        if wheel is not None and wanted:
            print(f"{system.name}: installing", file=sys.stderr, flush=True)
            install(folder, system, wheel)
            print(f"{system.name}: running the suite", file=sys.stderr, flush=True)
            call(folder, "-m", "benchmarks.incumbents.check", system.module, str(result))
        if result.exists():
            ran.append(read(folder, system, result))
    page = ROOT / "docs" / "scoreboard.md"
    page.write_text(scoreboard(ran), encoding="utf-8")
    print(f"wrote {page.relative_to(ROOT)}", file=sys.stderr)


def build_wheel(folder: Path) -> Path:
    """The wheel of this checkout."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.whl"):
        old.unlink()
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    [wheel] = folder.glob("*.whl")
    return wheel


def install(folder: Path, system: System, wheel: Path) -> None:
    if not python(folder).exists():
        venv.create(folder, with_pip=True)
    requirements = [f"{wheel}[conformance]", *([system.requirement] if system.requirement else [])]
    run(str(python(folder)), "-m", "pip", "install", "--quiet", *requirements)
    run(str(python(folder)), "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel))


def read(folder: Path, system: System, result: Path) -> Ran:
    """The results, and what the bare system does in the reproductions of its failures."""
    found: dict[str, list[dict[str, Any]]] = json.loads(result.read_text(encoding="utf-8"))
    scripts = sorted({HERE / "reproductions" / finding.reproduction for finding in system.findings if finding.reproduction})
    outputs = {script.name: (script.read_text(encoding="utf-8"), call(folder, str(script))) for script in scripts}
    return Ran(system=system, results=found, reproductions=outputs)


def python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def call(folder: Path, *arguments: str) -> str:
    return run(str(python(folder)), "-W", "ignore", *arguments)


def run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
