"""Which of the five modes comes next: the default policy, its rules, and the signals it is told of."""

from .machine import ModeMachine
from .rules import Layer, RulesBook, TenantOf
from .settings import rules_schema
from .signals import AsksAboutEarlyDetails, BeginsNewTask, NeedsKnowledge

__all__ = [
    "AsksAboutEarlyDetails",
    "BeginsNewTask",
    "Layer",
    "ModeMachine",
    "NeedsKnowledge",
    "RulesBook",
    "TenantOf",
    "rules_schema",
]
