"""Which of the five modes comes next: the default policy, its rules, and the signals it is told of."""

from .machine import ModeMachine
from .rules import Layer, RulesBook, TenantOf
from .rules_text import read_rules
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
    "read_rules",
    "rules_schema",
]
