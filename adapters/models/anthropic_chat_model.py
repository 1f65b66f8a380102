"""A Claude model behind Anthropic's Messages API, by the official SDK `anthropic`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from contextport.contracts import Json, Message, ModelCallFailed, implements
from contextport.contracts.codec import MessageCodec
from contextport.contracts.extras import needs_extra
from contextport.contracts.model import ChatModel, Completion, StreamsCompletions, TextDelta

from .answers import as_received, check_max_output, checked_parameters
from .claude_answer import ClaudeAnswerStream, claude_tool, completion_of
from .sdk_failure import call_failed

with needs_extra("anthropic"):
    from anthropic import AsyncAnthropic

__all__ = ["AnthropicChatModel"]

_SET_BY_CALLS = ("messages", "system", "model", "tools", "stream", "max_tokens", "timeout")


@implements(ChatModel, StreamsCompletions)
class AnthropicChatModel:
    """Messages through an `AsyncAnthropic` client, which stays its owner's: base URL, key, time-out, proxies, closing.

    `codec` is the one of `anthropic.messages`. The API wants a limit for each answer: `default_max_output` tokens where a call
    names none; 4 096 is what every Claude model can write. `window`, in tokens, lets a cut answer be told from a full window.
    `provider` names who answers, for reading error codes. `parameters` are further request fields, such as `thinking` or
    `extra_headers`.

    A client's own retries are switched off for each call. Its time-out holds for long answers too: the SDK would refuse to
    ask for a large `max_tokens` without streaming.
    """

    def __init__(
        self,
        client: AsyncAnthropic,
        model: str,
        codec: MessageCodec,
        *,
        default_max_output: int = 4_096,
        window: int | None = None,
        provider: str = "anthropic",
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        check_max_output(default_max_output)
        self._client, self._codec, self._window = client, codec, window
        self.model = model
        self.host = client.base_url.host
        self.api = codec.api
        self._default_max_output = default_max_output
        self._provider = provider
        self._parameters = checked_parameters(parameters, _SET_BY_CALLS, client.messages.create)

    @classmethod
    def at(
        cls, model: str, codec: MessageCodec, *, base_url: str | None = None, api_key: str | None = None, **more: Any
    ) -> AnthropicChatModel:
        """A model with a client of its own; what is None the SDK reads from the environment. `more` is the constructor's."""
        return cls(AsyncAnthropic(base_url=base_url, api_key=api_key), model, codec, **more)

    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        request = self._request(messages, max_output, tools)
        with self._mapped():
            answer = as_received(await self._messages().create(**request, timeout=self._client.timeout))
            return completion_of(answer, self._codec, window=self._window)

    def stream(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> AsyncIterator[TextDelta | Completion]:
        return self._stream({**self._request(messages, max_output, tools), "stream": True})

    async def _stream(self, request: dict[str, Any]) -> AsyncIterator[TextDelta | Completion]:
        whole = ClaudeAnswerStream()
        with self._mapped():
            async with await self._messages().create(**request) as events:
                async for event in events:
                    if text := whole.add(as_received(event)):
                        yield TextDelta(text)
            completion = completion_of(whole.answer(), self._codec, broken=whole.broken, window=self._window)
        yield completion

    def _request(self, messages: Sequence[Message], max_output: int | None, tools: Sequence[Json]) -> dict[str, Any]:
        check_max_output(max_output)
        request = {"model": self.model, **self._parameters, **self._codec.encode(messages).request}
        request["max_tokens"] = self._default_max_output if max_output is None else max_output
        if tools:
            request["tools"] = [claude_tool(tool) for tool in tools]
        return request

    def _messages(self) -> Any:
        return cast(Any, self._client.with_options(max_retries=0).messages)

    @contextmanager
    def _mapped(self) -> Generator[None]:
        try:
            yield
        except ModelCallFailed:
            raise
        except Exception as error:  # the SDK lets errors of its HTTP library and of JSON through
            keys = (getattr(self._client, name, None) for name in ("api_key", "auth_token"))
            raise call_failed(error, model=self.model, provider=self._provider, secrets=keys) from error
