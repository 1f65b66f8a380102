"""What is compared: systems, versions, and what we found out about each failure by hand."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

__all__ = ["SYSTEMS", "Finding", "System"]


@frozen(kw_only=True)
class Finding:
    """Why a rule failed. `configurations` are positions in the module's STRATEGIES.

    A fault breaks what the system itself says, or what a provider demands. Another contract never promised the rule.
    """

    rule: str
    configurations: tuple[int, ...]
    verdict: Literal["fault", "another contract"]
    consequence: str
    reproduction: str


@frozen(kw_only=True)
class System:
    """A system, its published version, the wrapper module, what it does well, and our findings."""

    name: str
    requirement: str
    module: str
    strengths: str
    findings: tuple[Finding, ...] = ()


SYSTEMS: tuple[System, ...] = (
    System(name="langchain-core", requirement="langchain-core==1.8.3", module="langchain_trim", strengths=""),
    System(
        name="Microsoft Agent Framework",
        requirement="agent-framework-core==1.23.0",
        module="agent_framework_compaction",
        strengths="",
    ),
    System(name="Haystack", requirement="haystack-ai==3.4.1", module="haystack_compaction", strengths=""),
    System(name="Strands Agents", requirement="strands-agents==1.62.0", module="strands_managers", strengths=""),
    System(name="contextport", requirement="", module="our_strategies", strengths=""),
)
