"""Numbers for the templates of provider errors: those of one error fit each other, as they would in a real one."""

from __future__ import annotations

import random
import re
from typing import Any

from attrs import frozen

__all__ = ["Rendered", "render"]

_WINDOWS = (4_096, 8_192, 16_384, 32_768, 65_536, 128_000, 131_072, 200_000, 272_000, 1_048_576)
_NAMES = ("gpt-4o-2024-08-06", "org-A1b2C3d4", "qwen3-480b-a35b", "claude-opus-4-8", "7m12.5s", "req_0123456789", "2024-10-21")
_GROUPED = ("", "", ",", "_", "\u202f", ".")


@frozen(kw_only=True)
class Rendered:
    """A message with its numbers: (role, number) in the order of the template."""

    message: str
    numbers: tuple[tuple[str, int], ...]


def render(entry: dict[str, Any], attempt: int) -> Rendered:
    """Fill in the template. The same entry and attempt give the same text."""
    chance = random.Random(f"{entry['id']} {attempt}")
    roles = list(entry["number_roles"])
    values = _values(chance, roles, entry)
    window = values["limit"]
    separator = _GROUPED[attempt % len(_GROUPED)]
    used: list[tuple[str, int]] = []
    queue = list(roles)

    def number(found: re.Match[str]) -> str:
        role = queue.pop(0) if queue else ""
        if found[0] == "{w}":
            value = window
        elif found[0] == "{n}":
            value = values[role] if role else _of_no_role(entry, chance)
        else:
            return chance.choice(_NAMES)
        if role:
            used.append((role, value))
        return _written(value, separator if role not in ("", "index", "seconds") else "")

    message = re.sub(r"\{[nw]\}", number, entry["message_template"])
    message = re.sub(r"\{s\}", lambda _: chance.choice(_NAMES), message)
    return Rendered(message=message, numbers=tuple(used))


def _written(value: int, separator: str) -> str:
    return f"{value:,}".replace(",", separator) if separator else str(value)


def _of_no_role(entry: dict[str, Any], chance: random.Random) -> int:
    """A number in the text that counts nothing: the code again, or a small one."""
    code = str(entry["code"] or "")
    return int(code) if code.isdigit() else chance.randrange(3, 60)


def _values(chance: random.Random, roles: list[str], entry: dict[str, Any]) -> dict[str, int]:
    window = chance.choice(_WINDOWS)
    over = chance.randrange(1, window)
    values = {"limit": window, "excess": over, "index": chance.randrange(0, 40), "seconds": chance.randrange(1, 59)}
    if ("output" in roles and entry["is_overflow"]) or entry["kind"] == "input_plus_output":
        output = chance.randrange(window // 8, window // 2)
        counted = window - output + chance.randrange(1, output)
        total = counted + output
    else:
        output = window // 2 + 1
        counted, total = window + over, window + over
    if entry["kind"] == "output_cap" and "input" in roles:
        output, counted = window // 2 + 10, window // 2 + 5
    values |= {"input": counted, "total": total, "output": output, "messages": counted, "text": counted, "requested": total}
    if "tools" in roles:
        values["tools"] = counted // 10
        values["messages"] = values["text"] = counted - counted // 10
    values |= {
        "available": window - counted,
        "max_input": max(1, window - output),
        "input_lower_bound": window + 1 - output,
        "total_lower_bound": window + 1,
        "draft": 8,
        "unknown": counted,
        "output_limit": chance.choice((4_096, 8_192, 16_384, 64_000)),
        "count_limit": chance.randrange(20, 128),
        "page_limit": 100,
        "items": 2_049,
        "limit_chars": 40 * (1 + chance.randrange(900)),
        "limit_bytes": 1_048_576 * chance.randrange(1, 40),
        "tpm_limit": window,
        "quota_limit": window,
        "credit_limit": window,
        "budget": window,
        "used": window - 100,
    }
    values["chars"] = values["limit_chars"] + chance.randrange(1, 9_000)
    values["bytes"] = values["limit_bytes"] + chance.randrange(1, 900_000)
    if "output_limit" in roles:
        values["output"] = values["output_limit"] + chance.randrange(1, 9_000)
    if "tpm_limit" in roles:
        values["requested"] = window + over if entry["kind"] == "tpm_single_request" else 200
    return values
