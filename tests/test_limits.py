"""Where window sizes come from, and which of them counts."""

import itertools
from typing import Any, cast

import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.events.logging_sink import LoggingEventSink
from contextport.adapters.limits.environment_limits import EnvironmentLimits
from contextport.adapters.limits.static_limits import StaticLimits
from contextport.contracts import Budget, BudgetTooSmall, EventKind, InvalidArgument, Limits, LimitsSource, verify
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


SIZES = (None, 1_000, 50_000, 120_000, 200_000)


@pytest.mark.parametrize("window", SIZES[1:])
@pytest.mark.parametrize("shares", [None, True, False])
def test_the_usable_input_is_the_smallest_of_what_is_known(window: int, shares: bool | None) -> None:
    for max_input, entitlement, max_output in itertools.product(SIZES, SIZES, (None, 20_000)):
        limits = Limits(
            window=window,
            max_input=max_input,
            entitlement=entitlement,
            max_output=max_output,
            output_shares_window=shares,
            source="row",
        )
        budget = Budget.from_limits(limits)
        free = window if shares is False else window - budget.output_reserve
        assert budget.usable_input == min(size for size in (free, max_input, entitlement) if size is not None)
        assert budget.output_shares_window is (shares is not False)


def test_an_output_with_a_room_of_its_own_takes_nothing_from_the_input() -> None:
    apart = StaticLimits({"m": Limits(window=8_000, max_output=9_000, output_shares_window=False, source="page")})
    budget = resolve_budget(model="m", sources=[apart])
    assert (budget.usable_input, budget.output_reserve) == (8_000, 9_000)
    assert dict(budget.sources) == {"window": "page", "output_reserve": "page", "output_shares_window": "page"}
    assert resolve_budget(model="m", max_output=20_000, sources=[apart]).usable_input == 8_000
    assert budget.room(system=1_000) == 7_000
    with pytest.raises(BudgetTooSmall, match=r"8000 are not for them \(output apart, system 8000"):
        resolve_budget(model="m", system_reserve=8_000, sources=[apart])


def test_what_the_account_may_send_bounds_the_input_and_yields_to_an_explicit_limit() -> None:
    plan = StaticLimits({"m": Limits(entitlement=200_000, source="plan")})
    host = StaticLimits({"m": Limits(window=1_000_000, max_input=900_000, max_output=64_000, source="host")})
    budget = resolve_budget(model="m", sources=[host, plan])
    assert (budget.window, budget.usable_input) == (1_000_000, 200_000)
    assert dict(budget.sources)["max_input"] == "plan"
    assert resolve_budget(model="m", max_input=500_000, sources=[host, plan]).usable_input == 500_000
    assert resolve_budget(model="m", sources=[plan]).usable_input == 64_000


def test_a_price_step_is_told_and_not_enforced() -> None:
    source = StaticLimits({"m": Limits(window=1_000_000, max_output=64_000, soft_limit=200_000, source="page")})
    budget = resolve_budget(model="m", sources=[source])
    assert (budget.usable_input, budget.soft_limit) == (936_000, 200_000)
    assert dict(budget.sources)["soft_limit"] == "page"


def test_an_origin_says_how_old_its_number_is() -> None:
    source = StaticLimits({"m": Limits(window=100_000, source="page", as_of="2026-01-31")})
    assert dict(resolve_budget(model="m", sources=[source]).sources)["window"] == "page, as of 2026-01-31"


@pytest.mark.parametrize("as_of", ["", "2026", "2026-02-30", "31.1.2026", "20260131", 20_260_131, " 2026-01-31"])
def test_a_day_that_is_no_date_is_refused(as_of: Any) -> None:
    with pytest.raises(InvalidArgument, match="as_of"):
        Limits(window=1_000, as_of=as_of)


def test_a_window_that_nothing_knows_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    sink = CollectingEventSink()
    resolve_budget(model="other", host="h.example", sources=[TABLE], sink=sink)
    (event,) = sink.events
    assert (event.kind, dict(event.data)) == (
        EventKind.LIMITS_DEFAULTED,
        {"model": "other", "host": "h.example", "window": 128_000},
    )
    for known in ({"model": "demo"}, {"model": "input only"}, {"window": 5_000}, {"max_input": 5_000}):
        resolve_budget(**cast(Any, known), sources=[TABLE], sink=sink)
    assert len(sink.events) == 1
    resolve_budget(model="other", sink=LoggingEventSink())
    assert [record.levelname for record in caplog.records] == ["WARNING"]


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


@pytest.mark.parametrize("name", ["entitlement", "soft_limit"])
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "8192"])
def test_a_limit_that_is_no_number_is_refused(name: str, value: int) -> None:
    with pytest.raises(InvalidArgument, match=name):
        Limits(**cast(Any, {name: value}))


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


@pytest.mark.parametrize("name", ["window", "output_reserve", "system_reserve", "tool_reserve", "max_input", "soft_limit"])
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


def test_a_host_in_a_table_may_be_written_in_several_ways() -> None:
    for written in (HOST, "host.example", "HTTPS://host.example:443/v1"):
        source = StaticLimits({(written, "m"): Limits(window=2_000)})
        for asked in (HOST, "host.example", "https://host.example/v1"):
            assert source.limits("m", asked) == Limits(window=2_000, source=f"table entry ({written!r}, 'm')")
        assert source.limits("m", "host.example:8000") is None
