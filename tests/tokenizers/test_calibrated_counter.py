"""Learning the ratio of reported to counted tokens."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import InvalidArgument, LearnsFromUsage, Message, TokenCounter, provides, verify

TEXT = "The library opens at nine. 图书馆九点开门。 " * 50


def learnt(ratio: float, *, counted: int = 2_000, times: int = 10, margin: float | None = None) -> CalibratedTokenCounter:
    counter = CalibratedTokenCounter(HeuristicTokenCounter(), margin=margin)
    for _ in range(times):
        counter.record_usage(counted=counted, reported=round(counted * ratio))
    return counter


def test_it_learns_and_says_so() -> None:
    counter = learnt(1.0)
    verify(counter, LearnsFromUsage)
    assert provides(counter, LearnsFromUsage)
    assert not provides(HeuristicTokenCounter(), LearnsFromUsage)


@pytest.mark.parametrize("ratio", [0.6, 0.9, 1.0, 1.3, 2.0, 2.9])
@pytest.mark.parametrize(("counted", "times"), [(100, 30), (2_000, 10), (100_000, 2)])
def test_a_constant_ratio_is_approached(ratio: float, counted: int, times: int) -> None:
    assert learnt(ratio, counted=counted, times=times).token_ratio() == pytest.approx(ratio, rel=0.03)


@pytest.mark.parametrize(("ratio", "limit"), [(0.01, 0.5), (50.0, 3.0)])
def test_the_ratio_is_clamped(ratio: float, limit: float) -> None:
    counter = learnt(ratio, times=50)
    assert counter.token_ratio() == pytest.approx(limit, rel=0.03)
    assert 0.5 <= counter.token_ratio() <= 3.0


def test_an_absurd_report_is_forgotten() -> None:
    counter = learnt(1.2)
    counter.record_usage(counted=2_000, reported=10**12)
    for _ in range(20):
        counter.record_usage(counted=2_000, reported=2_400)
    assert counter.token_ratio() == pytest.approx(1.2, rel=0.03)


def test_a_small_request_of_mostly_framing_hardly_counts() -> None:
    counter = learnt(1.2)
    counter.record_usage(counted=20, reported=200)
    assert counter.token_ratio() == pytest.approx(1.2, rel=0.02)


def test_models_are_learnt_apart(counters: dict[str, TokenCounter]) -> None:
    counter = CalibratedTokenCounter(HeuristicTokenCounter())
    for _ in range(10):
        counter.record_usage(counted=5_000, reported=10_000, model="wide")
        counter.record_usage(counted=5_000, reported=4_000, model="narrow")
    assert counter.token_ratio("wide") == pytest.approx(2.0, rel=0.03)
    assert counter.token_ratio("narrow") == pytest.approx(0.8, rel=0.03)
    assert counter.token_ratio("other") == counter.token_ratio() == 1.1
    assert CalibratedTokenCounter(counters["cl100k"]).token_ratio() == 1.0


def test_counts_and_their_name_stay_those_of_the_inner_counter() -> None:
    inner, counter = HeuristicTokenCounter(), learnt(1.7)
    assert counter.name == inner.name
    assert counter.count_text(TEXT) == inner.count_text(TEXT)
    assert counter.count_message(Message.user(TEXT)) == inner.count_message(Message.user(TEXT))
    assert counter.count_tools([{"name": "f"}]) == inner.count_tools([{"name": "f"}])


def test_the_limit_over_the_ratio_keeps_a_request_in_the_window(counters: dict[str, TokenCounter]) -> None:
    """The use it is made for: an estimator of another tokenizer, corrected by what is reported."""
    true, counter = counters["qwen"], CalibratedTokenCounter(HeuristicTokenCounter("cl100k"))
    numbers = "seat 4711 row 0815 day 20240301 " * 100
    for _ in range(5):
        counter.record_usage(counted=counter.count_text(numbers), reported=true.count_text(numbers))
    limit, piece = 8_000, "seat 0042 row 1234 day 20241231 "
    fits = int(limit / counter.token_ratio()) // counter.count_text(piece)
    assert 0.9 * limit <= true.count_text(piece * fits) <= 1.05 * limit
    assert true.count_text(piece * (limit // counter.count_text(piece))) > 1.3 * limit


def test_noise_does_not_move_the_ratio() -> None:
    counter = learnt(1.2)
    before = counter.token_ratio()
    seen: set[float] = set()
    for turn in range(40):
        counter.record_usage(counted=5_000, reported=6_000 + 50 * (turn % 3 - 1))
        seen.add(counter.token_ratio())
    assert seen == {before}


@pytest.mark.parametrize(("counted", "reported"), [(0, 5), (5, 0), (-1, 5), (5, -1), (True, 5), (5, 2.5), (5, None)])
def test_a_report_of_nothing_is_refused_and_changes_nothing(counted: int, reported: int) -> None:
    counter = learnt(1.4)
    before = counter.token_ratio()
    with pytest.raises(InvalidArgument, match="1 or more"):
        counter.record_usage(counted=counted, reported=reported)
    assert counter.token_ratio() == before


@pytest.mark.parametrize("margin", [0.0, -1.0, 3.5, float("nan")])
def test_a_margin_out_of_the_clamp_is_refused(margin: float) -> None:
    with pytest.raises(InvalidArgument, match="margin"):
        CalibratedTokenCounter(HeuristicTokenCounter(), margin=margin)


def test_threads_may_report_at_once() -> None:
    counter = CalibratedTokenCounter(HeuristicTokenCounter())

    def report(_: int) -> None:
        for _ in range(200):
            counter.record_usage(counted=1_000, reported=1_500, model="m")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(report, range(8)))
    assert counter.token_ratio("m") == pytest.approx(1.5, rel=0.03)
