"""What providers call the tokens of a call, read in one meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from attrs import frozen

from .errors import InvalidArgument
from .messages import Json
from .model import Usage

__all__ = ["usage_from"]


@frozen(kw_only=True)
class _Fields:
    """Where an api keeps its numbers: each entry is one summand, as dotted paths of which the largest number counts."""

    input: tuple[str, ...]
    output: tuple[str, ...]
    total: tuple[str, ...] = ()
    cache_read: tuple[str, ...] = ()
    cache_write: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()


_FIELDS: Final[Mapping[str, _Fields]] = {
    # prompt_tokens includes what was cached. The last two of `cache_read` are spellings of compatible hosts.
    "openai.chat": _Fields(
        input=("prompt_tokens",),
        output=("completion_tokens",),
        total=("total_tokens",),
        cache_read=("prompt_tokens_details.cached_tokens prompt_cache_hit_tokens cached_tokens",),
        cache_write=("prompt_tokens_details.cache_write_tokens",),
        reasoning=("completion_tokens_details.reasoning_tokens",),
    ),
    "openai.responses": _Fields(
        input=("input_tokens",),
        output=("output_tokens",),
        total=("total_tokens",),
        cache_read=("input_tokens_details.cached_tokens",),
        cache_write=("input_tokens_details.cache_write_tokens",),
        reasoning=("output_tokens_details.reasoning_tokens",),
    ),
    # input_tokens excludes what was read from the cache and what was written to it.
    "anthropic.messages": _Fields(
        input=("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        output=("output_tokens",),
        cache_read=("cache_read_input_tokens",),
        cache_write=("cache_creation_input_tokens",),
        reasoning=("output_tokens_details.thinking_tokens",),
    ),
    # The prompt includes what was cached; results of server tools and thoughts stand apart. REST and SDK spell differently.
    "gemini.generate_content": _Fields(
        input=("prompt_token_count promptTokenCount", "tool_use_prompt_token_count toolUsePromptTokenCount"),
        output=("candidates_token_count candidatesTokenCount", "thoughts_token_count thoughtsTokenCount"),
        total=("total_token_count totalTokenCount",),
        cache_read=("cached_content_token_count cachedContentTokenCount",),
        reasoning=("thoughts_token_count thoughtsTokenCount",),
    ),
    "bedrock.converse": _Fields(
        input=("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
        output=("outputTokens",),
        total=("totalTokens",),
        cache_read=("cacheReadInputTokens",),
        cache_write=("cacheWriteInputTokens",),
    ),
    "langchain.messages": _Fields(
        input=("input_tokens",),
        output=("output_tokens",),
        total=("total_tokens",),
        cache_read=("input_token_details.cache_read",),
        cache_write=("input_token_details.cache_creation",),
        reasoning=("output_token_details.reasoning",),
    ),
    "mistral.chat": _Fields(
        input=("prompt_tokens",),
        output=("completion_tokens",),
        total=("total_tokens",),
        cache_read=("prompt_tokens_details.cached_tokens num_cached_tokens",),
    ),
    "cohere.chat": _Fields(input=("tokens.input_tokens",), output=("tokens.output_tokens",), cache_read=("cached_tokens",)),
    "ollama.chat": _Fields(input=("prompt_eval_count",), output=("eval_count",), cache_read=("prompt_eval_cached_count",)),
}


def usage_from(api: str, usage: Mapping[str, Json]) -> Usage:
    """The `usage` object of an answer of `api`, as a dict, in the meaning of `Usage`.

    `api` is `openai.chat` (any compatible host), `openai.responses`, `anthropic.messages`, `gemini.generate_content`
    (`usageMetadata`, in either spelling), `bedrock.converse`, `langchain.messages` (`usage_metadata`), `mistral.chat`,
    `cohere.chat`, or `ollama.chat` (the last object of the answer). An SDK object becomes a dict by its `model_dump()`.

    Where a host states a total that exceeds input and output, the rest was written: some hosts leave reasoning out of the
    output. Where Anthropic lists `iterations` (server-side tools, compaction), the last one of type `message` is read, not the
    sum: it is what the window holds, and the conversation is read again in each.

    A field that is missing or no count (null, text, negative) is 0, since an odd report must not lose an answer.
    Raises `InvalidArgument` for an api that is not known here and for a `usage` that is no mapping.
    """
    fields = _FIELDS.get(api)
    if fields is None:
        known = ", ".join(sorted(_FIELDS))
        raise InvalidArgument(f"there are no usage fields of the api {api!r}; known: {known}", name="api", value=api)
    if not isinstance(cast(object, usage), Mapping):
        raise InvalidArgument(
            f"usage is a {type(usage).__name__}; give a dict, of an SDK object its model_dump()", name="usage", value=None
        )
    if api == "anthropic.messages":
        usage = _last_iteration(usage)
    read = _sum(usage, fields.input)
    return Usage(
        input_tokens=read,
        output_tokens=max(_sum(usage, fields.output), _sum(usage, fields.total) - read),
        cache_read_tokens=_sum(usage, fields.cache_read),
        cache_write_tokens=_sum(usage, fields.cache_write),
        reasoning_tokens=_sum(usage, fields.reasoning),
    )


def _last_iteration(usage: Mapping[str, Json]) -> Mapping[str, Json]:
    iterations = usage.get("iterations")
    if isinstance(iterations, list):
        for iteration in reversed(cast(list[Json], iterations)):
            if isinstance(iteration, Mapping) and cast(Mapping[str, Json], iteration).get("type") == "message":
                return cast(Mapping[str, Json], iteration)
    return usage


def _sum(usage: Mapping[str, Json], summands: tuple[str, ...]) -> int:
    return sum(max(_count(usage, path) for path in paths.split()) for paths in summands)


def _count(usage: Mapping[str, Json], path: str) -> int:
    value: Json = usage
    for step in path.split("."):
        value = cast(Mapping[str, Json], value).get(step) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        return 0
    return int(value)
