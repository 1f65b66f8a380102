"""What is shipped: the wheel and the sdist hold the four folders whole, and nothing else."""

import email
import importlib
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("contracts", "adapters", "strategies", "conformance_tests")
WRITTEN_BY_US = (*PACKAGES, "tests", "benchmarks", "docs", ".ci")
PERSONAL_PATH = re.compile(r"(?<![\w.:/-])(?:/(?:home|opt|root|tmp|Users|work)/|[A-Z]:\\Users\\)\w")


def files_under(folder: Path) -> Iterator[Path]:
    """Every file of `folder` that somebody wrote."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)


def module_names() -> list[str]:
    paths = [path for package in PACKAGES for path in files_under(ROOT / package) if path.suffix == ".py"]
    parts = [path.relative_to(ROOT).with_suffix("").parts for path in paths]
    return [".".join(("contextport", *part)).removesuffix(".__init__") for part in parts]


def build(destination: Path, *options: str) -> None:
    command = [
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        *options,
        "--outdir",
        str(destination),
        str(ROOT),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built straight from the checkout."""
    destination = tmp_path_factory.mktemp("wheel")
    build(destination, "--wheel")
    [built] = destination.glob("*.whl")
    return built


def content(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_wheel_holds_the_four_folders_and_nothing_else(wheel: Path) -> None:
    files = [path for package in PACKAGES for path in files_under(ROOT / package)]
    expected = {f"contextport/{path.relative_to(ROOT).as_posix()}" for path in files}
    packed = {name for name in content(wheel) if ".dist-info/" not in name}
    assert packed == expected
    assert {f"contextport/{package}/py.typed" for package in PACKAGES} <= packed
    assert "contextport/__init__.py" not in packed


def test_sdist_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    build(tmp_path)
    [through_sdist] = tmp_path.glob("*.whl")
    assert content(through_sdist) == content(wheel)

    [sdist] = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml"} <= names
    folders = {name.partition("/")[0] for name in names if "/" in name}
    assert set(PACKAGES) <= folders <= {*PACKAGES, "docs"}


def test_install_without_extras_needs_attrs_and_zope_interface_only(wheel: Path) -> None:
    [name] = [name for name in content(wheel) if name.endswith(".dist-info/METADATA")]
    with zipfile.ZipFile(wheel) as archive:
        metadata = email.message_from_bytes(archive.read(name))
    required = [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]
    plain = [need.name for need in required if need.marker is None or need.marker.evaluate({"extra": ""})]
    assert sorted(canonicalize_name(name) for name in plain) == ["attrs", "zope-interface"]
    assert {"tokenizers", "tiktoken", "conformance", "test"} <= set(metadata.get_all("Provides-Extra", []))


def test_every_version_the_test_extra_names_is_pinned() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = {Requirement(text).name for texts in extras.values() for text in texts} - {"contextport"}
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert all(str(pin.specifier).startswith("==") for pin in pins)
    assert wanted <= {pin.name for pin in pins}


@pytest.mark.parametrize("name", module_names())
def test_module_imports_by_its_installed_name(name: str) -> None:
    assert importlib.import_module(name).__name__ == name


def test_namespace_package_has_no_init() -> None:
    assert sorted(path.name for path in (ROOT / ".dev" / "contextport").iterdir()) == sorted(PACKAGES)
    assert importlib.import_module("contextport").__file__ is None


def personal_paths(text: str) -> list[str]:
    """Lines that name a place on somebody's own machine."""
    return [line for line in text.splitlines() if PERSONAL_PATH.search(line)]


@pytest.mark.parametrize("folder", ["home", "opt", "root", "tmp", "Users", "work"])
def test_personal_path_is_recognised(folder: str) -> None:
    assert personal_paths(f'open("/{folder}/me/data.json")')
    assert not personal_paths(f"https://example.org/{folder}/me and src/{folder}/me and a{folder}/b")


def test_no_file_names_a_place_on_one_machine() -> None:
    nested = [path for folder in WRITTEN_BY_US for path in files_under(ROOT / folder)]
    at_top = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    found: list[str] = []
    for path in (*nested, *at_top):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a database or an image
            continue
        found += [f"{path.relative_to(ROOT)}: {line.strip()}" for line in personal_paths(text)]
    assert found == []
