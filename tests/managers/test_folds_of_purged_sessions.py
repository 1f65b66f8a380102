"""Reproduction: a purge between two store calls of a fold's commit."""

from __future__ import annotations

import pytest

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.contracts import ContextStore
from tests.managers.folding_sessions import PROMPT, SESSION, Backend, awaited, begun, engine, log_of
from tests.managers.test_folds_at_once import CALLS, check_served, disturbed


@pytest.mark.parametrize("prompt", [PROMPT, ""])
@pytest.mark.parametrize("at", CALLS)
@awaited
async def test_of_a_session_that_was_purged_during_a_fold_nothing_comes_back(backend: Backend, at: int, prompt: str) -> None:
    async def purge(store: ContextStore, other: ContextEngine) -> None:
        await store.purge(SESSION)

    store, other, _, _ = await disturbed(backend, at, purge, prompt)
    assert (await other.get_context(SESSION)).messages == ()
    assert await log_of(store) == ()
    await begun(other)
    assert await other.compact(SESSION, max_tokens=120)
    await check_served(store, [other, engine(backend.open())])
