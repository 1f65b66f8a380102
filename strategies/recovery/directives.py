"""What a model is told when its answer was cut (R169, R170). Plain texts: a host may hand in its own."""

from __future__ import annotations

from attrs import frozen

__all__ = ["Directives"]


@frozen(kw_only=True)
class Directives:
    """The texts of the user turns that ask for the rest of an answer.

    `go_on` asks for the rest of a text, `in_code` is added where the cut is inside a code block, `whole_call` asks for a tool
    call again whose arguments were cut; `{names}` stands for the tools that were called.
    """

    go_on: str = (
        "Your last message was cut off by a length limit before it was finished. Write only what comes next, from the very "
        "character at which it stops, in the same language, style and format. Do not apologise, do not announce that you go "
        "on, do not repeat anything that is already there, and do not sum it up."
    )
    in_code: str = " It stops inside a code block that is still open: write more code, and do not open the block again."
    whole_call: str = (
        "Your last message was cut off by a length limit inside a tool call ({names}), so the call was not made. Make it "
        "again, whole, without repeating any text before it. If its arguments are too long for one message, split the work "
        "into smaller calls."
    )

    def for_rest(self, *, in_code_block: bool) -> str:
        """The text that asks for the rest of a text."""
        return self.go_on + self.in_code if in_code_block else self.go_on

    def for_call(self, names: tuple[str, ...]) -> str:
        """The text that asks for a whole tool call."""
        return self.whole_call.replace("{names}", ", ".join(dict.fromkeys(names)) or "arguments incomplete")
