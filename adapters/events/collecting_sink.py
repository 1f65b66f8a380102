"""Events kept in a list."""

from __future__ import annotations

from attrs import field, frozen

from contextport.contracts import Event, EventKind, EventSink, implements

__all__ = ["CollectingEventSink"]


@implements(EventSink)
@frozen(eq=False)
class CollectingEventSink:
    """Keeps every event in `events`, oldest first, for tests and notebooks. It grows without bound."""

    events: list[Event] = field(factory=list[Event], init=False)

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: EventKind) -> tuple[Event, ...]:
        """The events of one kind, oldest first."""
        return tuple(event for event in self.events if event.kind is kind)
