from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.conformance_tests.exact_counters import CharactersCounter, WordsCounter
from contextport.contracts import Fact, FactKind, FactLedger, Kind, Message, Summary, SummaryRequest, ToolCall
from contextport.strategies.summaries import ExtractiveSummarizer, faults_of, summary_message
from contextport.strategies.summaries.not_a_summary import noise_in
from contextport.strategies.summaries.value_labels import LabelledValues, relabelled
from tests.provider_rules.real_conversations import needs_data, real_conversations

WORDS = WordsCounter()
CHARACTERS = CharactersCounter()
PADDING = "We talked for a long while about the weather in the mountains and the food on the train back home."


def request(*texts: str, max_tokens: int = 60, **more: Any) -> SummaryRequest:
    messages = [
        Message.user(text) if n % 2 == 0 else Message.assistant(text) for n, text in enumerate((*texts, PADDING, PADDING))
    ]
    return SummaryRequest(messages=tuple(messages), max_tokens=max_tokens, **more)


def codes(text: str | Summary, asked: SummaryRequest, **more: Any) -> set[str]:
    summary = Summary(text=text) if isinstance(text, str) else text
    return {fault.partition(":")[0] for fault in faults_of(summary, asked, WORDS, **more)}


CONTRACT = request(
    "The contract number is AB-2024-001. The spending budget is 10000 euros.", "I noted both of them in /srv/plan.md."
)
CHINESE = request(
    "合同编号是AB-2024-001\uff0c项目经费10000元。",
    "好的\uff0c我记下了\uff0c截止日期是2024年3月5日。",
)


@pytest.mark.parametrize(
    "text",
    [
        "The contract is AB-2024-001 and the budget 10000 euros.",
        "Contract AB-2024-001, budget 10,000 EUR; both are in /srv/plan.md.",
        "1. Contract AB-2024-001\n2. Budget 10000 euros\n3. Both noted",
        "The user named a contract and a budget.",
        "recap ok",
        "Here is a summary of the talk: contract AB-2024-001, budget 10000.",
    ],
)
def test_a_true_summary_has_no_fault(text: str) -> None:
    assert codes(text, CONTRACT) <= {"wish_lost"}
    wish = Fact(kind=FactKind.CONSTRAINT, text="The spending budget is 10000 euros.")
    assert faults_of(Summary(text=text), attrs.evolve(CONTRACT, ledger=FactLedger((wish,))), WORDS) == ()


def test_faults_name_codes_and_numbers() -> None:
    asked = request("They met in Rome.", max_tokens=4)
    assert faults_of(Summary(text="They met 7 times, A-1 and B-2."), asked, WORDS) == (
        "too_long: 7 of 4 tokens",
        "not_in_source: 7, A-1, B-2",
    )


@pytest.mark.parametrize("text", ["", "  \n ", "\t"])
def test_nothing_is_no_summary(text: str) -> None:
    assert faults_of(Summary(text=text), CONTRACT, WORDS) == ("empty",)


def test_a_summary_is_smaller_than_what_it_replaces() -> None:
    asked = SummaryRequest(messages=(Message.user("They met in Rome and went home."), Message.assistant("Yes.")), max_tokens=50)
    assert codes("They met in Rome.", asked) == set()
    assert codes("They met in Rome and went home.", asked) == {"no_gain"}
    assert codes("They met in Rome.", asked, min_gain=0.5) == {"no_gain"}


@pytest.mark.parametrize("value", ["10001", "AB-2024-002", "2023-05-07", "/srv/other.md", "anna@example.org", "42%", "v2.1"])
def test_a_value_that_nobody_said_is_a_fault(value: str) -> None:
    assert f"not_in_source: {value}" in faults_of(Summary(text=f"They talked of {value} then."), CONTRACT, WORDS)
    known = request("They met.", ledger=FactLedger((Fact(kind=FactKind.IDENTIFIER, text=value),)))
    assert codes(f"They talked of {value} then.", known) == set()


def test_values_of_calls_results_and_earlier_summaries_are_in_the_source() -> None:
    call = ToolCall(call_id="c", name="find_v2", arguments='{"order": "ORD-1", "text": "two\\nNB-5"}')
    earlier = summary_message(Summary(done=("Sent SH-3",), facts=(Fact(kind=FactKind.IDENTIFIER, text="SH-4"),)), id="s")
    messages = (earlier, Message.user(PADDING), Message.assistant("", call), Message.tool("c", '{"total": 12.5}'))
    asked = SummaryRequest(messages=messages, max_tokens=30)
    assert codes("find_v2 found ORD-1 with NB-5 and 12.5 in SH-3 and SH-4.", asked) == set()


def test_values_of_system_messages_and_reasoning_are_not() -> None:
    messages = (Message.system("Rule R-17"), Message.assistant("<think>T-18</think>Fine."), Message.user(PADDING))
    asked = SummaryRequest(messages=messages, max_tokens=30)
    assert "not_in_source: R-17, T-18" in faults_of(Summary(text="R-17 and T-18"), asked, WORDS)


def test_a_fact_that_a_summarizer_adds_is_checked_too() -> None:
    invented = Summary(text="They talked.", facts=(Fact(kind=FactKind.IDENTIFIER, text="ZZ-9", label="contract"),))
    swapped = Summary(text="They talked.", facts=(Fact(kind=FactKind.NUMBER, text="10000", label="contract"),))
    assert "not_in_source" in codes(invented, CONTRACT)
    assert "other_label" in codes(swapped, CONTRACT)


@pytest.mark.parametrize(
    "text",
    [
        "The contract number is 10000.",
        "Contract: 10000",
        "Contract no. 10000, and the trip home.",
        "The spending budget is AB-2024-001.",
        "They agreed on contract 10000.",
    ],
)
def test_a_value_under_the_name_of_another_is_a_fault(text: str) -> None:
    assert "other_label" in codes(text, CONTRACT)


@pytest.mark.parametrize("text", ["合同编号是10000。", "合同\uff1a10000", "经费为AB-2024-001。", "项目经费AB-2024-001"])
def test_a_value_under_the_name_of_another_is_a_fault_in_chinese(text: str) -> None:
    faults = faults_of(Summary(text=text), CHINESE, CHARACTERS)
    assert any(fault.startswith("other_label: ") for fault in faults)


def test_a_true_chinese_summary_has_no_other_label() -> None:
    faults = faults_of(Summary(text="合同AB-2024-001\uff0c经费10000元\uff0c2024年3月5日截止。"), CHINESE, CHARACTERS)
    assert not any(fault.startswith(("other_label", "not_in_source", "answer", "apology")) for fault in faults)


@pytest.mark.parametrize(
    ("source", "summary", "found"),
    [
        ("The fee for contract K-7 is 300.", "The fee is 300.", []),
        ("Flight HAT001 costs 200, flight HAT002 costs 300.", "Flight HAT002 costs 300.", []),
        ("contract_id: K-7\nmax_price: 300", "Contract K-7, price 300", []),
        ("contract_id: K-7\nmax_price: 300", "The contract is 300", [("300", "contract")]),
        ("We paid 300 for it. The contract is K-7.", "They paid 300 dollars.", []),
        ("12 apples and 7 pears", "7 pears, 12 apples", []),
        ("Seats: 50. Budget: 10000.", "Budget: 50, seats: 10000", [("50", "budget"), ("10000", "seat")]),
    ],
)
def test_names_of_values(source: str, summary: str, found: list[tuple[str, str]]) -> None:
    assert list(relabelled(summary, LabelledValues.of([source]))) == found


TALK = {
    "apology": [
        "I'm sorry, but I can't help with that.",
        "I apologize for the confusion.",
        "抱歉\uff0c我没看懂。",
        "对不起。",
        "申し訳ありません。",
        "Lo siento, no entiendo.",
        "Je suis désolé.",
        "Es tut mir leid.",
    ],
    "refusal": [
        "I cannot help with this request.",
        "I can\u2019t summarize this conversation.",
        "As an AI language model, I have limits.",
        "There is nothing to summarize.",
        "我无法完成这个请求。",
        "作为一个AI\uff0c我不行。",
    ],
    "answer": [
        "Sure, the train leaves at noon.",
        "Of course! It is fine.",
        "You're welcome!",
        "好的\uff0c已为您预订。",
        "当然可以。",
    ],
    "promise": ["I'll book the flight now.", "I will look into it.", "Let me check that.", "我来帮您查一下。", "让我看看。"],
    "question": [
        "Would you like me to book it?",
        "The trip was discussed. How can I help you today?",
        "Let me know if that works.",
        "您需要我现在预订吗\uff1f",
        "还有什么需要帮忙的",
    ],
    "instruction": [
        "Summarize the conversation above.",
        "Your task is to shorten it.",
        "You are a helpful assistant.",
        "Keep it within 100 words.",
        "请总结以下对话。",
        "<|im_start|>assistant",
    ],
    "scratchpad": ["<think>They met.</think> They met.", "<analysis>They met."],
    "error_text": [
        "Error: connection refused",
        "openai.RateLimitError: too many requests",
        "Traceback (most recent call last):",
        "<html><body>Bad gateway</body></html>",
        '{"error": {"message": "overloaded"}}',
        "503 Service Unavailable",
        "请求超时",
    ],
}


@pytest.mark.parametrize(("sign", "text"), [(sign, text) for sign, texts in TALK.items() for text in texts])
def test_what_is_said_to_somebody_is_no_summary(sign: str, text: str) -> None:
    assert sign in codes(text, request("They met in Rome.", "Yes, they met there."))


def test_a_quotation_is_no_talk() -> None:
    asked = request("Where is parcel PK-1?", "I'm sorry, I can't help with that. Would you like me to call the depot?")
    text = "Where is parcel PK-1?\nassistant: I'm sorry, I can't help with that.\nThe weather was a topic."
    assert codes(text, asked) == set()
    assert "apology" in codes("I'm sorry, I can't help with that.", asked)


def test_a_system_prompt_must_not_come_out() -> None:
    secret = "Never reveal that the discount for loyal customers is unlimited."
    asked = SummaryRequest(messages=(Message.user(PADDING),), max_tokens=50, live=(Message.system(secret), Message.user(PADDING)))
    assert "instruction" in codes(f"They talked. {secret}", asked)
    assert codes("They talked of discounts.", asked) == set()


def test_a_copy_of_the_last_message_is_no_summary() -> None:
    last = "The train to Rome leaves from the third platform at the north side of the station."
    messages = (Message.user(PADDING), Message.assistant("Fine."), Message.user(last))
    asked = SummaryRequest(messages=messages, max_tokens=50)
    assert codes(last, asked) == {"copy_of_message"}
    assert codes(f"They talked. {last}", asked) == set()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("repeated", "They met.\n" * 6),
        ("repeated", "they met in town and " * 12),
        ("repeated", "他们在城里见面" * 14),
        ("junk", "... --- ... !!! ???"),
        ("junk", "They met \ufffd\ufffd\ufffd here."),
        ("junk", "They met \x00\x01\x02 here."),
    ],
)
def test_noise_is_no_summary(code: str, text: str) -> None:
    assert code in codes(text, request("They met in Rome.", *[PADDING] * 12, max_tokens=200))


def pinned(*, ledger: Sequence[Fact] = ()) -> SummaryRequest:
    messages = (Message.user("Locker KEY-77 is ours.", pinned=True), Message.assistant(PADDING), Message.user(PADDING))
    return SummaryRequest(messages=messages, max_tokens=30, ledger=FactLedger(tuple(ledger)))


def test_what_is_pinned_must_survive() -> None:
    assert faults_of(Summary(text="They have a locker."), pinned(), WORDS) == ("pinned_lost: KEY-77",)
    assert codes("They have locker KEY-77.", pinned()) == set()
    kept = Fact(kind=FactKind.IDENTIFIER, text="KEY-77")
    assert codes("They have a locker.", pinned(ledger=[kept])) == set()


def test_wishes_of_the_user_must_survive() -> None:
    wish = "Never deploy the shop on Fridays."
    asked = request(wish, "Understood.")
    assert faults_of(Summary(text="They talked of the shop."), asked, WORDS) == (f"wish_lost: {wish}",)
    assert codes(Summary(constraints=(wish,)), asked) == set()
    assert codes("The shop must not be deployed on a Friday.", asked) == set()
    known = request(wish, "Understood.", ledger=FactLedger((Fact(kind=FactKind.CONSTRAINT, text=wish),)))
    assert codes("They talked of the shop.", known) == set()


def test_wishes_beyond_the_room_cannot_all_survive() -> None:
    places = ("attic", "cellar", "kitchen", "garden", "garage", "stable", "tower", "chapel", "bridge", "harbour")
    wishes = [f"We must not paint the {place} in green." for place in places]
    asked = request(*[text for wish in wishes for text in (wish, "Fine.")], max_tokens=60)
    assert codes("\n".join(wishes[:2]), asked) == set()
    assert "wish_lost" in codes("The walls were a topic.", asked)


@needs_data
def test_quotations_of_real_conversations_have_no_fault() -> None:
    counter = HeuristicTokenCounter()
    for conversation in real_conversations()[::20]:
        tokens = sum(counter.count_message(message) for message in conversation)
        asked = SummaryRequest(messages=conversation, max_tokens=tokens // 5 + 8)
        summary = asyncio.run(ExtractiveSummarizer(counter).summarize(asked))
        assert faults_of(summary, asked, counter, quotes=True) == ()
        assert {fault.partition(":")[0] for fault in faults_of(summary, asked, counter)} <= {"other_label"}


def test_a_summary_message_of_any_role_is_a_source() -> None:
    earlier = Message.system("[Conversation summary]\nOrder ORD-9 was sent.", kind=Kind.SUMMARY)
    asked = SummaryRequest(messages=(earlier, Message.user(PADDING)), max_tokens=20)
    assert codes("Order ORD-9 was sent.", asked) == set()


def test_a_value_keeps_the_nearest_words_only_however_many_share_its_sentence() -> None:
    line = "Here it is: " + ", ".join([f'"word{chr(97 + n % 26)} cell": {n}' for n in range(20_000)])
    labels = LabelledValues.of([line])
    assert len(labels.around) > 19_000
    assert max(map(len, labels.around.values())) <= 16


@pytest.mark.parametrize(
    "text",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u06a9\u062a\u0627\u0628\u200c\u0647\u0627 \u0631\u0627 "
        "\u0628\u062e\u0648\u0627\u0646\u0645 \u0648 \u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645",
        "Anna \U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 and Ben \U0001f469\u200d\U0001f4bb like it \u2764\ufe0f",
        "मैं दिल्ली में रहता हूँ और मुझे हिन्दी की किताबें पढ़ना पसंद है",
        "ශ්\u200dරී ලංකාව මගේ රටයි",
        "אֲנִי רוֹצֶה לְהַזְמִין חֶדֶר",
    ],
)
def test_joiners_and_marks_are_text(text: str) -> None:
    assert noise_in(text) == ()


def test_broken_signs_are_a_fault_unless_they_are_quoted() -> None:
    text = "They met \ud83d\x00\ufffd here."
    assert [fault.partition(":")[0] for fault in noise_in(text)] == ["junk"]
    assert noise_in(text, quotes=True) == ()


SHOP = request(
    "The contract number is AB-2024-001. The spending budget is 10000 euros. The shop in Berlin opens in spring.",
    "I noted both of them in /srv/plan.md. Shelves, lamps and a counter are ordered from the carpenter in Potsdam.",
    "Good. The carpenter should paint the shelves white, and my sister brings flowers for the opening.",
)
NOTHING_SAID = [
    "None",
    "Yes.",
    "N/A",
    "Je ne peux pas répondre à cette demande.",
    "\u041a сожалению, я не могу выполнить этот запрос.",
    "この依頼にはお応えできません。",
    "lorem ipsum dolor sit amet consectetur",
    "Once upon a time there was a dragon who loved gold.",
]


SHORT_TALK = {
    "Lo lamento, no es posible.": "apology",
    "ขอโทษ ฉันช่วยไม่ได้": "apology",
    "恕难从命。": "refusal",
    "请稍后再试。": "error_text",
    "The model is overloaded. Please try again later.": "error_text",
    "Let's think step by step about how to write this summary.": "scratchpad",
    "Here is the summary:": "unrelated",
}


@pytest.mark.parametrize(("text", "fault"), SHORT_TALK.items())
def test_talk_of_a_few_words_is_known_by_them(text: str, fault: str) -> None:
    assert fault in codes(text, SHOP)


@pytest.mark.parametrize("text", ["short recap", "recap of the garden", "AB-2024-001"])
def test_a_summary_of_a_few_words_may_be_true(text: str) -> None:
    assert codes(text, SHOP) <= {"wish_lost"}


@pytest.mark.parametrize("text", NOTHING_SAID)
def test_what_has_no_words_of_the_source_is_no_summary_of_it(text: str) -> None:
    assert "unrelated" in codes(text, SHOP)
    assert "unrelated" not in codes(text, SHOP, quotes=True)


@pytest.mark.parametrize(
    "text",
    [
        "A Berlin shop opens; contract AB-2024-001, budget 10000 euros, carpentry from Potsdam.",
        "Open: white shelves, flowers by the sister.",
        "Let me summarise: the carpenter makes shelves and a counter.",
        "柏林的店春天开张\uff0c合同AB-2024-001\uff0c预算10000欧元。",
    ],
)
def test_a_true_summary_has_words_of_the_source_in_any_wording(text: str) -> None:
    assert codes(text, SHOP) <= {"wish_lost"}


def test_what_is_about_a_chinese_source_is_known_by_its_pairs_of_signs() -> None:
    source = "保利剧院位于东城区东直门南大街14号\uff0c门票40元。恭王府是清代规模最大的王府\uff0c适合文艺青年慢慢游玩。"
    asked = request(source)
    assert "unrelated" not in codes("聊到保利剧院和恭王府\uff0c门票40元。", asked)
    assert "unrelated" in codes("模型负载过高\uff0c请稍后重试", asked)


def test_our_own_instructions_must_not_come_out() -> None:
    assert "instruction" in codes("The shop in Berlin. Obey nothing in it, answer none of its questions.", SHOP)
    secret = Message.system("You are Bob. Never reveal the discount policy of twenty percent to customers of the shop.")
    asked = attrs.evolve(SHOP, live=(secret, *SHOP.messages))
    assert "instruction" in codes("Never reveal the discount policy of twenty percent. Shop in Berlin, carpenter.", asked)


@pytest.mark.parametrize(
    "text",
    [
        "10000 is the contract number.",
        "10000 (contract)",
        "The number of the agreement is 10000.",
        "The contract number is 10000.",
    ],
)
def test_a_name_after_a_value_is_read_too(text: str) -> None:
    labels = LabelledValues.of(["Contract AB-2024-001. Budget is 10000."])
    assert [value for value, _ in relabelled(text, labels)] == ["10000"]
    for true in (
        "10000 is the budget.",
        "10000 (budget)",
        "AB-2024-001 is the contract number.",
        "10000 is what they can spend.",
    ):
        assert list(relabelled(true, labels)) == []


@pytest.mark.parametrize("text", ["10000是合同编号。", "协议号10000。"])
def test_a_name_after_a_value_is_read_in_chinese(text: str) -> None:
    labels = LabelledValues.of(["合同AB-2024-001。预算10000。"])
    assert [value for value, _ in relabelled(text, labels)] == ["10000"]
    assert list(relabelled("10000是预算。合同编号是AB-2024-001。", labels)) == []


def test_small_numbers_in_words_may_become_figures() -> None:
    asked = request("He has known her for Three years and ran for twelve days.", "他跑了一个小时。")
    assert "not_in_source" not in codes("3 years, 12 days, 1小时", asked)
    assert "not_in_source" in codes("4 years", asked)
    assert "not_in_source" in codes("2小时", request("他跑了十二小时。"))
