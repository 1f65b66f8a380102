"""Who may import whom. The table in CONTRIBUTING.md says it in words."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from attrs import frozen

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("contracts", "adapters", "strategies", "conformance_tests")
FOUNDATION = {"attr", "attrs", "zope"}
CHECKERS_GUARD = {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
CHECKERS_ONLY = {"typing_extensions"}
STANDS_ON_STRATEGIES = {"indexes", "managers", "modes", "retrieval"}
#: What libraries hand in and out: an adapter of faiss speaks to it in arrays of numpy.
SPOKEN_BY_OTHERS = {"numpy", "torch"}
PUTS_ADAPTERS_TOGETHER = {"command_line", "wiring"}
MAY_IMPORT = {
    "contracts": {"contracts"},
    "strategies": {"contracts", "strategies"},
    "adapters": {"contracts", "adapters"},
    "conformance_tests": {"contracts", "conformance_tests"},
}


@frozen
class Import:
    """One imported name, written absolutely: `contextport.contracts.Message`, `os.path`."""

    name: str
    line: int
    for_checkers: bool

    @property
    def top(self) -> str:
        return self.name.partition(".")[0]


@frozen
class Module:
    """A module by its path from the root of the repository, such as `adapters/stores/memory.py`."""

    path: str
    source: str

    @property
    def parts(self) -> tuple[str, ...]:
        return Path(self.path).with_suffix("").parts

    @property
    def is_package(self) -> bool:
        return self.parts[-1] == "__init__"

    def imports(self) -> list[Import]:
        return list(_imports(ast.parse(self.source), ("contextport", *self.parts[:-1]), False))

    def defines_adapter(self) -> bool:
        """Whether a class here is declared with `@implements(...)`."""
        classes = [node for node in ast.walk(ast.parse(self.source)) if isinstance(node, ast.ClassDef)]
        decorators = [item for node in classes for item in node.decorator_list if isinstance(item, ast.Call)]
        return any(ast.unparse(item.func).endswith("implements") for item in decorators)


def _imports(node: ast.AST, package: tuple[str, ...], for_checkers: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import(alias.name, node.lineno, for_checkers) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package[: len(package) + 1 - node.level] if node.level else ()
        origin = ".".join((*above, *([node.module] if node.module else [])))
        yield from (Import(f"{origin}.{alias.name}", node.lineno, for_checkers) for alias in node.names)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
        literal = node.args[0] if node.args else None
        if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
            yield Import(literal.value, node.lineno, for_checkers)
    guarded = node.body if isinstance(node, ast.If) and ast.unparse(node.test) in CHECKERS_GUARD else []
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, package, for_checkers or child in guarded)


def violations(module: Module, others: tuple[Module, ...] = ()) -> list[str]:
    """What `module` imports against the rule; `others` are the modules it may have to be told apart from."""
    imports = [found for found in module.imports() if found.top not in sys.stdlib_module_names]
    ours = [found for found in imports if found.top == "contextport"]
    foreign = [found for found in imports if found.top != "contextport"]
    problems = [
        *(_of_own_packages(module, found) for found in ours),
        *(_of_other_adapters(module, found, others) for found in ours),
        *_of_libraries(module, foreign),
    ]
    return [problem for problem in problems if problem]


def _of_own_packages(module: Module, found: Import) -> str:
    folder, target = module.parts[0], (*found.name.split("."), "")[1]
    allowed = MAY_IMPORT[folder]
    if folder == "adapters" and module.parts[1] in STANDS_ON_STRATEGIES | PUTS_ADAPTERS_TOGETHER:
        allowed = allowed | {"strategies"}
    return "" if target in allowed else f"{module.path}:{found.line}: {folder} may not import {found.name}"


def _of_other_adapters(module: Module, found: Import, others: tuple[Module, ...]) -> str:
    """The folder of a port holds its adapters; modules that several of them share may lie next to them."""
    path = tuple(found.name.split("."))[1:]
    if module.parts[0] != "adapters" or path[:1] != ("adapters",):
        return ""
    if module.is_package or module.parts[1] in PUTS_ADAPTERS_TOGETHER or path[:3] == module.parts[:3]:
        return ""
    if path[:2] == module.parts[:2] and path[:3] in _shared(others):
        return ""
    return f"{module.path}:{found.line}: one adapter may not import another: {found.name}"


@cache
def _shared(others: tuple[Module, ...]) -> frozenset[tuple[str, ...]]:
    """The modules that are no adapter."""
    return frozenset(other.parts[:3] for other in others) - {other.parts[:3] for other in others if other.defines_adapter()}


def _of_libraries(module: Module, foreign: list[Import]) -> list[str]:
    folder = module.parts[0]
    top_level = [found for found in foreign if found.top in PACKAGES]
    problems = [f"{module.path}:{found.line}: import contextport.{found.name}" for found in top_level]
    libraries = {
        found.top: found.line
        for found in foreign
        if found.top not in FOUNDATION | set(PACKAGES)
        and not (found.for_checkers and found.top in CHECKERS_ONLY)
        and not (folder == "conformance_tests" and found.top == "pytest" and "plugin" in module.path)
    }
    if folder == "adapters" and len(libraries.keys() - SPOKEN_BY_OTHERS) <= 1:
        return problems
    barred = [f"{module.path}:{line}: {folder} may not import {name}" for name, line in libraries.items()]
    return problems + barred


def modules(*folders: str) -> tuple[Module, ...]:
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return tuple(Module(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in paths)


def test_every_module_keeps_the_rule() -> None:
    all_modules = modules(*PACKAGES)
    assert {module.parts[0] for module in all_modules} == set(PACKAGES)
    assert [problem for module in all_modules for problem in violations(module, all_modules)] == []


def test_no_test_or_benchmark_imports_a_folder_by_its_bare_name() -> None:
    outside = [(module, found) for module in modules("tests", "benchmarks") for found in module.imports()]
    assert [f"{module.path}:{found.line}" for module, found in outside if found.top in PACKAGES] == []


SIBLINGS = (
    Module("adapters/stores/sqlite.py", "@implements(ContextStore)\nclass SqliteContextStore: ..."),
    Module("adapters/stores/rows.py", "class Row: ..."),
    Module("adapters/tokenizers/heuristic.py", "@contracts.implements(TokenCounter)\nclass Heuristic: ..."),
)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("contracts/a.py", "from contextport.strategies import KeepRecentTurns"),
        ("contracts/a.py", "from ..adapters import stores"),
        ("contracts/a.py", "import contextport"),
        ("contracts/a.py", "import pytest"),
        ("contracts/a.py", "def late():\n    import tiktoken"),
        ("contracts/a.py", "from importlib import import_module\nimport_module('contextport.adapters')"),
        ("contracts/a.py", "from typing_extensions import TypeIs"),
        ("contracts/a.py", "if TYPE_CHECKING:\n    from contextport.adapters import stores"),
        ("contracts/a.py", "if TYPE_CHECKING:\n    pass\nelse:\n    import typing_extensions"),
        ("contracts/a.py", "if not TYPE_CHECKING:\n    import typing_extensions"),
        ("contracts/a.py", "import contracts"),
        ("strategies/a.py", "import contextport.adapters.stores"),
        ("strategies/a.py", "import tokenizers"),
        ("strategies/a.py", "from contracts.errors import ContextPortError"),
        ("adapters/stores/memory.py", "from contextport.strategies import KeepRecentTurns"),
        ("adapters/stores/memory.py", "from contextport.conformance_tests import plugin"),
        ("adapters/stores/memory.py", "from .sqlite import SqliteContextStore"),
        ("adapters/stores/memory.py", "from . import SqliteContextStore"),
        ("adapters/stores/memory.py", "from contextport.adapters.stores.sqlite import SqliteContextStore"),
        ("adapters/stores/memory.py", "from contextport.adapters.tokenizers import heuristic"),
        ("adapters/managers/engine.py", "from contextport.adapters.stores.sqlite import SqliteContextStore"),
        ("adapters/stores/redis.py", "import redis\nimport requests"),
        ("adapters/indexes/flat.py", "import numpy\nimport faiss\nimport hnswlib"),
        ("conformance_tests/store_rules.py", "import pytest"),
        ("conformance_tests/store_rules.py", "from contextport.strategies import KeepRecentTurns"),
        ("conformance_tests/plugin.py", "import requests"),
    ],
)
def test_planted_violation_is_found(path: str, source: str) -> None:
    assert violations(Module(path, source), SIBLINGS) != []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("contracts/a.py", "import os.path\nfrom attrs import frozen\nfrom zope.interface import Interface"),
        ("contracts/a.py", "from .errors import ContextPortError\nfrom contextport.contracts import errors"),
        ("contracts/a.py", "if TYPE_CHECKING:\n    from typing_extensions import TypeIs"),
        ("strategies/a.py", "from contextport.contracts import Message\nfrom .atoms import Step"),
        ("adapters/stores/memory.py", "from contextport.contracts import Message\nfrom .rows import Row"),
        ("adapters/stores/redis.py", "import redis\nfrom redis import asyncio"),
        ("adapters/indexes/flat.py", "import numpy\nimport faiss"),
        ("adapters/retrieval/history.py", "from contextport.strategies.retrieval import terms_of"),
        ("adapters/stores/__init__.py", "from .sqlite import SqliteContextStore"),
        ("adapters/managers/engine.py", "from contextport.strategies import KeepRecentTurns"),
        (
            "adapters/command_line/main.py",
            "from contextport.adapters.stores.sqlite import SqliteContextStore",
        ),
        ("conformance_tests/store_rules.py", "from contextport.contracts import ContextStore"),
        ("conformance_tests/plugin.py", "import pytest"),
    ],
)
def test_lawful_import_is_left_alone(path: str, source: str) -> None:
    assert violations(Module(path, source), SIBLINGS) == []


BARE_INSTALL = """
import importlib, sys

class OnlyWhatIsRequired:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "attr", "attrs", "zope", "contextport"}:
            raise ModuleNotFoundError(f"{name} is not part of a plain install", name=name)

sys.meta_path.insert(0, OnlyWhatIsRequired())
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def test_a_plain_install_imports_all_that_needs_no_extra() -> None:
    """Nothing pulls in a library behind the back of a module that does not name one itself."""
    needs_nothing = [
        ".".join(("contextport", *module.parts)).removesuffix(".__init__")
        for module in modules(*PACKAGES)
        if all(
            found.for_checkers or found.top in {"contextport", *FOUNDATION, *sys.stdlib_module_names}
            for found in module.imports()
        )
    ]
    assert {f"contextport.{package}" for package in PACKAGES} <= set(needs_nothing)
    command = [sys.executable, "-c", BARE_INSTALL, *needs_nothing]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


EACH_BY_ITSELF = """
for name in names:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, error, sep=": ")
"""


def test_an_adapter_without_its_library_says_which_extra_brings_it() -> None:
    """Each is imported on a plain install. What it says has to be an extra that there is."""
    libraries = {
        ".".join(("contextport", *module.parts))
        for module in modules("adapters")
        if any(found.top not in {"contextport", *FOUNDATION, *sys.stdlib_module_names} for found in module.imports())
    } - {"contextport.adapters.modes.rules_file"}  # works without its library, and says what watching needs
    source = BARE_INSTALL.partition("for name in")[0] + "names = sys.argv[1:]\n" + EACH_BY_ITSELF
    done = subprocess.run([sys.executable, "-c", source, *sorted(libraries)], capture_output=True, text=True)
    told = re.findall(
        r"^(\S+): this adapter needs the package [\w.]+: pip install 'contextport\[(.+)\]'$", done.stdout, re.MULTILINE
    )
    assert [name for name, _ in told] == sorted(libraries), done.stdout + done.stderr
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {extra for _, extra in told} <= set(extras)
