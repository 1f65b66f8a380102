"""Machine text with fixed seeds: what tools return and what people paste, without shipping any of it.

The generators of :data:`BOTH` serve the fit with one seed and the judging with another; the others serve only one.
"""

# ruff: noqa: RUF001 - mathematical symbols are the point

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator
from typing import Any

_WORDS = (
    "order", "status", "invoice", "region", "user", "report", "total", "pending", "shipped", "payment",
    "address", "city", "summary", "method", "request", "error", "timeout", "worker", "queue", "session",
    "token", "retry", "backup", "index", "cache", "customer", "price", "update",
)  # fmt: skip


def _blob(draw: random.Random, low: int, high: int) -> bytes:
    return draw.randbytes(draw.randint(low, high))


def _word(draw: random.Random) -> str:
    return draw.choice(_WORDS)


def _record(draw: random.Random) -> dict[str, Any]:
    return {
        "id": draw.randint(1000, 99999999),
        "uid": str(uuid.UUID(bytes=draw.randbytes(16))),
        f"{_word(draw)}_{_word(draw)}": round(draw.uniform(0, 5000), 2),
        _word(draw): f"{_word(draw)} {_word(draw)} {_word(draw)}",
        "active": draw.random() < 0.5,
        "created": f"2025-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}T{_clock(draw)}Z",
        "tags": [_word(draw) for _ in range(draw.randint(0, 3))],
    }


def _tool_result(draw: random.Random) -> dict[str, Any]:
    return {
        "ok": True,
        "results": [
            {"sku": "".join(draw.choices(string.ascii_uppercase + string.digits, k=8)), "qty": draw.randint(0, 99),
             "unit_price": draw.randint(99, 99999) / 100, "etag": draw.randbytes(8).hex()}
            for _ in range(draw.randint(1, 5))
        ],
        "next_page": base64.b64encode(draw.randbytes(12)).decode(),
        "took_ms": draw.randint(1, 900),
    }  # fmt: skip


def _clock(draw: random.Random) -> str:
    return f"{draw.randint(0, 23):02}:{draw.randint(0, 59):02}:{draw.randint(0, 59):02}"


def _log_line(draw: random.Random) -> str:
    stamp = f"2025-{draw.randint(1, 12):02}-{draw.randint(1, 28):02} {_clock(draw)},{draw.randint(0, 999):03}"
    level = draw.choice(("INFO", "DEBUG", "WARNING", "ERROR"))
    event = f"[{_word(draw)}.{_word(draw)}] {_word(draw)} {_word(draw)} id={draw.randint(1, 10**6)}"
    return f"{stamp} {level} {event} took {draw.uniform(0, 900):.1f} ms"


def _access_line(draw: random.Random) -> str:
    address = ".".join(str(draw.randint(1, 254)) for _ in range(4))
    request = f"GET /api/v{draw.randint(1, 3)}/{_word(draw)}/{draw.randint(1, 99999)} HTTP/1.1"
    status = draw.choice((200, 304, 404, 500))
    return (
        f'{address} - - [{draw.randint(1, 28):02}/Mar/2025:{_clock(draw)} +0000] "{request}" {status} {draw.randint(80, 99999)}'
    )


def _url(draw: random.Random) -> str:
    signature = base64.urlsafe_b64encode(draw.randbytes(15)).decode()
    query = f"{_word(draw)}={draw.randint(1, 9999)}&sig={signature}"
    return f"https://{_word(draw)}.example.com/{_word(draw)}/{draw.randbytes(6).hex()}?{query}"


def _short_url(draw: random.Random) -> str:
    path = f"{_word(draw)}-{_word(draw)}/{draw.randint(2000, 2025)}/{_word(draw)}.html#{_word(draw)}"
    return f"http://www.{_word(draw)}{_word(draw)}.org/{path}"


def _escaped(draw: random.Random, low: int, high: int) -> str:
    return json.dumps({"text": "".join(chr(draw.randint(low, high)) for _ in range(60)), "n": draw.randint(1, 99)})


def _table_row(draw: random.Random) -> str:
    return f"| {_word(draw):<14} | {draw.randint(1, 9999):>8} | {_word(draw):<12} | {draw.uniform(0, 99):>9.2f} |"


def _rule(draw: random.Random) -> str:
    title = f"{_word(draw)} {_word(draw)}"
    return f"{title}\n{draw.choice('-=*#_~.') * draw.randint(8, 90)}"


def _python_dict(draw: random.Random) -> str:
    return repr(_record(draw))


def _trace(draw: random.Random) -> str:
    where = f'"/usr/lib/python3/{_word(draw)}/{_word(draw)}.py", line {draw.randint(1, 2000)}'
    call = f"self.{_word(draw)}({_word(draw)}, {_word(draw)}={draw.randint(0, 9)})"
    return f"  File {where}, in {_word(draw)}_{_word(draw)}\n    return {call}"


_RARE_SCRIPTS = (
    (0x0700, 0x074A), (0x0F00, 0x0F6C), (0x10A0, 0x10FF), (0x1200, 0x137C), (0x13A0, 0x13F4), (0x1401, 0x1676),
    (0x16A0, 0x16EA), (0x1820, 0x1877), (0x1B05, 0x1B4B), (0x1F00, 0x1FFC), (0x2800, 0x28FF), (0x2C80, 0x2CE0),
    (0x3105, 0x312D), (0x3400, 0x4DB5), (0xA000, 0xA48C), (0xE000, 0xF8FF), (0xFF01, 0xFF9D), (0x10300, 0x1031E),
    (0x1D400, 0x1D7FF), (0x20000, 0x2A6D6),
)  # fmt: skip


def _rare_script(draw: random.Random) -> str:
    low, high = draw.choice(_RARE_SCRIPTS)
    return "".join(chr(draw.randint(low, high)) for _ in range(40))


# Bopomofo, Jamo, full-width forms, half-width kana, compatibility ideographs
_RARE_EAST_ASIAN = ((0x3105, 0x312D), (0x3131, 0x318E), (0xFF01, 0xFF5E), (0xFF66, 0xFF9D), (0xF900, 0xFA6D))


def _rare_east_asian(draw: random.Random) -> str:
    low, high = draw.choice(_RARE_EAST_ASIAN)
    return "".join(chr(draw.randint(low, high)) for _ in range(draw.randint(2, 60)))


def _from(alphabet: str, low: int, high: int) -> Callable[[random.Random], str]:
    return lambda draw: "".join(draw.choices(alphabet, k=draw.randint(low, high)))


_EMOJI = "😀😂🤣😍🙏👍🎉🔥❤️✨😊🤔😭👀💯🚀✅❌⚠️📌💡🙌👏😅😎🥳💪🌍⭐📈"
_ANY_EMOJI = "".join(chr(code) for code in (*range(0x1F300, 0x1F650), *range(0x1F680, 0x1F6C6), *range(0x1F900, 0x1F9FF)))
_ZWJ = ("👩‍💻", "👨‍👩‍👧", "🏳️‍🌈", "👍🏽", "🇩🇪", "🇯🇵", "🇧🇷", "🤷🏻‍♂️", "👩🏿‍🔬", "🇫🇷")
_MATH = "∀∂∃∅∇∈∉∋∏∑−√∝∞∠∧∨∩∪∫∴∼≅≈≠≡≤≥⊂⊃⊆⊇⊕⊗⊥⋅αβγδεθλμπρσφψωΓΔΘΛΞΠΣΦΨΩℝℕℤℚℂ→←⇒⇔↦∘±×÷"

Generator = tuple[str, Callable[[random.Random], str]]
"""What separates two items, and what makes one."""

BOTH: dict[str, Generator] = {
    "base64": ("\n", lambda draw: base64.b64encode(_blob(draw, 20, 400)).decode()),
    "hex": ("\n", lambda draw: _blob(draw, 8, 64).hex()),
    "uuid": ("\n", lambda draw: str(uuid.UUID(bytes=draw.randbytes(16)))),
    "random ASCII": ("\n", _from(string.printable[:94], 20, 120)),
    "random letters": (" ", _from(string.ascii_lowercase, 3, 14)),
    "passwords": ("\n", _from(string.ascii_letters + string.digits, 8, 24)),
    "digits CSV": ("\n", lambda draw: ",".join(str(draw.randint(0, 10 ** draw.randint(1, 9))) for _ in range(8))),
    "float CSV": ("\n", lambda draw: ",".join(f"{draw.uniform(-1000, 1000):.{draw.randint(2, 6)}f}" for _ in range(6))),
    "emoji common": ("", _from(_EMOJI, 1, 6)),
    "emoji any": ("", _from(_ANY_EMOJI, 1, 6)),
    "emoji sequences": (" ", lambda draw: draw.choice(_ZWJ)),
    "math symbols": (" ", _from(_MATH, 1, 8)),
    "box drawing": ("\n", lambda draw: "│ " + _word(draw).ljust(draw.randint(8, 20)) + " │\n├" + "─" * draw.randint(8, 30) + "┤"),
    "padded table": ("\n", _table_row),
    "rule lines": ("\n", _rule),
    "Python repr": ("\n", _python_dict),
    "traceback": ("\n", _trace),
    "rare scripts": (" ", _rare_script),
    "rare East Asian": (" ", _rare_east_asian),
    "character runs": (" ", lambda draw: draw.choice(string.printable[:97]) * draw.randint(4, 120)),
}
FIT_ONLY: dict[str, Generator] = {
    "JSON compact": ("\n", lambda draw: json.dumps(_record(draw), separators=(",", ":"))),
    "JSON pretty": ("\n", lambda draw: json.dumps(_record(draw), indent=2)),
    "JSON escapes": ("\n", lambda draw: _escaped(draw, 0x4E00, 0x7FFF)),
    "logs": ("\n", _log_line),
    "URLs": ("\n", _url),
}
HELD_ONLY: dict[str, Generator] = {
    "JSON tool results": ("\n", lambda draw: json.dumps(_tool_result(draw))),
    "JSON pretty results": ("\n", lambda draw: json.dumps(_tool_result(draw), indent=4)),
    "JSON escapes": ("\n", lambda draw: _escaped(draw, 0x0410, 0x044F) + _escaped(draw, 0x5000, 0x9000)),
    "access log": ("\n", _access_line),
    "URLs short": ("\n", _short_url),
    "URLs signed": ("\n", _url),
}


def generated_texts(size: int) -> Iterator[tuple[str, str, str]]:
    """Split (``fit`` or ``held``), name and a text of at least ``size`` characters, for each generator."""
    for split, own in (("fit", FIT_ONLY), ("held", HELD_ONLY)):
        for name, (separator, make) in {**BOTH, **own}.items():
            draw = random.Random(f"{split}/{name}")
            text = ""
            while len(text) < size:
                text += separator.join(make(draw) for _ in range(50)) + separator
            yield split, name, text
