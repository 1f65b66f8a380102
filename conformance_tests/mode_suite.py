"""The suites of `ModePolicy` and `ModeSignal`: what an author writes to have one checked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager

from contextport.contracts import ModePolicy, ModeSignal, verify

from . import mode_policy_rules, mode_signal_rules
from .mode_situations import RuleLayers
from .rules import settled
from .suite import Conformance

__all__ = ["ModePolicyConformance", "ModeSignalConformance"]

RULE_MODULES = (mode_policy_rules, mode_signal_rules)  # a suite has the rules that are known when it is defined


class ModePolicyConformance(Conformance, port=ModePolicy):
    """Suite of `ModePolicy`: a walk over every kind of situation, under several rules."""

    def make_policy(self, layers: RuleLayers) -> ModePolicy | Awaitable[ModePolicy]:
        """A policy that decides by these rules: `layers.default` are settings of `ModeRules`, over which its tenants' and its
        sessions' hold, setting by setting; `layers.as_json()` has them all as the JSON of a file.
        """
        raise NotImplementedError("write make_policy: return a policy with the given rules")

    async def make(self) -> ModePolicy:
        return await self._made(RuleLayers())

    @asynccontextmanager
    async def policy(self, layers: RuleLayers) -> AsyncGenerator[ModePolicy]:
        """A policy of its own, with these rules."""
        built = await self._made(layers)
        try:
            yield built
        finally:
            await self.release(built)

    async def _made(self, layers: RuleLayers) -> ModePolicy:
        policy = await settled(self.make_policy(layers))
        verify(policy, ModePolicy)
        return policy


class ModeSignalConformance(Conformance, port=ModeSignal):
    """Suite of `ModeSignal`: turns of every sort."""

    def make_signal(self) -> ModeSignal | Awaitable[ModeSignal]:
        """A signal, in the same configuration each time."""
        raise NotImplementedError("write make_signal: return a signal, in the same configuration each time")

    async def make(self) -> ModeSignal:
        signal = await settled(self.make_signal())
        verify(signal, ModeSignal)
        return signal
