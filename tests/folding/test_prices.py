"""Prices of cached tokens, and the requests after which a fold has paid for itself."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from contextport.contracts import InvalidArgument
from contextport.strategies.folding.prices import (
    PRICES,
    CacheState,
    Prices,
    break_even_turns,
    invalidated_tokens,
    prices_for,
)
from contextport.strategies.provider_rules import PROFILES, profile_for


def _set(read: float, write: float, output: float) -> Prices:
    return Prices(name="of a test", read=read, write=write, output=output)


CLAUDE, CHEAP_READS, GPT, DEEPSEEK, GROQ = (
    _set(0.10, 1.25, 5),
    _set(0.05, 1.25, 5),
    _set(0.10, 1.0, 8),
    _set(0.03, 1.0, 2),
    _set(0.50, 1.0, 4),
)
# 150 000 tokens become a head of 10 000, a summary of 3 000 and a tail of 20 000; without a model 60 000, edited at 40 000.
FOLD: dict[str, Any] = {"live": 150_000, "after": 33_000, "head": 10_000, "summary": 3_000}
CLEARING: dict[str, Any] = {"live": 150_000, "after": 60_000, "head": 40_000}


@pytest.mark.parametrize(
    ("prices", "reusing", "separate", "clearing"),
    [
        (CLAUDE, 4.8, 16.4, 2.6),
        (CHEAP_READS, 8.6, 32.9, 5.3),
        (GPT, 5.1, 16.6, 2.0),
        (DEEPSEEK, 9.3, 50.8, 7.2),
        (GROQ, 1.7, 3.0, 0.2),
    ],
)
def test_requests_until_a_fold_has_paid_while_the_cache_is_warm(
    prices: Prices, reusing: float, separate: float, clearing: float
) -> None:
    same = prices.summarized_by_same_model(reads_prefix=True)
    apart = prices.summarized_by_same_model(reads_prefix=False)
    assert round(break_even_turns(same, **FOLD), 1) == reusing
    assert round(break_even_turns(apart, **FOLD), 1) == separate
    assert round(break_even_turns(prices, **CLEARING), 1) == clearing


def test_a_cold_cache_pays_for_a_fold_without_a_model_and_for_most_of_one_with() -> None:
    apart = CLAUDE.summarized_by_same_model(reads_prefix=False)
    assert round(break_even_turns(apart, **FOLD, cache=CacheState.COLD), 1) == 1.6
    assert break_even_turns(CLAUDE, **CLEARING, cache=CacheState.COLD) == 0
    # 206 250 with the fold against 187 500 without, in uncached tokens of the next request
    assert break_even_turns(apart, **FOLD, cache=CacheState.COLD) == pytest.approx((206_250 - 187_500) / 11_700)


def test_an_unknown_cache_is_taken_for_a_warm_one() -> None:
    warm = break_even_turns(CLAUDE, **CLEARING)
    assert break_even_turns(CLAUDE, **CLEARING, cache=CacheState.UNKNOWN) == warm == pytest.approx(20_000 * 1.15 / 9_000)


def test_what_saves_nothing_never_pays_and_what_no_cache_holds_pays_at_once() -> None:
    assert break_even_turns(CLAUDE, live=1000, after=1000, head=0) == float("inf")
    assert break_even_turns(CLAUDE, live=1000, after=1001, head=0) == float("inf")
    assert break_even_turns(PRICES["uncached"], live=1000, after=999, head=0) == 0


def test_the_more_is_live_the_sooner_a_fold_pays() -> None:
    for prices in PRICES.values():
        for priced in (prices, prices.summarized_by_same_model(reads_prefix=False)):
            for cache in CacheState:
                turns = [
                    break_even_turns(priced, live=live, after=33_000, head=10_000, summary=3_000, cache=cache)
                    for live in range(34_000, 200_000, 1_000)
                ]
                assert turns == sorted(turns, reverse=True)
                assert all(turn >= 0 for turn in turns)


def test_a_cold_cache_never_makes_a_fold_dearer() -> None:
    for prices in PRICES.values():
        for after in range(10_000, 150_000, 10_000):
            cold = break_even_turns(prices, live=150_000, after=after, head=10_000, cache=CacheState.COLD)
            assert cold == 0 <= break_even_turns(prices, live=150_000, after=after, head=10_000)


def test_all_behind_the_head_has_to_be_read_anew() -> None:
    assert invalidated_tokens(after=33_000, head=10_000) == 23_000
    assert invalidated_tokens(after=5_000, head=10_000) == 0


@pytest.mark.parametrize(
    ("since", "ttl", "state"),
    [
        (0, 300, CacheState.WARM),
        (300, 300, CacheState.WARM),
        (300.001, 300, CacheState.COLD),
        (None, 300, CacheState.UNKNOWN),
        (9e9, None, CacheState.UNKNOWN),
    ],
)
def test_a_prefix_lasts_as_long_as_the_provider_says(since: float | None, ttl: float | None, state: CacheState) -> None:
    assert CacheState.of(since, ttl) is state


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-opus-4-5-20251101", "anthropic"),
        ("anthropic/claude-sonnet-4.6", "anthropic"),
        ("claude-opus-5.5", "anthropic.5_5"),
        ("bedrock/us.anthropic.claude-sonnet-5-5-v1:0", "anthropic.5_5"),
        ("claude-haiku-5.5", "anthropic"),
        ("claude-fable-5", "anthropic"),
        ("claude-fable-5.1", "anthropic.fable"),
        ("openrouter/anthropic/claude-opus-5.5", "anthropic.5_5"),
        ("gpt-4o-mini", "openai.4o"),
        ("o1-mini", "openai.4o"),
        ("gpt-4.1", "openai.4_1"),
        ("o3", "openai.4_1"),
        ("openai/gpt-5.4-mini", "openai.5"),
        ("gpt-5", "openai.5"),
        ("gpt-5.6-sol", "openai.5_6"),
        ("gpt-6-astra", "openai.5_6"),
        ("gpt-6.1-terra", "openai.6_1"),
        ("gpt-35-turbo", "unknown"),
        ("gemini-2.5-pro", "gemini"),
        ("vertex_ai/gemini-3.5-flash", "gemini"),
        ("bedrock/amazon.nova-pro-v1:0", "bedrock.nova"),
        ("deepseek-chat", "deepseek"),
        ("deepseek-reasoner", "deepseek"),
        ("groq/openai/gpt-oss-120b", "groq"),
        ("groq/moonshotai/kimi-k2-instruct", "groq"),
        ("together/moonshotai/Kimi-K3", "open_model_hosts"),
        ("grok-4", "xai"),
        ("mistral-large-latest", "mistral"),
        ("kimi-k2-thinking", "moonshot"),
        ("qwen3-max", "qwen"),
        ("somebody's-model", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_models_name_tells_its_prices(model: str, name: str) -> None:
    assert prices_for(model).name == name
    assert prices_for(model) is PRICES[name]
    if not model.startswith("groq/"):  # a profile does not say which host of open models it is
        assert prices_for(profile_for(model)).name == name or "/" in model


def test_every_profile_has_prices() -> None:
    assert prices_for(PROFILES["anthropic.classic"]).name == "anthropic"
    assert prices_for(PROFILES["cautious"]).name == "unknown"
    for profile in PROFILES.values():
        assert prices_for(profile).name in PRICES


@pytest.mark.parametrize("name", ["anthropic", "openai.5", "unknown"])
def test_a_window_too_small_for_the_cache_is_priced_without_it(name: str) -> None:
    prices = PRICES[name]
    small, large = prices.for_window(500), prices.for_window(1024)
    assert large is prices
    assert (small.read, small.write) == ((prices.read, prices.write) if name == "unknown" else (1, 1))


def test_the_summarizer_costs_nothing_without_a_model() -> None:
    assert all(prices.summarizer_input == prices.summarizer_output == 0 for prices in PRICES.values())
    own = CLAUDE.summarized_by_same_model(reads_prefix=True)
    assert (own.summarizer_input, own.summarizer_output) == (0.1, 5)
    assert CLAUDE.summarized_by_same_model(reads_prefix=False).summarizer_input == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"read": 0}, "read of of a test is 0; it must be a number above 0"),
        ({"read": 0.9, "write": 0.5}, "costs 0.9 to read and 0.5 to write"),
        ({"read": 3, "write": 3.75, "output": 15}, "read is 3; prices are relative to the uncached input price, which is 1"),
        ({"read": 1.01}, "read is 1.01; prices are relative to the uncached input price"),
        ({"write": -1}, "write of of a test is -1"),
        ({"write": float("inf")}, "is inf"),
        ({"write": float("nan")}, "is nan"),
        ({"output": -0.5}, "must be a number 0 or more"),
        ({"output": "5"}, "output of of a test is '5'"),
        ({"summarizer_input": True}, "is True"),
        ({"ttl_seconds": 0}, "ttl_seconds of of a test is 0"),
        ({"minimum_tokens": -1}, "minimum_tokens of of a test is -1"),
    ],
)
def test_prices_that_are_none_are_refused_with_the_number(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        attrs.evolve(CLAUDE, **wrong)


def test_a_model_that_is_none_is_refused() -> None:
    wrong: Any = 5
    with pytest.raises(InvalidArgument, match="model is 5"):
        prices_for(wrong)
