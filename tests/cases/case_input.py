"""The notation of case files: repeated and joined texts, and messages given by number."""

from __future__ import annotations

from typing import Any, cast

Dict = dict[str, Any]


def expand(value: Any) -> Any:
    """A copy with `{"$repeat": [text, n]}` and `{"$concat": [...]}` written out."""
    if isinstance(value, list):
        return [expand(item) for item in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    held = cast(Dict, value)
    if set(held) == {"$repeat"}:
        text, times = held["$repeat"]
        return cast(str, expand(text)) * int(times)
    if set(held) == {"$concat"}:
        return "".join(cast(list[str], expand(held["$concat"])))
    return {key: expand(item) for key, item in held.items()}


def case_messages(given: Dict) -> list[Dict]:
    """The messages of a case, as dicts in OpenAI chat form: written out, or made from `messages_spec`."""
    if "messages_spec" not in given:
        return cast(list[Dict], given.get("messages", []))
    spec = dict(given["messages_spec"])
    words = int(spec.pop("words", 4))
    count = int(spec.pop("pairs")) * 2 if "pairs" in spec else int(spec.pop("count", 0))
    if spec or not count:
        raise ValueError(f"messages_spec {given['messages_spec']} is not understood; known: pairs or count, words")
    return [_numbered(n, words) for n in range(count)]


def _numbered(n: int, words: int) -> Dict:
    letter, role = ("u", "user") if n % 2 == 0 else ("a", "assistant")
    number = n // 2 + 1
    text = " ".join(f"{letter}{number}_{k}" for k in range(1, words + 1))
    return {"id": f"{letter}{number}", "role": role, "content": text}
