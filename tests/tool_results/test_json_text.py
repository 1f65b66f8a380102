"""JSON: what stays of it, that it is still JSON, and that it is copied out as it was written."""

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from contextport.strategies.tool_results import shrink_text

HOW = "repeat the call to see them, if it only reads"
ORDER = {
    "note": "It was asked that the parcel be left with the neighbour, who is at home in the morning. " * 4,
    "items": [{"item_id": str(n), "price": 10.50 + n, "options": {"color": "red", "size": "L"}} for n in range(40)],
    "order_id": "#W2890441",
    "status": "delivered",
    "total": 1e2,
}


def within(characters: int) -> Callable[[str], bool]:
    return lambda text: len(text) <= characters


def test_identifiers_and_single_values_stay_first() -> None:
    text = json.dumps(ORDER)
    mark = f"[…3 entries left out; {HOW}…]"
    assert shrink_text(text, within(130)) == f'{{"order_id": "#W2890441", "status": "delivered", "…": "{mark}"}}'


def test_long_strings_and_arrays_are_cut_with_a_count() -> None:
    text = json.dumps(ORDER)
    kept = shrink_text(text, within(520))
    assert kept is not None
    value = json.loads(kept)
    assert value["order_id"] == "#W2890441"
    assert value["total"] == 100.0
    assert value["items"][0] == ORDER["items"][0]  # type: ignore[index]
    assert value["items"][-1] == f"[…{41 - len(value['items'])} entries left out…]"
    note, _, rest = value["note"].partition("[…")
    assert ORDER["note"].startswith(note)  # type: ignore[attr-defined]
    assert rest == f"{len(ORDER['note']) - len(note)} characters left out; {HOW}…]"  # type: ignore[arg-type]


def test_layout_and_numbers_are_as_they_were_written() -> None:
    text = (
        '{\n    "id": 12345678901234567890123,\n    "ratio": 1.10,\n    "list": [\n'
        + ",\n".join("        7" for _ in range(90))
        + "\n    ]\n}\n"
    )
    kept = shrink_text(text, within(250))
    assert kept is not None
    assert kept.startswith('{\n    "id": 12345678901234567890123,\n    "ratio": 1.10,\n    "list": [\n        7,\n        7')
    assert kept.endswith(' left out; repeat the call to see them, if it only reads…]"\n    ]\n}\n')
    json.loads(kept)


def test_a_small_object_is_not_replaced_by_a_longer_mark() -> None:
    text = json.dumps({"a": {"b": 1}, "c": "long " * 100})
    kept = shrink_text(text, within(150))
    assert kept is not None
    assert json.loads(kept)["a"] == {"b": 1}


def test_where_no_entry_fits_a_json_string_says_so() -> None:
    text = json.dumps(ORDER)
    assert shrink_text(text, within(40)) == f'"[…{len(text)} characters left out…]"'
    assert shrink_text(text, within(20)) is None


@pytest.mark.parametrize(
    ("character", "written"),
    [
        ("\U0001f600", "\\ud83d\\ude00"),
        ("e\u0301", "e\\u0301"),
        ("\n", "\\n"),
        ("\\", "\\\\"),
        ('"', '\\"'),
        ("é", "é"),
        ("👩‍👧", "👩‍👧"),
    ],
)
def test_strings_are_cut_outside_escapes_and_clusters(character: str, written: str) -> None:
    for lead in range(13):
        text = '{"text": "' + "x" * lead + written * 200 + '"}'
        kept = shrink_text(text, within(400))
        assert kept is not None
        body = json.loads(kept)["text"].partition("[…")[0].removeprefix("x" * lead)
        assert body
        assert body.replace(character, "") == ""


def random_value(rng: random.Random, depth: int) -> object:
    kind = rng.randrange(8 if depth else 5)
    if kind == 0:
        return rng.choice((None, True, False, 0, -1.5, 1e300, 10**30))
    if kind < 4:
        return "".join(rng.choices('ab "\\\n\té好🇩🇪\u0301', k=rng.choice((0, 3, 40, 300))))
    if kind == 4 or kind == 5:
        return [random_value(rng, depth - 1) for _ in range(rng.choice((0, 1, 3, 30)))] if depth else []
    return {f"k{n}": random_value(rng, depth - 1) for n in range(rng.choice((0, 1, 4, 20)))}


def test_random_json_stays_json_at_every_size() -> None:
    rng = random.Random(4)
    tried = 0
    for _ in range(50):
        value = [random_value(rng, 3)]
        text = json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1, 4)))
        for limit in (len(text) - 1, len(text) // 2, len(text) // 8):
            kept = shrink_text(text, within(limit))
            if kept is not None:
                tried += 1
                assert len(kept) <= limit
                json.loads(kept)
    assert tried > 60


def test_json_that_is_shrunk_again_counts_what_was_missing_and_has_one_mark_for_each_place() -> None:
    rows, note, fields = list(range(500)), "word " * 400, {f"k{n}": n for n in range(300)}
    text = json.dumps({"id": "#1", "rows": rows, "note": note, **fields})
    seen: set[str] = set()
    for limit in (7_500, 2_500, 1_200, 600, 300):
        kept = shrink_text(text, within(limit))
        assert kept is not None
        text = kept
        found: dict[str, Any] = json.loads(text)
        assert len(found) == len(json.loads(text, object_pairs_hook=list)), "no key comes twice"
        seen |= {"rows", "note"} & {*found}
        if "…" in found:
            seen.add("…")
            assert missing_by(found["…"]) + len(found) - 1 == 303
        *first, last = found.get("rows", [0, 499])
        assert last == 499 or [*first, missing_by(last)] == [*rows[: len(first)], 500 - len(first)]
        start, cut, rest = found.get("note", note).partition("[…")
        assert note.startswith(start)
        assert not cut or len(start) + missing_by(cut + rest) == len(note)
    assert seen == {"rows", "note", "…"}


def missing_by(mark: str) -> int:
    found = re.fullmatch(r"\[…(\d+) \w+ left out[^…]*…\]", mark)
    assert found is not None, mark
    return int(found[1])


def test_deep_json_is_still_json() -> None:
    text = "[" * 80 + "1" * 500 + "]" * 80
    kept = shrink_text(text, within(100))
    assert kept == f'"[…660 characters left out; {HOW}…]"'


def test_too_deep_to_read_is_plain_text() -> None:
    text = "[" * 200_000
    kept = shrink_text(text, within(200))
    assert kept is not None
    assert kept.startswith("[[[[")
    assert len(kept) <= 200
