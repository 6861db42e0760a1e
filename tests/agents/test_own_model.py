"""A model that a person chose: what its failure offers."""

import pytest

from agents.model.provider import ContextOverflow, ModelError, Overloaded, RateLimited
from agents.own_model import pinned


@pytest.mark.parametrize("error", [Overloaded("Busy."), RateLimited("Slow.", retry_after=3)], ids=str)
def test_a_failure_of_the_chosen_model_says_how_to_choose_another(error: ModelError) -> None:
    kind, before = type(error), str(error)

    pinned(error, "a/x")

    assert type(error) is kind
    assert str(error).startswith(before)
    assert "set to a/x" in str(error)
    assert "/model default" in str(error)


@pytest.mark.parametrize(
    ("error", "name"),
    [(Overloaded("Busy."), None), (ContextOverflow("Long."), "a/x")],
    ids=["own", "request"],
)
def test_other_failures_are_told_as_they_are(error: ModelError, name: str | None) -> None:
    before = str(error)

    pinned(error, name)

    assert str(error) == before
