"""How much of a new tool result is kept, by the kind of the tool (R159 to R163)."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Literal

from attrs import frozen

from contextport.contracts import InvalidArgument
from contextport.strategies.arguments import check_count

__all__ = ["INGEST_RULES", "IngestRule", "snake_case"]

_KEEPS = ("all", "head", "tail", "head_and_tail")
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^0-9A-Za-z]+")


@frozen(kw_only=True)
class IngestRule:
    """The results of tools whose name matches one of `tools` keep at most `max_tokens`, taken from the ends that `keep` names.

    Patterns are those of `fnmatch`, held to the name as it is and in snake case: `read_file` also matches `ReadFile`, and
    `*read_file` also `mcp__fs__readFile`. With `rereads` the marker names the file and the line from where to read again.
    """

    name: str
    tools: tuple[str, ...]
    keep: Literal["all", "head", "tail", "head_and_tail"] = "head_and_tail"
    max_tokens: int = 10_000
    rereads: bool = False

    def __attrs_post_init__(self) -> None:
        if not self.name or not isinstance(self.tools, tuple):
            raise InvalidArgument(f"the rule {self.name!r} needs a name, and its patterns as a tuple", name="tools")
        if self.keep not in _KEEPS:
            raise InvalidArgument(f"keep is {self.keep!r}; it must be one of {', '.join(_KEEPS)}", name="keep", value=self.keep)
        check_count("max_tokens", self.max_tokens)

    def matches(self, tool: str) -> bool:
        """Whether the rule speaks of the tool of this name."""
        names = (tool, snake_case(tool))
        return any(fnmatchcase(name, pattern) for pattern in self.tools for name in names)


def snake_case(name: str) -> str:
    """The words of a name in lower case, joined by underscores: `mcp__fs__readFile` is `mcp_fs_read_file`."""
    return "_".join(word for word in _BORDER.split(name) if word).lower()


#: Asked in this order; the last one takes every tool. Tools that both show and edit files are of no kind of their own.
INGEST_RULES: tuple[IngestRule, ...] = (
    IngestRule(
        name="file_write",
        tools=(
            "write",
            "edit",
            "*write_file*",
            "*file_write*",
            "write_*",
            "*_write",
            "edit_file*",
            "*_edit",
            "*edit_file*",
            "*create_file*",
            "*apply_patch*",
            "*save_file*",
            "*append_file*",
            "*search_replace*",
        ),
        keep="all",
    ),
    IngestRule(
        name="file_read",
        tools=(
            "read",
            "cat",
            "*read_*file*",
            "*file_read*",
            "read_*text*",
            "*_read_text*",
            "*open_file*",
            "*view_file*",
            "*get_file_content*",
            "*_read",
        ),
        keep="head",
        max_tokens=8_000,
        rereads=True,
    ),
    IngestRule(
        name="command",
        tools=(
            "bash",
            "shell",
            "*_bash",
            "*_shell",
            "bash_*",
            "shell_*",
            "*terminal*",
            "*command*",
            "exec",
            "exec_*",
            "*_exec",
            "execute*",
            "*_execute*",
            "python",
            "*run_code*",
            "*code_interpreter*",
            "*run_tests*",
        ),
        max_tokens=4_000,
    ),
    IngestRule(
        name="search",
        tools=(
            "*search*",
            "*google*",
            "*bing*",
            "*fetch*",
            "*browse*",
            "*crawl*",
            "*scrape*",
            "grep",
            "*_grep",
            "glob",
            "*_glob",
        ),
        max_tokens=4_000,
    ),
    IngestRule(name="other", tools=("*",), max_tokens=10_000),
)
