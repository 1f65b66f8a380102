"""A model that runs in this process, offline, by the library `transformers`: a folder of weights, or one GGUF file."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

from attrs import frozen

from contextport.contracts import InvalidArgument, Json, Message, ModelCallFailed, Text, implements
from contextport.contracts.extras import needs_extra
from contextport.contracts.json_values import encodable
from contextport.contracts.model import ChatModel, Completion, StopReason, StreamsCompletions, TextDelta, Usage
from contextport.contracts.provider_error import ProviderFailure

from .answers import check_max_output, checked_parameters

with needs_extra("local-model"):
    from transformers import AutoModelForCausalLM, AutoTokenizer, StoppingCriteria, StoppingCriteriaList, TextStreamer

__all__ = ["TransformersChatModel"]

_PROVIDER = "transformers"
_SET_BY_CALLS = ("input_ids", "attention_mask", "max_new_tokens", "max_length", "stopping_criteria", "streamer", "num_beams")


@implements(ChatModel, StreamsCompletions)
class TransformersChatModel:
    """Answers with text by the model at `path`, a local folder; with `gguf_file`, by that file in the folder.

    The weights are read at the first call, or by `load`, in a thread of the model's own, where each answer is generated too, one
    after the other. A cancelled call stops at its next token; a load once begun is finished first. Nothing is downloaded.
    `default_max_output` is the limit of an answer, in tokens, where a call names none. `window`, in tokens, is what the model's
    configuration says, unless given. `parameters` are arguments of `generate`, such as `do_sample`; without any, the likeliest
    token is taken each time.

    Messages go through the model's chat template as a role and a text; calls and results of tools are written out in the text.
    A model of this class calls no tools: `tools` raise `InvalidArgument`. An input that leaves no room in the window raises
    `ModelCallFailed` whose failure has the code `context_length_exceeded` and both numbers in its text.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        gguf_file: str = "",
        name: str = "",
        window: int | None = None,
        default_max_output: int = 512,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        check_max_output(default_max_output)
        self._folder, self._gguf_file = Path(path), gguf_file
        if not (self._folder / gguf_file).exists():
            raise InvalidArgument(f"{self._folder / gguf_file} does not exist; give a local folder", name="path", value=str(path))
        if window is not None and window < 1:
            raise InvalidArgument(f"window is {window}; it must be 1 or more tokens, or None", name="window", value=window)
        self.model = name or gguf_file or self._folder.name
        self.host = self.api = ""
        self._window, self._default_max_output = window, default_max_output
        self._parameters = {"do_sample": False, **checked_parameters(parameters, _SET_BY_CALLS)}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"model {self.model}")
        self._loaded: _Loaded | None = None

    async def load(self) -> None:
        """Read the weights now, so that the first answer does not have to wait for it."""
        await self._in_thread(self._load, threading.Event())

    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        async with aclosing(self._stream(*self._checked(messages, max_output, tools))) as items:
            *_, completion = [item async for item in items]
        return cast(Completion, completion)

    def stream(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> AsyncIterator[TextDelta | Completion]:
        return self._stream(*self._checked(messages, max_output, tools))

    def _checked(
        self, messages: Sequence[Message], max_output: int | None, tools: Sequence[Json]
    ) -> tuple[list[dict[str, str]], int]:
        check_max_output(max_output)
        if tools:
            raise InvalidArgument(f"{self.model} calls no tools; leave tools out", name="tools", value=len(tools))
        return [_as_turn(message) for message in messages], max_output or self._default_max_output

    async def _stream(self, turns: list[dict[str, str]], limit: int) -> AsyncGenerator[TextDelta | Completion]:
        loop, pieces, stop = asyncio.get_running_loop(), asyncio.Queue[str | None](), threading.Event()

        def tell(piece: str | None) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        def answer() -> _Answer:
            try:
                return self._load().generate(turns, limit, self._window, tell, stop)
            finally:
                tell(None)

        answering = asyncio.ensure_future(self._in_thread(answer, stop))
        try:
            text = ""
            while (piece := await pieces.get()) is not None:
                text += piece
                yield TextDelta(piece)
            completion = self._completion(await answering, text)
        finally:
            answering.cancel()
            await _ended(answering)
        yield completion

    async def _in_thread(self, work: Callable[[], Any], stop: threading.Event) -> Any:
        """What `work` returns. If cancelled: it does not begin, or it is stopped and its end is waited for."""
        begun = self._thread.submit(work)
        running = asyncio.wrap_future(begun)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            stop.set()
            if not begun.cancel():
                await _ended(running)
            raise
        except ModelCallFailed:
            raise
        except Exception as error:
            kind = f"{type(error).__module__.partition('.')[0]}.{type(error).__name__}"
            failure = ProviderFailure(message=str(error), provider=_PROVIDER, exception=kind)
            raise ModelCallFailed(f"{self.model} did not answer: {kind}", failure=failure, model=self.model) from error

    def _load(self) -> _Loaded:
        if self._loaded is None:
            file: dict[str, Any] = {"local_files_only": True}
            if self._gguf_file:
                file["gguf_file"] = self._gguf_file
            tokenizer: Any = cast(Any, AutoTokenizer).from_pretrained(self._folder, **file)
            network: Any = cast(Any, AutoModelForCausalLM).from_pretrained(self._folder, **file)
            self._loaded = _Loaded(self.model, tokenizer, network.eval(), self._parameters)
        return self._loaded

    def _completion(self, answer: _Answer, text: str) -> Completion:
        message = Message(role="assistant", parts=(Text(text),) if text else ())
        raw_stop = "eos" if answer.stop is StopReason.END else "length"
        return Completion(message=message, stop=answer.stop, raw_stop=raw_stop, usage=answer.usage, model=self.model)


async def _ended(running: asyncio.Future[Any]) -> None:
    """Wait until it has ended, however often the waiting itself is cancelled; how it ended is told elsewhere."""
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError:
            continue
    if not running.cancelled():
        running.exception()


def _as_turn(message: Message) -> dict[str, str]:
    lines = [message.text] if message.text else []
    lines += [f"[calls {call.name} with {call.arguments}]" for call in message.tool_calls]
    role = {"developer": "system", "tool": "user"}.get(message.role, message.role)
    return {"role": role, "content": encodable("\n".join(lines))}


@frozen
class _Answer:
    """How the generation of an answer ended."""

    stop: StopReason
    usage: Usage


@frozen
class _Loaded:
    """Weights and tokenizer, used in the model's thread only."""

    name: str
    tokenizer: Any
    network: Any
    parameters: Mapping[str, Any]

    def generate(
        self,
        turns: list[dict[str, str]],
        limit: int,
        window: int | None,
        tell: Callable[[str], None],
        stop: threading.Event,
    ) -> _Answer:
        """Write the answer; `tell` gets each piece of text, and after `stop` no further token is made."""
        given = self.tokenizer.apply_chat_template(turns, add_generation_prompt=True, return_tensors="pt", return_dict=True)
        read = int(given["input_ids"].shape[1])
        whole = window or int(self.network.config.max_position_embeddings)
        if read >= whole:
            raise self._overflow(read, whole)
        room = min(limit, whole - read)
        made = self.network.generate(
            **given,
            **self.parameters,
            max_new_tokens=room,
            streamer=_Pieces(self.tokenizer, tell),
            stopping_criteria=StoppingCriteriaList([_Stopped(stop)]),
        )
        written = int(made.shape[1]) - read
        usage = Usage(input_tokens=read, output_tokens=written)
        if int(made[0, -1]) in self._ends() or written < room:
            return _Answer(StopReason.END, usage)
        return _Answer(StopReason.OUTPUT_LIMIT if room == limit else StopReason.WINDOW_LIMIT, usage)

    def _ends(self) -> list[int]:
        end = self.network.generation_config.eos_token_id
        return [end] if isinstance(end, int) else list(end or ())

    def _overflow(self, read: int, window: int) -> ModelCallFailed:
        text = f"This model's maximum context length is {window} tokens. However, your messages resulted in {read} tokens."
        failure = ProviderFailure(code="context_length_exceeded", message=text, provider=_PROVIDER)
        return ModelCallFailed(f"{self.name}: the input has {read} tokens, the window {window}", failure=failure, model=self.name)


class _Pieces(TextStreamer):
    """Hands out the text of the answer as its words are finished."""

    def __init__(self, tokenizer: Any, tell: Callable[[str], None]) -> None:
        super().__init__(tokenizer, skip_prompt=True, skip_special_tokens=True)
        self._tell = tell

    def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
        """Called by `generate` with each piece."""
        if text:
            self._tell(text)


class _Stopped(StoppingCriteria):
    """Ends the generation when an event is set."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """One boolean per sequence, as a tensor on its device."""
        first = input_ids[:, 0]
        return first == first if self._stop.is_set() else first != first
