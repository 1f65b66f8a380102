"""What a host says of itself: real requests to a server on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import anthropic.types
import google.genai.types
import httpx
import pytest

from contextport.adapters.limits.live_limits import LiveLimits
from contextport.contracts import InvalidArgument, Limits
from contextport.contracts.errors import ModelCallFailed
from contextport.strategies.limits_resolution import resolve_budget
from tests.limits.host_server import HostServer, broken_off, endless, holding_back, running

DAY = 20_000 * 86_400.0  # 2024-10-04
SECRET = "sk-do-not-show-this"


@pytest.fixture
def server() -> Iterator[HostServer]:
    with running() as started:
        yield started


class Clock:
    def __init__(self) -> None:
        self.now = DAY

    def __call__(self) -> float:
        return self.now


async def _asked(
    server: HostServer, api: str, models: list[str], base: str, options: dict[str, Any]
) -> tuple[LiveLimits, list[Any]]:
    headers = {"authorization": f"Bearer {SECRET}"}
    async with httpx.AsyncClient(base_url=server.url + base, headers=headers, trust_env=False) as client:
        more: dict[str, Any] = {"clock": lambda: DAY} | options
        live = LiveLimits(client, api=api, **more)
        return live, [await live.refresh(model) for model in models]


def ask(server: HostServer, api: str, *models: str, base: str = "", **options: Any) -> tuple[LiveLimits, list[Any]]:
    return asyncio.run(_asked(server, api, list(models), base, options))


ANTHROPIC = {
    "type": "model",
    "id": "claude-x",
    "display_name": "X",
    "created_at": "2026-01-01T00:00:00Z",
    "lifecycle": "active",
    "max_input_tokens": 200_000,
    "max_tokens": 64_000,
}
GEMINI = {"name": "models/gemini-x", "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536}
OPENROUTER = {
    "id": "maker/big",
    "context_length": 262_144,
    "top_provider": {"context_length": 131_072, "max_completion_tokens": 32_768, "is_moderated": False},
    "pricing": {"prompt": "0.000001"},
}
LISTS = [
    (
        {"object": "list", "data": [{"id": "other", "max_model_len": 5}, {"id": "m", "object": "model", "max_model_len": 8_192}]},
        "m",
        8_192,
        None,
    ),
    ({"data": [OPENROUTER]}, "maker/big", 131_072, 32_768),
    ({"object": "list", "data": [{"id": "m", "context_window": 131_072, "max_completion_tokens": 8_192}]}, "m", 131_072, 8_192),
    ({"data": [{"id": "m-2501", "aliases": ["m-latest"], "max_context_length": 128_000}]}, "m-latest", 128_000, None),
    ([{"id": "maker/m", "type": "chat", "context_length": 32_768}], "maker/m", 32_768, None),
    ({"data": [{"id": "m", "max_context_length": 40_960, "loaded_context_length": 4_096}]}, "m", 4_096, None),
]


@pytest.mark.parametrize(("answer", "model", "window", "max_output"), LISTS)
def test_lists_of_compatible_hosts(server: HostServer, answer: Any, model: str, window: int, max_output: int | None) -> None:
    server.answers["/v1/models"] = (200, answer)
    live, (said,) = ask(server, "openai", model, base="/v1")
    assert said == Limits(window=window, max_output=max_output, source=f"the host {live.host}", as_of="2024-10-04")
    assert live.limits(model, f"{server.url}/v1") == live.limits(model, server.address) == said
    assert server.asked[0][:2] == ("GET", "/v1/models")
    assert server.asked[0][3]["authorization"] == f"Bearer {SECRET}"


def test_a_list_that_states_nothing_and_a_model_that_is_not_in_it(server: HostServer) -> None:
    server.answers["/v1/models"] = (200, {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "maker"}]})
    live, said = ask(server, "openai", "m", "another", base="/v1")
    assert said == [None, None]
    assert live.limits("m", live.host) is None


def test_anthropic_states_its_window_as_the_limit_of_the_input(server: HostServer) -> None:
    assert anthropic.types.ModelInfo.model_validate(ANTHROPIC).max_input_tokens == 200_000
    server.answers["/v1/models/claude-x"] = (200, ANTHROPIC)
    live, (said,) = ask(server, "anthropic", "claude-x")
    assert (said.window, said.max_output, said.output_shares_window) == (200_000, 64_000, True)
    budget = resolve_budget(model="claude-x", host=live.host, sources=[live])
    assert budget.usable_input == 136_000
    assert dict(budget.sources)["window"] == f"the host {live.host}, as of 2024-10-04"


@pytest.mark.parametrize("model", ["gemini-x", "models/gemini-x"])
def test_gemini_states_input_and_output_apart(server: HostServer, model: str) -> None:
    assert google.genai.types.Model.model_validate(GEMINI).input_token_limit == 1_048_576
    server.answers["/v1beta/models/gemini-x"] = (200, GEMINI)
    live, _ = ask(server, "gemini", model)
    budget = resolve_budget(model=model, host=live.host, sources=[live])
    assert (budget.usable_input, budget.output_reserve) == (1_048_576, 65_536)


def test_llama_cpp_states_the_context_of_a_slot(server: HostServer) -> None:
    server.answers["/props?model=any%2Fname"] = (
        200,
        {"default_generation_settings": {"n_ctx": 4_096}, "n_ctx": 16_384, "total_slots": 4},
    )
    _, (said,) = ask(server, "llama.cpp", "any/name")
    assert said.window == 4_096


@pytest.mark.parametrize(
    ("loaded", "parameters", "window"),
    [
        ([{"name": "m:latest", "context_length": 8_192}], "num_ctx 2048", 8_192),  # what is loaded counts
        ([{"name": "other:latest", "context_length": 8_192}], 'stop "x"\nnum_ctx                        16384', 16_384),
        ([], "num_ctx 999999999", 131_072),  # no more than the model was trained for
        ([], "temperature 0.7", 4_096),  # the least that the server gives
        ([], None, 4_096),
    ],
)
def test_ollama_gives_less_than_the_model_was_trained_for(server: HostServer, loaded: Any, parameters: Any, window: int) -> None:
    shown = {"model_info": {"general.architecture": "llama", "llama.context_length": 131_072}, "parameters": parameters}
    server.answers |= {"/api/ps": (200, {"models": loaded}), "/api/show": (200, shown)}
    _, (said,) = ask(server, "ollama", "m")
    assert said.window == window
    assert server.asked[1][:3] == ("POST", "/api/show", {"model": "m"})


def test_an_unknown_model_is_none_and_forgets_what_was_known(server: HostServer) -> None:
    server.answers["/v1/models"] = (200, LISTS[0][0])
    for api in ("openai", "anthropic", "gemini", "llama.cpp", "ollama"):
        _, said = ask(server, api, "nobody", "", "../..", "x" * 500, "\ud800", "a/b?c#d", base="/v1" if api == "openai" else "")
        assert said == [None] * 6

    async def gone() -> None:
        async with httpx.AsyncClient(base_url=f"{server.url}/v1", trust_env=False) as client:
            live = LiveLimits(client, api="openai")
            assert await live.refresh("m") is not None
            server.answers["/v1/models"] = (200, {"data": []})
            assert await live.refresh("m") is None
            assert live.limits("m", live.host) is None

    asyncio.run(gone())


JUNK: list[Any] = [
    None,
    7,
    "text",
    [],
    {},
    [None, 1, [2]],
    {"data": None},
    {"data": [None, 3, {"id": ["m"]}]},
    {"data": {"id": "m"}},
    {"data": [{"id": "m", "max_model_len": "8192", "context_length": -1, "context_window": True, "top_provider": 3}]},
    {
        "max_input_tokens": 0,
        "inputTokenLimit": 1.5,
        "models": 4,
        "model_info": [1],
        "parameters": 3,
        "default_generation_settings": "n_ctx",
    },
    {
        "models": [3, {"name": None}],
        "model_info": {"a.context_length": "many", "b.context_length": False},
        "parameters": "num_ctx none\nnum_ctx 0",
    },
]


@pytest.mark.parametrize("api", ["openai", "anthropic", "gemini", "llama.cpp", "ollama"])
def test_json_of_another_form_says_nothing(server: HostServer, api: str) -> None:
    for junk in JUNK:
        for path in ("/models", "/v1/models/m", "/v1beta/models/m", "/props?model=m", "/api/ps", "/api/show"):
            server.answers[path] = (200, junk)
        assert ask(server, api, "m")[1] == [None], junk


@pytest.mark.parametrize("status", [301, 400, 401, 403, 429, 500, 503])
def test_a_refusal_is_an_error_with_its_status_and_without_the_key(server: HostServer, status: int) -> None:
    server.answers["/v1/models"] = (status, {"error": f"bad key {SECRET}"})
    with pytest.raises(ModelCallFailed, match=f"status {status}") as raised:
        ask(server, "openai", "m", base="/v1")
    assert raised.value.failure.status == status
    assert SECRET not in f"{raised.value} {raised.value.details}"


@pytest.mark.parametrize("body", [b"", b"<html>no</html>", b"{", b"\xff\xfe", b"[" * 100_000, b"9" * 10_000])
def test_what_is_no_json_is_an_error(server: HostServer, body: bytes) -> None:
    server.answers["/v1/models"] = (200, body)
    with pytest.raises(ModelCallFailed, match="no JSON"):
        ask(server, "openai", "m", base="/v1")


@pytest.mark.parametrize("api", ["anthropic", "gemini", "llama.cpp"])
def test_a_name_that_fits_no_address_is_an_error(server: HostServer, api: str) -> None:
    with pytest.raises(ModelCallFailed, match="InvalidURL"):
        ask(server, api, "m" * 70_000)


def test_a_host_that_is_slow_breaks_off_or_does_not_end(server: HostServer) -> None:
    for first in (b"", b'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"data"'):
        server.answers["/v1/models"] = holding_back(server, first)
        with pytest.raises(ModelCallFailed, match=r"within 0\.05 s"):
            ask(server, "openai", "m", base="/v1", timeout=0.05)
    server.answers["/v1/models"] = broken_off
    with pytest.raises(ModelCallFailed, match="RemoteProtocolError") as raised:
        ask(server, "openai", "m", base="/v1")
    assert raised.value.failure.exception == "httpx.RemoteProtocolError"
    server.answers["/v1/models"] = endless
    with pytest.raises(ModelCallFailed, match="longer than 16777216 bytes"):
        ask(server, "openai", "m", base="/v1")


def test_a_host_that_is_not_there_and_a_key_that_is_no_header() -> None:
    async def nobody(headers: dict[str, str]) -> None:
        async with httpx.AsyncClient(base_url="http://127.0.0.1:9/v1", headers=headers, trust_env=False) as client:
            await LiveLimits(client, api="openai").refresh("m")

    with pytest.raises(ModelCallFailed, match="ConnectError"):
        asyncio.run(nobody({}))


def test_a_key_with_a_line_end_is_not_quoted(server: HostServer) -> None:
    async def refresh() -> None:
        headers = {"authorization": f"Bearer {SECRET}\n"}
        async with httpx.AsyncClient(base_url=server.url, headers=headers, trust_env=False) as client:
            await LiveLimits(client, api="openai").refresh("m")

    with pytest.raises(ModelCallFailed, match="LocalProtocolError") as raised:
        asyncio.run(refresh())
    assert SECRET not in f"{raised.value} {raised.value.details}"


def test_what_was_said_holds_for_its_time_and_outlives_a_failed_question(server: HostServer) -> None:
    clock = Clock()

    async def walk() -> None:
        async with httpx.AsyncClient(base_url=f"{server.url}/v1", trust_env=False) as client:
            live = LiveLimits(client, api="openai", lifetime=60, clock=clock)
            assert live.limits("m", live.host) is None
            server.answers["/v1/models"] = (200, LISTS[0][0])
            said = await live.refresh("m")
            server.answers["/v1/models"] = (500, {})
            with pytest.raises(ModelCallFailed):
                await live.refresh("m")
            clock.now += 59.9
            assert live.limits("m", live.host) == said
            clock.now += 0.1
            assert live.limits("m", live.host) is None

    asyncio.run(walk())


def test_it_answers_for_its_own_host_only(server: HostServer) -> None:
    server.answers["/v1/models"] = (200, LISTS[0][0])
    live, _ = ask(server, "openai", "m", base="/v1")
    for host in ("", "api.openai.com", "127.0.0.1", "127.0.0.1:1", f"{live.host}/other"):
        assert live.limits("m", host) is None
    assert live.limits("m", live.host.upper()) is not None


def test_several_questions_at_once(server: HostServer) -> None:
    server.answers["/v1/models"] = (200, {"data": [{"id": f"m{n}", "max_model_len": 1_000 + n} for n in range(20)]})

    async def all_at_once() -> None:
        async with httpx.AsyncClient(base_url=f"{server.url}/v1", trust_env=False) as client:
            live = LiveLimits(client, api="openai")
            said = await asyncio.gather(*(live.refresh(f"m{n}") for n in range(20)))
            assert [limits.window for limits in said if limits] == [1_000 + n for n in range(20)]
            assert [live.limits(f"m{n}", live.host) for n in range(20)] == said

    asyncio.run(all_at_once())


@pytest.mark.parametrize("wrong", [{"api": "open ai"}, {"lifetime": 0}, {"timeout": -1}, {"timeout": True}, {"lifetime": "60"}])
def test_a_wrong_construction_is_refused(wrong: dict[str, Any]) -> None:
    client = httpx.AsyncClient(base_url="http://host.example")
    with pytest.raises(InvalidArgument, match=next(iter(wrong))):
        LiveLimits(client, **cast(Any, {"api": "openai"} | wrong))
    with pytest.raises(InvalidArgument, match="base_url"):
        LiveLimits(httpx.AsyncClient(), api="openai")
    assert LiveLimits(client, api="openai").host == "host.example"
