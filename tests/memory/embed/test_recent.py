"""Remembered questions."""

from array import array

import pytest

from memory.embed.embedder import Vector
from memory.embed.recent import RecentVectors

A, B = array("f", [1.0]), array("f", [2.0])


@pytest.mark.parametrize(("now", "found"), [(9.9, A), (10.0, None), (11.0, None)])
def test_a_vector_is_kept_for_its_time(now: float, found: Vector | None) -> None:
    recent = RecentVectors(seconds=10)
    recent.put("a", A, now=0)
    assert recent.get("a", now=now) is found


def test_the_least_recently_used_goes_first() -> None:
    recent = RecentVectors(seconds=10, limit=2)
    recent.put("a", A, now=0)
    recent.put("b", B, now=0)
    assert recent.get("a", now=1) is A
    recent.put("c", B, now=2)
    assert (recent.get("a", now=3), recent.get("b", now=3)) == (A, None)


def test_no_time_means_no_memory() -> None:
    recent = RecentVectors(seconds=0)
    recent.put("a", A, now=0)
    assert recent.get("a", now=0) is None
