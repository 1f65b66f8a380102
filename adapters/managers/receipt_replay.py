"""What a model saw, rebuilt from its receipt and the log."""

from __future__ import annotations

from contextport.contracts import ContextStore, Made, Message, Receipt, ReplayFailed, messages_digest

__all__ = ["replayed"]


async def replayed(receipt: Receipt, store: ContextStore) -> tuple[Message, ...]:
    """The messages of the receipt, byte for byte. Raises `ReplayFailed` when the log no longer has them."""
    messages: list[Message] = []
    for slot in receipt.slots:
        if isinstance(slot, Made):
            messages.append(slot.message)
            continue
        count = slot.last - slot.first + 1
        read = await store.read(
            receipt.session_id, after=slot.first - 1, before=slot.last + 1, limit=max(1, count), epoch=receipt.epoch
        )
        if len(read) != count:
            raise ReplayFailed(
                f"the log of session {receipt.session_id!r} has {len(read)} of the {count} entries "
                f"{slot.first} to {slot.last} of epoch {receipt.epoch}: it was purged, or the receipt is of another store",
                session_id=receipt.session_id,
            )
        messages.extend(entry.message for entry in read)
    if messages_digest(tuple(messages)) != receipt.digest:
        raise ReplayFailed(f"the messages of session {receipt.session_id!r} do not have the digest {receipt.digest}")
    return tuple(messages)
