"""What wants the owner's attention, counted."""

import pytest

from gateway.http.attention import attention, is_unwell
from sessions.messages import JsonObject

WELL: JsonObject = {"enabled": True, "state": "running", "error": None, "problems": []}


@pytest.mark.parametrize(
    ("change", "unwell"),
    [
        ({}, False),
        ({"state": "starting"}, False),
        ({"state": "failed"}, True),
        ({"state": "waiting"}, True),
        ({"state": "absent"}, True),
        ({"error": "409"}, True),
        ({"problems": ["privacy mode"]}, True),
        ({"state": "disabled", "enabled": False, "error": "old"}, False),
    ],
    ids=str,
)
def test_an_account_is_unwell_when_it_does_not_do_what_it_should(change: JsonObject, unwell: bool) -> None:
    assert is_unwell({**WELL, **change}) is unwell


@pytest.mark.parametrize(
    ("status", "count"),
    [
        ({}, 0),
        ({"outbox": {"waiting": 3, "dead": 0}}, 0),
        ({"outbox": {"waiting": 0, "dead": 7}}, 1),
        ({"config": {"problem": None, "needs_restart": [], "notice": None}}, 0),
        ({"config": {"problem": "x", "needs_restart": ["gateway.port"], "notice": "y"}}, 3),
    ],
    ids=str,
)
def test_each_kind_of_trouble_counts_once(status: JsonObject, count: int) -> None:
    assert attention(status, []) == count
    assert attention(status, [WELL, {**WELL, "state": "failed"}, {**WELL, "error": "x"}]) == count + 2


def test_what_is_no_account_is_nothing() -> None:
    assert not is_unwell("x")
