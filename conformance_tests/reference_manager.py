"""A plain manager that keeps every rule: sessions in dicts, the window built anew at each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field

from contextport.contracts import (
    AddsGroups,
    Budget,
    BudgetTooSmall,
    Context,
    ContextManager,
    ContextStats,
    Json,
    Kind,
    Made,
    Message,
    MessageConflict,
    Mode,
    Outcome,
    Receipt,
    ReplayFailed,
    Replays,
    Text,
    TokenCounter,
    ToolResult,
    dump_message,
    from_chat,
    implements,
    load_message,
    messages_digest,
)

from .reference_strategy import ReferenceStrategy

__all__ = ["ReferenceManager", "Session"]


@define
class Session:
    """What was said since the last clear, the prompt, and every window that was handed out."""

    said: list[Message] = field(factory=list[Message])
    prompt: str = ""
    epoch: int = 1


@implements(ContextManager, AddsGroups, Replays)
class ReferenceManager:
    """Keeps sessions in a dict, which several managers may share."""

    def __init__(self, counter: TokenCounter, budget: Budget, sessions: dict[str, Session] | None = None) -> None:
        self.counter, self.budget = counter, budget
        self.sessions: dict[str, Session] = {} if sessions is None else sessions
        self.strategy = ReferenceStrategy(counter)

    @property
    def limit(self) -> int:
        """Tokens for all that is sent."""
        return self.budget.usable_input

    def session(self, session_id: str) -> Session:
        """The session, begun if it is new."""
        return self.sessions.setdefault(session_id, self.new_session())

    def new_session(self) -> Session:
        """An empty session."""
        return Session()

    def taken(self, message: Message | Mapping[str, Json]) -> Message:
        """A message of our own, from whatever was handed in."""
        if isinstance(message, Message):
            return load_message(dump_message(message))
        return from_chat(message)

    async def add_message(self, session_id: str, message: Message | Mapping[str, Json]) -> Message:
        return (await self.add_messages(session_id, [message]))[0]

    async def add_messages(self, session_id: str, messages: Sequence[Message | Mapping[str, Json]]) -> tuple[Message, ...]:
        session = self.session(session_id)
        known = {message.id: message for message in session.said}
        new: list[Message] = []
        answer: list[Message] = []
        for message in [self.taken(one) for one in messages]:
            before = known.get(message.id)
            if before is None:
                new.append(message)
                known[message.id] = before = message
            elif dump_message(before) != dump_message(message):
                raise MessageConflict(f"message {message.id!r} is there with other content", message_id=message.id)
            answer.append(before)
        session.said.extend(new)
        return tuple(answer)

    async def set_system_prompt(self, session_id: str, prompt: str) -> None:
        needed = self.counter.count_text(prompt)
        if needed >= self.limit:
            raise BudgetTooSmall(
                f"the system prompt takes {needed} of {self.limit} tokens", needed=needed + 1, available=self.limit
            )
        self.session(session_id).prompt = prompt

    async def clear_context(self, session_id: str) -> None:
        session = self.session(session_id)
        session.said, session.epoch = [], session.epoch + 1

    def prompt_messages(self, session: Session) -> list[Message]:
        """The system prompt as a message, if there is one."""
        return [Message.system(session.prompt, id="system prompt", kind=Kind.SYSTEM_PROMPT)] if session.prompt else []

    def arranged(self, said: Sequence[Message]) -> list[Message]:
        """Each call with one result right behind it, a stand-in where there is none; results without a call left out."""
        first: dict[str, Message] = {}
        for message in said:
            for result in message.tool_results:
                first.setdefault(result.call_id, message)
        out: list[Message] = []
        for message in said:
            if not message.tool_results:
                out.append(message)
                calls = [call.call_id for call in message.tool_calls]
                out.extend(one for one in said if any(first.get(name) is one for name in calls))
                out.extend(self.stand_in(message, name) for name in calls if name not in first)
        return out

    def stand_in(self, caller: Message, call_id: str) -> Message:
        """A result that says that there is none."""
        parts = (ToolResult(call_id=call_id, parts=(Text("no result"),)),)
        return Message(role="tool", id=f"{caller.id} {call_id}", kind=Kind.STAND_IN, parts=parts)

    async def window(self, session: Session) -> tuple[list[Message], int]:
        """(the window, how many messages are not in it)."""
        whole = [*self.prompt_messages(session), *self.arranged(session.said)]
        result = await self.strategy.compress(whole, self.limit)
        if result.outcome is Outcome.CANNOT_FIT:
            raise BudgetTooSmall(
                f"the newest message takes {result.tokens} of {self.limit} tokens", needed=result.tokens, available=self.limit
            )
        kept = list(result.messages)
        omitted = len(session.said) - sum(message.in_conversation for message in kept)
        gap = Message.user(f"[{omitted} messages left out]", id="gap", kind=Kind.GAP)
        if omitted and result.tokens + self.counter.count_message(gap) <= self.limit:
            kept.insert(len(self.prompt_messages(session)), gap)
        return kept, omitted

    async def get_context(self, session_id: str) -> Context:
        session = self.sessions.get(session_id, self.new_session())
        kept, omitted = await self.window(session)
        receipt = Receipt(
            session_id=session_id,
            epoch=session.epoch,
            version=len(session.said),
            config="reference",
            mode=Mode.FULL,
            slots=tuple(Made(message) for message in kept),
            messages=tuple(kept),
        )
        return Context(
            session_id=session_id,
            messages=tuple(kept),
            tokens=self.strategy.estimate_tokens(kept),
            limit=self.limit,
            is_compressed=omitted > 0 or self.is_shortened(session, kept),
            omitted_count=omitted,
            receipt=receipt,
        )

    def is_shortened(self, session: Session, kept: Sequence[Message]) -> bool:
        """Whether a message of the window has less text than was added."""
        said = {message.id: message.text for message in session.said}
        return any(message.text != said.get(message.id, message.text) for message in kept)

    async def get_context_stats(self, session_id: str) -> ContextStats:
        session = self.sessions.get(session_id, self.new_session())
        context = await self.get_context(session_id)
        turn_start = max((n for n, message in enumerate(context.messages) if message.opens_turn), default=0)
        return ContextStats(
            message_count=len(context.messages),
            token_count=context.tokens,
            is_compressed=context.is_compressed,
            original_message_count=len(session.said),
            history_tokens=self.strategy.estimate_tokens(session.said),
            system_tokens=self.strategy.estimate_tokens(self.prompt_messages(session)),
            last_turn_tokens=self.strategy.estimate_tokens(context.messages[turn_start:]),
            summary_tokens=0,
            tool_schema_tokens=0,
            limit=self.limit,
            window=self.budget.window,
            usage_ratio=context.tokens / self.limit,
            counter=self.counter.name,
        )

    async def replay(self, receipt: Receipt) -> tuple[Message, ...]:
        session = self.sessions.get(receipt.session_id)
        if session is None or receipt.epoch > session.epoch:
            raise ReplayFailed("the session has no such epoch")
        messages = tuple(slot.message for slot in receipt.slots if isinstance(slot, Made))
        if messages_digest(messages) != receipt.digest:
            raise ReplayFailed("the messages are not those that the receipt was made for")
        return messages

    def second(self, counter: TokenCounter, budget: Budget) -> ReferenceManager:
        """Another manager over the same sessions."""
        return type(self)(counter, budget, self.sessions)
