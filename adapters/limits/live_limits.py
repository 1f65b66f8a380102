"""Window sizes as the host itself states them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, NoReturn

from attrs import frozen

from contextport.contracts import InvalidArgument, Json, Limits, LimitsSource, implements
from contextport.contracts.errors import ModelCallFailed
from contextport.contracts.extras import needs_extra
from contextport.contracts.provider_error import ProviderFailure

from .host_answers import HOST_APIS, Question
from .host_names import host_name

with needs_extra("limits"):
    import httpx

__all__ = ["LiveLimits"]

_MOST_BYTES: Final = 16 * 1024 * 1024  # lists of some thousand models are about one megabyte
_HOUR: Final = 3600.0


@frozen
class _Fetched:
    limits: Limits
    at: float


@implements(LimitsSource)
class LiveLimits:
    """Asks one host what it allows: `await live.refresh(model)`, and from then on `live.limits(model, live.host)`.

        client = httpx.AsyncClient(base_url="http://localhost:8000/v1", headers={"authorization": f"Bearer {key}"})
        live = LiveLimits(client, api="openai")
        await live.refresh("my-model")
        budget = resolve_budget(model="my-model", host=live.host, sources=[live])

    `limits` never asks: it answers what the last `refresh` brought, for `lifetime` seconds, and None after that. It knows this
    host only, by any spelling of it, and no other, nor "the usual host" of a model.

    `client` is the caller's, with base URL, credentials and proxies; it is not closed here. `api` says how the host is asked,
    below the client's base URL:

    - `openai`: `models`, the list of OpenAI-compatible hosts, base URL with `/v1`. vLLM, Groq, Mistral, Together, OpenRouter and
      LM Studio state windows in it. OpenAI's own states none: there the answer is None.
    - `anthropic`: `v1/models/MODEL`. `gemini`: `v1beta/models/MODEL`. Base URL without a version.
    - `llama.cpp`: `props`. Base URL without `/v1`. Of a server with one model the name does not matter.
    - `ollama`: `api/ps` and `api/show`. The window is the loaded model's; if it is not loaded, the model's `num_ctx`, or 4096,
      the least that Ollama gives. The length that a model was trained for is not what the server gives it, and what is too
      long is cut there without an error. A host that sends `num_ctx` with its requests gives that as the window itself.

    Raises `InvalidArgument` for an unknown `api`, a client without a base URL, and times that are not above 0.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        api: str,
        lifetime: float = _HOUR,
        timeout: float = 10.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if api not in HOST_APIS:
            raise InvalidArgument(f"api is {api!r}; known are {', '.join(HOST_APIS)}", name="api", value=api)
        for name, seconds in (("lifetime", lifetime), ("timeout", timeout)):
            if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
                raise InvalidArgument(f"{name} is {seconds!r}; it must be seconds, above 0", name=name, value=seconds)
        self.host = host_name(str(client.base_url))
        if not self.host:
            raise InvalidArgument("the client has no base URL; build it with base_url=...", name="client", value=None)
        self._client = client
        self._api = HOST_APIS[api]
        self._lifetime = lifetime
        self._timeout = timeout
        self._clock = clock
        self._fetched: dict[str, _Fetched] = {}

    def limits(self, model: str, host: str = "") -> Limits | None:
        fetched = self._fetched.get(model)
        if fetched is None or host_name(host) != self.host or abs(self._clock() - fetched.at) >= self._lifetime:
            return None
        return fetched.limits

    async def refresh(self, model: str) -> Limits | None:
        """Ask the host. Returns what it says of `model`; None if it has no such model, or states no number.

        Raises `ModelCallFailed` if the host does not answer within `timeout` seconds, refuses, or answers what is no JSON; what
        was known before stays known. Its `failure` has status and reason, and no credentials.
        """
        try:
            async with asyncio.timeout(self._timeout):
                answers = [await self._ask(question) for question in self._api.questions(model)]
        except TimeoutError as error:
            self._fail(error, f"it did not answer within {self._timeout:g} s")
        except (httpx.HTTPError, httpx.InvalidURL) as error:  # the latter for a name of many thousand characters
            self._fail(error, type(error).__name__)  # its text may quote a header, and so a key
        said = {name: value for name, value in self._api.read(model, answers).items() if value is not None}
        if not said.keys() & {"window", "max_input", "max_output"}:
            self._fetched.pop(model, None)
            return None
        now = self._clock()
        day = datetime.fromtimestamp(now, UTC).date().isoformat()
        limits = Limits(**said, source=f"the host {self.host}", as_of=day)
        self._fetched[model] = _Fetched(limits, now)
        return limits

    async def _ask(self, question: Question) -> Json:
        content = None if question.body is None else json.dumps(question.body).encode()
        headers = {"accept": "application/json"} | ({"content-type": "application/json"} if content else {})
        async with self._client.stream(question.method, question.path, content=content, headers=headers) as response:
            if response.status_code == 404:
                return None
            if not response.is_success:
                self._fail(None, f"status {response.status_code}", response.status_code)
            answer = bytearray()
            async for piece in response.aiter_bytes():
                answer += piece
                if len(answer) > _MOST_BYTES:
                    self._fail(None, f"its answer is longer than {_MOST_BYTES} bytes", response.status_code)
        try:
            return json.loads(answer)
        except (ValueError, RecursionError) as error:
            self._fail(error, "its answer is no JSON", response.status_code)

    def _fail(self, cause: Exception | None, reason: str, status: int | None = None) -> NoReturn:
        failure = ProviderFailure(
            status=status, message=reason, exception=f"{type(cause).__module__}.{type(cause).__name__}" if cause else ""
        )
        raise ModelCallFailed(f"{self.host} did not say what it allows: {reason}", failure=failure) from cause
