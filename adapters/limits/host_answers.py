"""Where each kind of host says what it allows, and how its answer is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast
from urllib.parse import quote

from attrs import frozen

from contextport.contracts import Json

__all__ = ["HOST_APIS", "HostApi", "Question"]


@frozen
class Question:
    """One request: method, path below the base URL, and body if there is one."""

    method: str
    path: str
    body: Json = None


@frozen
class HostApi:
    """What to ask for a model, and what the answers, in the same order, say: fields of `Limits` by name.

    `read` gets None for a question that was answered with 404.
    """

    questions: Callable[[str], Sequence[Question]]
    read: Callable[[str, Sequence[Json]], dict[str, Any]]


def _tokens(record: Json, *paths: str) -> int | None:
    """The smallest number of tokens among the dotted paths; what is none is passed over."""
    found: list[int] = []
    for path in paths:
        value = record
        for step in path.split("."):
            value = cast(Mapping[str, Json], value).get(step) if isinstance(value, Mapping) else None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            found.append(value)
    return min(found, default=None)


def _listed(answer: Json, model: str) -> Json:
    """The record of `model` in a list of models, which stands on its own or under `data`; None if it is not there."""
    rows = cast(Mapping[str, Json], answer).get("data") if isinstance(answer, Mapping) else answer
    for row in cast(list[Json], rows) if isinstance(rows, list) else []:
        if isinstance(row, Mapping):
            record = cast(Mapping[str, Json], row)
            aliases = record.get("aliases")
            if record.get("id") == model or (isinstance(aliases, list) and model in aliases):
                return record
    return None


def _read_list(model: str, answers: Sequence[Json]) -> dict[str, Any]:
    record = _listed(answers[0], model)
    return {
        "window": _tokens(
            record,
            "max_model_len",  # vLLM
            "context_length",  # OpenRouter, Together
            "top_provider.context_length",
            "context_window",  # Groq
            "max_context_length",  # Mistral, LM Studio
            "loaded_context_length",
        ),
        "max_output": _tokens(record, "max_completion_tokens", "top_provider.max_completion_tokens"),
    }


def _read_anthropic(model: str, answers: Sequence[Json]) -> dict[str, Any]:
    # Its input limit is its window: a request is refused when the input and max_tokens together exceed it.
    return {
        "window": _tokens(answers[0], "max_input_tokens"),
        "max_output": _tokens(answers[0], "max_tokens"),
        "output_shares_window": True,
    }


def _read_gemini(model: str, answers: Sequence[Json]) -> dict[str, Any]:
    # Two limits, stated apart.
    return {
        "window": _tokens(answers[0], "inputTokenLimit", "input_token_limit"),
        "max_output": _tokens(answers[0], "outputTokenLimit", "output_token_limit"),
        "output_shares_window": False,
    }


def _read_llama_cpp(model: str, answers: Sequence[Json]) -> dict[str, Any]:
    # The settings are those of one slot, the number beside them may be that of all slots together.
    return {"window": _tokens(answers[0], "default_generation_settings.n_ctx", "n_ctx"), "output_shares_window": True}


#: The least that Ollama gives a model when neither the model nor the server says how much.
_OLLAMA_DEFAULT: Final = 4_096
_NUM_CTX: Final = re.compile(r"^\s*num_ctx\s+([1-9]\d{0,11})\s*$", re.MULTILINE)


def _read_ollama(model: str, answers: Sequence[Json]) -> dict[str, Any]:
    running, shown = answers
    loaded = _tokens(_running(running, model), "context_length")
    if loaded is not None:
        return {"window": loaded, "output_shares_window": True}
    parameters = cast(Mapping[str, Json], shown).get("parameters") if isinstance(shown, Mapping) else None
    stated = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    trained = min(_trained_lengths(shown), default=None)
    if stated is None and trained is None:
        return {}
    allocated = int(stated[1]) if stated is not None else _OLLAMA_DEFAULT
    return {"window": min(allocated, trained or allocated), "output_shares_window": True}


def _trained_lengths(shown: Json) -> Iterator[int]:
    info = cast(Mapping[str, Json], shown).get("model_info") if isinstance(shown, Mapping) else None
    for name, value in cast(Mapping[str, Json], info).items() if isinstance(info, Mapping) else ():
        if name.endswith(".context_length") and isinstance(value, int) and not isinstance(value, bool) and value > 0:
            yield value


def _running(answer: Json, model: str) -> Json:
    rows = cast(Mapping[str, Json], answer).get("models") if isinstance(answer, Mapping) else None
    tagged = model if ":" in model else f"{model}:latest"
    for row in cast(list[Json], rows) if isinstance(rows, list) else []:
        if isinstance(row, Mapping) and tagged in (row.get("name"), row.get("model")):
            return cast(Json, row)
    return None


def _bare(model: str) -> str:
    return quote(model.removeprefix("models/"), safe="", errors="replace")


#: By the name to give to `LiveLimits`.
HOST_APIS: Final[Mapping[str, HostApi]] = {
    "openai": HostApi(lambda model: [Question("GET", "models")], _read_list),
    "anthropic": HostApi(lambda model: [Question("GET", f"v1/models/{_bare(model)}")], _read_anthropic),
    "gemini": HostApi(lambda model: [Question("GET", f"v1beta/models/{_bare(model)}")], _read_gemini),
    "llama.cpp": HostApi(lambda model: [Question("GET", f"props?model={_bare(model)}")], _read_llama_cpp),
    "ollama": HostApi(lambda model: [Question("GET", "api/ps"), Question("POST", "api/show", {"model": model})], _read_ollama),
}
