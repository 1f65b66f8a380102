"""Deliberately broken adapters. Each names the rules that catch it; a rule that catches none is not worth its number."""

from . import counters, managers, sinks_and_limits, stores, strategies
from .registry import BROKEN, HEALTHY, Broken, suite_of, verdict

__all__ = ["BROKEN", "HEALTHY", "Broken", "suite_of", "verdict"]

_MODULES = (stores, counters, strategies, managers, sinks_and_limits)
