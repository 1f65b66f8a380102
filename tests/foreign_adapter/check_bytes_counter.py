"""The suite, on an adapter that is not ours."""

from bytes_counter import BytesCounter  # type: ignore[import-not-found]

from contextport.conformance_tests import TokenCounterConformance


class TestBytesCounter(TokenCounterConformance):
    claims = frozenset()

    def make_counter(self) -> BytesCounter:
        return BytesCounter()
