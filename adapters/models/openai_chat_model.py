"""A model behind the chat completions API, by the official SDK `openai`: OpenAI's own, or any host that speaks the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, cast

from contextport.contracts import Json, Message, ModelCallFailed, implements
from contextport.contracts.codec import MessageCodec
from contextport.contracts.extras import needs_extra
from contextport.contracts.model import ChatModel, Completion, StreamsCompletions, TextDelta

from .answers import as_received, check_max_output, checked_parameters
from .chat_answer import ChatAnswerStream, completion_of
from .sdk_failure import call_failed

with needs_extra("openai"):
    from openai import AsyncOpenAI

__all__ = ["LimitParameter", "OpenAIChatModel"]

LimitParameter = Literal["max_completion_tokens", "max_tokens"]
_SET_BY_CALLS = ("messages", "model", "tools", "stream", "stream_options", "max_completion_tokens", "max_tokens", "n")


@implements(ChatModel, StreamsCompletions)
class OpenAIChatModel:
    """Chat completions through an `AsyncOpenAI` client, which stays its owner's: base URL, key, time-out, proxies, closing.

    `codec` is the one of `openai.chat`. `limit_parameter` is the request field for the limit of an answer: OpenAI's own hosts
    want `max_completion_tokens`, most others know `max_tokens` only, which is also what is chosen without it. `stream_usage`
    asks for the usage in a stream; turn it off for hosts that refuse `stream_options`. `window`, in tokens, lets a cut answer
    be told from a full window. `provider` names who answers, for reading error codes: `openai` for OpenAI's hosts, else
    unnamed. `parameters` are further request fields, such as `temperature` or `extra_body`.

    A client's own retries are switched off for each call. An answer is read from the first choice.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        model: str,
        codec: MessageCodec,
        *,
        limit_parameter: LimitParameter | None = None,
        stream_usage: bool = True,
        window: int | None = None,
        provider: str = "",
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self._client, self._codec, self._window = client, codec, window
        self.model = model
        self.host = client.base_url.host
        self.api = codec.api
        own = self.host == "api.openai.com" or self.host.endswith(".api.openai.com")
        self._limit_parameter = limit_parameter or ("max_completion_tokens" if own else "max_tokens")
        self._provider = provider or ("openai" if own else "")
        self._parameters = checked_parameters(parameters, _SET_BY_CALLS, client.chat.completions.create)
        self._stream_parameters: dict[str, Any] = {"stream": True}
        if stream_usage:
            self._stream_parameters["stream_options"] = {"include_usage": True}

    @classmethod
    def at(
        cls, model: str, codec: MessageCodec, *, base_url: str | None = None, api_key: str | None = None, **more: Any
    ) -> OpenAIChatModel:
        """A model with a client of its own; what is None the SDK reads from the environment. `more` is the constructor's."""
        return cls(AsyncOpenAI(base_url=base_url, api_key=api_key), model, codec, **more)

    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        request = self._request(messages, max_output, tools)
        with self._mapped():
            answer = as_received(await self._completions().create(**request))
            return completion_of(answer, self._codec, window=self._window)

    def stream(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> AsyncIterator[TextDelta | Completion]:
        return self._stream({**self._request(messages, max_output, tools), **self._stream_parameters})

    async def _stream(self, request: dict[str, Any]) -> AsyncIterator[TextDelta | Completion]:
        whole = ChatAnswerStream()
        with self._mapped():
            async with await self._completions().create(**request) as chunks:
                async for chunk in chunks:
                    if text := whole.add(as_received(chunk)):
                        yield TextDelta(text)
            completion = completion_of(whole.answer(), self._codec, window=self._window)
        yield completion

    def _request(self, messages: Sequence[Message], max_output: int | None, tools: Sequence[Json]) -> dict[str, Any]:
        check_max_output(max_output)
        request = {"model": self.model, **self._parameters, **self._codec.encode(messages).request}
        if max_output is not None:
            request[self._limit_parameter] = max_output
        if tools:
            request["tools"] = list(tools)
        return request

    def _completions(self) -> Any:
        return cast(Any, self._client.with_options(max_retries=0).chat.completions)

    @contextmanager
    def _mapped(self) -> Generator[None]:
        try:
            yield
        except ModelCallFailed:
            raise
        except Exception as error:  # the SDK lets errors of its HTTP library and of JSON through
            raise call_failed(
                error, model=self.model, provider=self._provider, secrets=(getattr(self._client, "api_key", None),)
            ) from error
