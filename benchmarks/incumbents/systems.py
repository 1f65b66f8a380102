"""What is compared: systems, versions, and what we found out about each failure by hand."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

__all__ = ["SYSTEMS", "Finding", "System"]


@frozen(kw_only=True)
class Finding:
    """Why a rule failed. `configurations` are positions in the module's STRATEGIES.

    A fault breaks what the system itself says, or what a provider demands. Another contract never promised the rule.
    `reproduction` is a script for the bare system; empty if the system has no notion of what the rule speaks of.
    """

    rule: str
    configurations: tuple[int, ...]
    verdict: Literal["fault", "another contract"]
    consequence: str
    reproduction: str = ""


@frozen(kw_only=True)
class System:
    """A system, its published version, the wrapper module, what it does well, and our findings."""

    name: str
    requirement: str
    module: str
    strengths: str
    findings: tuple[Finding, ...] = ()


_ORPHAN = (
    "The history was out of order before: a result stands away from its call, as after a late tool or a crash. Nobody promised "
    "to mend it, but the cut takes the call and leaves the result. Providers refuse a result without its call, and go on "
    "refusing until somebody mends the history."
)

SYSTEMS: tuple[System, ...] = (
    System(
        name="langchain-core",
        requirement="langchain-core==1.8.3",
        module="langchain_trim",
        strengths=(
            "One pure function, with a counter that is a plain function of messages: the easiest to wrap. With "
            "this configuration, which its docstring recommends, calls and results stay together, the input is left alone and "
            "the budget is kept, a large system prompt aside. (Its default configuration has no `start_on` and does split pairs.)"
        ),
        findings=(
            Finding(
                rule="STRATEGY-1",
                configurations=(0,),
                verdict="another contract",
                consequence=(
                    "What comes before the first user message is dropped even with room to spare, as `start_on` is documented. "
                    "A greeting of the assistant with facts in it is gone from the first call on."
                ),
                reproduction="langchain_leading_answer_lost.py",
            ),
            Finding(
                rule="STRATEGY-6",
                configurations=(0,),
                verdict="another contract",
                consequence=(
                    "`include_system` is documented for index 0 alone. An instruction that was added later ends with the "
                    "window, without notice."
                ),
                reproduction="langchain_later_system_lost.py",
            ),
            *(
                Finding(
                    rule=rule,
                    configurations=(0,),
                    verdict="fault",
                    consequence=consequence,
                    reproduction="langchain_question_lost.py",
                )
                for rule, consequence in (
                    (
                        "STRATEGY-7",
                        "When the turn of the newest question is larger than the budget, as after one large tool result, the "
                        "question is not shortened or kept: nothing of the turn is left, and the model does not know the task.",
                    ),
                    (
                        "STRATEGY-8",
                        "Of the same kind: no user message is left at all, against the first property that its docstring gives "
                        "for a valid history, and providers want one.",
                    ),
                    (
                        "STRATEGY-17",
                        "Of the same kind: without a system prompt the result is the empty list. Providers refuse a request "
                        "without messages; the caller has to look for it, as the function does not say so.",
                    ),
                )
            ),
            Finding(
                rule="STRATEGY-20",
                configurations=(0,),
                verdict="another contract",
                consequence=_ORPHAN,
                reproduction="langchain_orphan_result.py",
            ),
        ),
    ),
    System(
        name="Microsoft Agent Framework",
        requirement="agent-framework-core==1.23.0",
        module="agent_framework_compaction",
        strengths=(
            "Messages are grouped before anything is cut, so that calls, results and reasoning go or stay as one, also where a "
            "result does not follow its call directly. Nothing is deleted: messages are flagged with a reason. The first "
            "configuration keeps every system message, wherever it stands, and the window is never empty. Its tokenizer hook "
            "is given a message as JSON text, not as a message; the wrapper reads the id from it to count the message itself."
        ),
        findings=(
            Finding(
                rule="STRATEGY-7",
                configurations=(0,),
                verdict="another contract",
                consequence=(
                    "Protected are the first question, as configured, and the newest group. Once a tool works on a second "
                    "question, that question is among the first to go, although it would have fitted: the model sees a greeting "
                    "and the result of a tool, and has to guess what was asked."
                ),
                reproduction="agent_framework_question_lost.py",
            ),
            Finding(
                rule="STRATEGY-6",
                configurations=(1,),
                verdict="another contract",
                consequence=(
                    "Its docstring says that anchors go as well if need be. Then one long message is enough to send the model "
                    "out without its system prompt, and nothing in the result says so."
                ),
                reproduction="agent_framework_system_lost.py",
            ),
            Finding(
                rule="STRATEGY-7",
                configurations=(1,),
                verdict="another contract",
                consequence="To enforce the budget the only question goes, and the newest group alone stays.",
                reproduction="agent_framework_begins_with_call.py",
            ),
            Finding(
                rule="STRATEGY-8",
                configurations=(1,),
                verdict="fault",
                consequence=(
                    "What stays begins with a tool call or an answer. Some providers refuse that: Amazon Bedrock says that a "
                    "conversation must start with a user message."
                ),
                reproduction="agent_framework_begins_with_call.py",
            ),
            Finding(
                rule="STRATEGY-20",
                configurations=(0, 1),
                verdict="another contract",
                consequence=f"{_ORPHAN} Here a late result is linked to its call; a second one for the same call is not.",
                reproduction="agent_framework_orphan_result.py",
            ),
            Finding(
                rule="STRATEGY-29",
                configurations=(0,),
                verdict="another contract",
                consequence=(
                    "The first question, as configured, and the newest group are never given up; a warning says that they do not "
                    "fit. After a long first message every later request is too long, however short its question."
                ),
                reproduction="agent_framework_first_question_kept.py",
            ),
        ),
    ),
    System(
        name="Haystack",
        requirement="haystack-ai==3.4.1",
        module="haystack_compaction",
        strengths=(
            "The strategy is given the counter by its caller, so trigger and result agree. It is the only one of the four that "
            "always keeps the newest message of the user. It tells the model how much was removed, and folds the note of an "
            "earlier pass into the next. Whole turns go before steps of the current task. The three rules of "
            "its `Compactor` protocol are a contract in writing."
        ),
        findings=(
            Finding(
                rule="STRATEGY-6",
                configurations=(0, 1),
                verdict="another contract",
                consequence=(
                    "Only leading system messages are protected, as documented. An instruction that was added later goes with "
                    "its turn; inside the current task it goes at the first compaction, even if all else is kept."
                ),
                reproduction="haystack_later_system_lost.py",
            ),
            Finding(
                rule="STRATEGY-7",
                configurations=(0, 1),
                verdict="another contract",
                consequence=(
                    "The newest user message is kept, but a host that injects a message while the agent works has only the user "
                    "role for it: then that message is protected, and the question goes."
                ),
                reproduction="haystack_question_lost_to_injected.py",
            ),
            Finding(
                rule="STRATEGY-19",
                configurations=(0, 1),
                verdict="fault",
                consequence=(
                    "Rule 1 of its protocol wants None unless the conversation gets smaller. The note can be larger than the "
                    "few short messages it replaces, so a window that was just over the target grows by up to a note. "
                    "`omission_note=None` avoids it, without the note."
                ),
                reproduction="haystack_note_larger.py",
            ),
            Finding(
                rule="STRATEGY-20",
                configurations=(0, 1),
                verdict="another contract",
                consequence=_ORPHAN,
                reproduction="haystack_orphan_result.py",
            ),
            Finding(
                rule="STRATEGY-29",
                configurations=(0, 1),
                verdict="another contract",
                consequence=(
                    "The note is added also where it is what no longer fits, so the window stays over the target by up to a "
                    "note. `omission_note=None` avoids it, without the note."
                ),
                reproduction="haystack_note_over_target.py",
            ),
        ),
    ),
    System(
        name="Strands Agents",
        requirement="strands-agents==1.62.0",
        module="strands_managers",
        strengths=(
            "The only one of the four with pins: the default manager keeps them, and keeps the partner of a pinned call too. It "
            "shortens old tool results, with a visible marker, before it drops messages, and says clearly when it cannot "
            "reduce any further. The newer pipeline never gives up the first message or the last, and marks what it removed. "
            "The default manager has no counter: the provider's refusal is its signal. System prompts are outside its "
            "history, so the wrapper takes them out and puts them back; the rules on them say nothing about Strands."
        ),
        findings=(
            Finding(
                rule="STRATEGY-7",
                configurations=(0,),
                verdict="another contract",
                consequence=(
                    "One question followed by many tool rounds, the usual run of an agent, is cut at a tool call: the question "
                    "is the first thing to go, and the model goes on without its task. Pinning the question avoids it."
                ),
                reproduction="strands_question_lost.py",
            ),
            Finding(
                rule="STRATEGY-8",
                configurations=(0,),
                verdict="fault",
                consequence=(
                    "The same window begins with an assistant message. Its own issue 2085 reports that Bedrock refuses this for "
                    "some models, and pull request 2087 barred it; the later fallback for histories full of tools is such a cut."
                ),
                reproduction="strands_question_lost.py",
            ),
            Finding(
                rule="STRATEGY-7",
                configurations=(1,),
                verdict="another contract",
                consequence=(
                    "The preset keeps the first message and the last four. From the third tool round on, the question of a later "
                    "task is in between, and goes; the model sees the greeting and two tool rounds."
                ),
                reproduction="strands_pipeline_question_lost.py",
            ),
            Finding(
                rule="STRATEGY-13",
                configurations=(1,),
                verdict="another contract",
                consequence=(
                    "Its source says that the last resort ignores pins, so that a window full of them can be reduced. It does so "
                    "as well where the pinned message would have fitted."
                ),
                reproduction="strands_pipeline_marker_and_pin.py",
            ),
            Finding(
                rule="STRATEGY-19",
                configurations=(1,),
                verdict="another contract",
                consequence=(
                    "The marker can be larger than the few short messages it replaces. It counts as progress, so one of the "
                    "three retries after a refusal is spent on a longer prompt."
                ),
                reproduction="strands_pipeline_marker_and_pin.py",
            ),
            Finding(
                rule="STRATEGY-20",
                configurations=(0, 1),
                verdict="another contract",
                consequence=_ORPHAN,
                reproduction="strands_orphan_result.py",
            ),
            Finding(
                rule="STRATEGY-29",
                configurations=(0,),
                verdict="another contract",
                consequence=(
                    "Where the only turn is a tool round that ends in an answer, it says that it cannot trim, although question "
                    "and answer would fit."
                ),
                reproduction="strands_gives_up.py",
            ),
            Finding(
                rule="STRATEGY-29",
                configurations=(1,),
                verdict="another contract",
                consequence=(
                    "The first message is never given up, and the marker is added also where it is what no longer fits. After a "
                    "long first message every later request fails, however short its question."
                ),
                reproduction="strands_pipeline_first_message_kept.py",
            ),
        ),
    ),
    System(
        name="contextport",
        requirement="",
        module="our_strategies",
        strengths="Our own strategies, through the same runner. That they hold is no merit: the rules were written with them.",
    ),
)
