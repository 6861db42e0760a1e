"""Several keys of one provider: which is asked with, while others rest."""

from datetime import timedelta

from agents.model.cooling import Cooling
from agents.model.keys import Keys
from agents.model.provider import AuthFailed, QuotaExhausted, RateLimited
from tests.fakes.protocols import START

LIMITED, REFUSED, POOR = RateLimited("slow"), AuthFailed("wrong"), QuotaExhausted("empty")


def keys(count: int) -> Keys:
    return Keys(provider="a", count=count, cooling=Cooling())


def test_keys_are_asked_with_in_the_order_of_the_settings() -> None:
    assert keys(3).in_order("m", START) == [0, 1, 2]


def test_a_rate_limit_holds_for_one_model_and_a_refused_key_for_all() -> None:
    three = keys(3)

    three.failed(0, "m", LIMITED, START)
    three.failed(1, "m", REFUSED, START)

    assert three.in_order("m", START) == [2]
    assert three.in_order("other", START) == [0, 2]


def test_when_all_rest_the_soonest_is_asked_first() -> None:
    two = keys(2)
    two.failed(0, "m", POOR, START)
    assert two.resting("m", START) is None
    two.failed(1, "m", LIMITED, START)

    assert two.in_order("m", START) == [1, 0]
    rest = two.resting("m", START)
    assert rest is not None
    assert rest.until == START + timedelta(seconds=30)


def test_a_key_that_works_again_is_the_first_again() -> None:
    two = keys(2)
    two.failed(0, "m", REFUSED, START)

    two.worked(0, "m")

    assert two.in_order("m", START) == [0, 1]
    assert two.last("m") is None


def test_what_rests_is_told_by_number() -> None:
    two = keys(2)

    two.failed(1, "m", POOR, START)

    assert [(number, rest.why) for number, rest in two.told("m", START)] == [(1, "no credit left")]
