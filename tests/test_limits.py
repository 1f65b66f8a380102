"""Where window sizes come from, and which of them counts."""

from typing import Any, cast

import pytest

from contextport.adapters.limits.environment_limits import EnvironmentLimits
from contextport.adapters.limits.static_limits import StaticLimits
from contextport.contracts import Budget, BudgetTooSmall, InvalidArgument, Limits, LimitsSource, verify
from contextport.strategies.limits_resolution import resolve_budget

HOST = "https://host.example"
TABLE = StaticLimits(
    {
        "demo": Limits(window=200_000, max_output=32_000),
        (HOST, "demo"): Limits(window=64_000, source="host page"),
        "split": Limits(window=400_000, max_input=272_000, max_output=100_000),
        "all output": Limits(window=131_072, max_output=131_072),
        "input only": Limits(max_input=50_000),
    }
)


class NeverAsked:
    def limits(self, model: str, host: str = "") -> Limits | None:
        raise AssertionError("a source was asked for what is known")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LLM_CONTEXT_SIZE", "LLM_MAX_OUTPUT_TOKENS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("source", [EnvironmentLimits(), TABLE])
def test_the_sources_provide_the_port_and_know_no_unknown_model(source: LimitsSource) -> None:
    verify(source, LimitsSource)
    assert source.limits("nobody's-model") is None
    assert source.limits("", "") is None


def test_both_formulas_are_reproduced() -> None:
    assert resolve_budget().usable_input == 64_000
    assert resolve_budget(max_output=4_000, system_reserve=2_000, tool_reserve=3_000).history_budget == 119_000
    assert Budget(window=128_000, **Budget.DEFAULT_RESERVES).history_budget == 119_000


def test_what_is_explicit_goes_first_and_no_source_is_asked_then() -> None:
    budget = resolve_budget(model="demo", window=327, sources=[TABLE])
    assert budget.window == 327
    assert dict(budget.sources)["window"] == "explicit"
    assert resolve_budget(window=9_000, max_output=1_000, max_input=5_000, sources=[NeverAsked()]).usable_input == 5_000


def test_sources_go_in_their_order_and_field_by_field(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_CONTEXT_SIZE", "32000")
    monkeypatch.setenv("LLM_MAX_OUTPUT_TOKENS", "2000")
    sources: list[LimitsSource] = [TABLE, EnvironmentLimits()]
    of_table = resolve_budget(model="demo", sources=sources)
    assert (of_table.window, of_table.output_reserve) == (200_000, 32_000)
    assert dict(of_table.sources) == {"window": "table entry 'demo'", "output_reserve": "table entry 'demo'"}
    mixed = resolve_budget(model="demo", host=HOST, sources=sources)
    assert (mixed.window, mixed.output_reserve) == (64_000, 2_000)
    assert dict(mixed.sources) == {"window": "host page", "output_reserve": "environment LLM_CONTEXT_SIZE, LLM_MAX_OUTPUT_TOKENS"}
    unknown = resolve_budget(model="other", sources=sources)
    assert (unknown.window, unknown.output_reserve) == (32_000, 2_000)
    assert resolve_budget(model="other", sources=[TABLE]).sources == (("window", "default"), ("output_reserve", "default"))


def test_models_have_budgets_of_their_own() -> None:
    budgets = {model: resolve_budget(model=model, sources=[TABLE]).usable_input for model in ("demo", "split")}
    assert budgets == {"demo": 168_000, "split": 272_000}


def test_the_input_is_the_smaller_of_window_less_output_and_the_input_limit() -> None:
    split = resolve_budget(model="split", sources=[TABLE])
    assert split.usable_input == 272_000
    assert dict(split.sources)["max_input"] == "table entry 'split'"
    assert resolve_budget(model="split", max_output=200_000, sources=[TABLE]).usable_input == 200_000
    assert resolve_budget(model="input only", sources=[TABLE]).window == 50_000


@pytest.mark.parametrize("window", [1, 2, 100, 327, 3_999, 4_000, 4_096, 5_000, 8_192, 128_000, 10**9])
@pytest.mark.parametrize("max_output", [None, 1, 4_000, 64_000, 10**9])
def test_a_known_model_leaves_the_floor_but_never_more_than_its_window(window: int, max_output: int | None) -> None:
    source = StaticLimits({"m": Limits(window=window, max_output=max_output)})
    budget = resolve_budget(model="m", sources=[source])
    assert min(4_000, window - window // 4) <= budget.usable_input <= window
    assert budget.usable_input + budget.output_reserve == budget.window == window
    assert budget.output_reserve >= min(max_output or 64_000, 64_000, window // 4)


def test_an_output_limit_as_large_as_the_window_tells_nothing() -> None:
    budget = resolve_budget(model="all output", sources=[TABLE])
    assert budget.usable_input == 131_072 - 64_000
    assert dict(budget.sources)["output_reserve"] == "default"
    assert resolve_budget(window=32_000).usable_input == 16_000


def test_an_explicit_output_is_kept_below_the_floor_too() -> None:
    assert resolve_budget(window=8_192, max_output=6_000).usable_input == 2_192


@pytest.mark.parametrize("name", ["window", "max_output", "max_input"])
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "8192"])
def test_a_number_that_is_none_is_refused(name: str, value: int) -> None:
    with pytest.raises(InvalidArgument, match=name) as raised:
        resolve_budget(**cast(Any, {name: value}))
    assert raised.value.value == value
    with pytest.raises(InvalidArgument, match=name):
        Limits(**cast(Any, {name: value}))


@pytest.mark.parametrize(
    ("numbers", "needed", "available"),
    [
        ({"window": 1_000, "max_output": 1_000}, 1_001, 1_000),
        ({"window": 1_000, "max_output": 5_000}, 5_001, 1_000),
        ({"window": 10_000, "max_output": 1_000, "system_reserve": 5_000, "tool_reserve": 4_000}, 10_001, 10_000),
        ({"window": 10_000, "max_output": 1_000, "max_input": 500, "system_reserve": 500}, 10_001, 10_000),
    ],
)
def test_reserves_that_leave_nothing_are_refused_with_the_numbers(numbers: dict[str, int], needed: int, available: int) -> None:
    with pytest.raises(BudgetTooSmall, match=f"window of {available} tokens") as raised:
        resolve_budget(**cast(Any, numbers))
    assert (raised.value.needed, raised.value.available) == (needed, available)


@pytest.mark.parametrize("name", ["window", "output_reserve", "system_reserve", "tool_reserve", "max_input"])
@pytest.mark.parametrize("value", [-1, True, 2.0, "2"])
def test_a_budget_is_of_whole_numbers(name: str, value: int) -> None:
    with pytest.raises(InvalidArgument, match=name):
        Budget(**cast(Any, {"window": 1_000, name: value}))


def test_the_environment_is_read_when_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    source = EnvironmentLimits()
    assert source.limits("any") is None
    monkeypatch.setenv("LLM_CONTEXT_SIZE", " 32000 ")
    assert source.limits("any") == Limits(window=32_000, source="environment LLM_CONTEXT_SIZE")
    monkeypatch.setenv("LLM_CONTEXT_SIZE", "64000")
    monkeypatch.setenv("LLM_MAX_OUTPUT_TOKENS", "")
    assert resolve_budget(sources=[source]).window == 64_000


@pytest.mark.parametrize("variable", ["LLM_CONTEXT_SIZE", "LLM_MAX_OUTPUT_TOKENS"])
@pytest.mark.parametrize("value", ["0", "-5", "128k", "1e5", "12.5", "unlimited"])
def test_a_bad_variable_is_refused_by_name_and_value(variable: str, value: str) -> None:
    with pytest.raises(InvalidArgument, match=variable) as raised:
        resolve_budget(sources=[EnvironmentLimits({variable: value})])
    assert (raised.value.name, raised.value.value) == (variable, value)


def test_a_table_is_a_copy_and_prefers_the_host() -> None:
    rows: dict[str | tuple[str, str], Limits] = {"m": Limits(window=1_000), ("h", "m"): Limits(window=2_000)}
    source = StaticLimits(rows)
    rows.clear()
    assert source.limits("m") == Limits(window=1_000, source="table entry 'm'")
    assert source.limits("m", "h") == Limits(window=2_000, source="table entry ('h', 'm')")
    assert source.limits("m", "other") == source.limits("m")
