"""What a text or a history is made smaller for, and what must survive it (R178, R179)."""

from __future__ import annotations

from enum import StrEnum

from contextport.contracts import InvalidArgument

__all__ = ["Hint", "instruction_for"]


class Hint(StrEnum):
    """The use that is made of what comes out."""

    REACT_ITERATION = "react_iteration"  # the next step of an agent loop
    PLANNER_INPUT = "planner_input"  # a plan is made from it
    STEP_DEPENDENCY = "step_dependency"  # another step builds on it
    GENERAL = "general"

    @classmethod
    def of(cls, name: str) -> Hint:
        """The hint of that name. Raises `InvalidArgument` with the names there are."""
        try:
            return cls(name)
        except ValueError:
            known = ", ".join(cls)
            raise InvalidArgument(f"hint is {name!r}; it must be one of {known}", name="hint", value=name) from None


_KEEP = {
    Hint.REACT_ITERATION: (
        "Keep the goal that is being worked on, the latest line of reasoning, and every figure, name and path that is still "
        "needed. Leave out steps that were repeated or led nowhere, failed attempts, and long tool output."
    ),
    Hint.PLANNER_INPUT: (
        "Keep what the user wants and how that changed, the decisions that were made, and every constraint. Leave out "
        "greetings, the wording of the dialogue, and how tools were used."
    ),
    Hint.STEP_DEPENDENCY: (
        "Keep results, figures, names and conclusions exactly as they are. Leave out how they were found, "
        "failed attempts, and layout."
    ),
    Hint.GENERAL: (
        "Keep facts, decisions and the results of tools. Leave out greetings, filler, and what is said more than once."
    ),
}


def instruction_for(hint: Hint, limit: str) -> str:
    """The instruction for a model that makes a text smaller; `limit` is how long the result may be, such as `800 characters`."""
    return (
        f"Rewrite the text in at most {limit}. {_KEEP[hint]} Add nothing that the text does not say. "
        "Answer with the rewritten text alone, in the language of the text."
    )
