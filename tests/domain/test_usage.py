"""Every call is counted."""

from __future__ import annotations

from hypothesis import given as for_all
from hypothesis import strategies as st

from domain.usage import ModelCall, TokenUsage, total

CALLS = st.lists(
    st.builds(
        ModelCall,
        purpose=st.just("reflect_1"),
        model=st.just("scripted"),
        input_tokens=st.integers(0, 10**6),
        output_tokens=st.integers(0, 10**6),
        cached_tokens=st.integers(0, 10**6),
        thoughts_tokens=st.integers(0, 10**6),
    ),
    max_size=4,
)


def call(read: int, wrote: int, cached: int = 0, thoughts: int = 0) -> ModelCall:
    return ModelCall(
        purpose="reflect_1",
        model="scripted",
        input_tokens=read,
        output_tokens=wrote,
        cached_tokens=cached,
        thoughts_tokens=thoughts,
        duration_ms=5,
    )


def test_no_calls_cost_nothing() -> None:
    assert total([]) == TokenUsage()


def test_the_total_is_what_went_in_and_came_out() -> None:
    assert total([call(100, 20, cached=60, thoughts=5), call(7, 3, cached=1)]) == TokenUsage(
        input_tokens=107, output_tokens=23, total_tokens=130, cached_tokens=61, thoughts_tokens=5
    )


def test_calls_are_counted_from_any_iterable_once() -> None:
    assert total(call(1, 1) for _ in range(3)).total_tokens == 6


@for_all(CALLS, CALLS)
def test_the_usage_of_two_lots_is_their_sum(first: list[ModelCall], second: list[ModelCall]) -> None:
    both, one, other = total([*first, *second]), total(first), total(second)
    assert both.model_dump() == {name: value + other.model_dump()[name] for name, value in one.model_dump().items()}
