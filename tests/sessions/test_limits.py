"""How many tokens a conversation may have, and how many it has."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sessions.context import messages_of
from sessions.entries import Compacted
from sessions.limits import Limits, tokens_of, used_tokens
from sessions.messages import Image, ToolResult, Usage, User
from sessions.plan import PruningPlan
from sessions.settings import CompactionSettings
from tests.sessions.making import AT, assistant, call, chain, result, user

DEFAULTS = CompactionSettings()


@pytest.mark.parametrize(
    ("window", "flush", "compact", "keep"),
    [
        (1_000_000, 976_000, 980_000, 20_000),
        (200_000, 176_000, 180_000, 20_000),
        (128_000, 104_000, 108_000, 20_000),
        (32_000, 22_000, 24_000, 9_600),
        (16_000, 11_000, 12_000, 4_800),
        (8_000, 5_500, 6_000, 2_400),
    ],
)
def test_limits_fit_every_window(window: int, flush: int, compact: int, keep: int) -> None:
    limits = Limits.of(window, DEFAULTS)

    assert (limits.flush, limits.compact, limits.keep) == (flush, compact, keep)
    assert not limits.cramped


def test_the_flush_comes_before_the_compaction_by_the_real_reserve() -> None:
    """B31."""
    limits = Limits.of(272_000, CompactionSettings(reserve_tokens=62_500), floor=20_000)

    assert limits.flush == 205_500
    assert limits.compact == 209_500
    assert Limits.of(272_000, CompactionSettings(reserve_tokens=1_000), floor=20_000).flush == 248_000


@examples(max_examples=200, deadline=None)
@given(
    st.integers(8_000, 1_000_000),
    st.integers(0, 400_000),
    st.integers(1, 400_000),
    st.integers(0, 100_000),
    st.floats(0, 0.5),
)
def test_a_compaction_always_frees_room(
    window: int, reserve: int, keep: int, soft: int, overhead: float
) -> None:
    made = CompactionSettings.model_validate(
        {
            "reserve_tokens": reserve,
            "keep_recent_tokens": keep,
            "flush": {"soft_threshold_tokens": soft},
        }
    )
    around = int(window * overhead * 0.9)
    limits = Limits.of(window, made, overhead=around)

    assert 0 < limits.flush <= limits.compact <= window
    assert limits.result <= window // 10
    assert limits.stage + limits.summary < window
    if not limits.cramped:
        assert around + limits.keep + limits.summary < limits.flush


def test_a_window_full_of_instructions_is_cramped() -> None:
    assert Limits.of(8_000, DEFAULTS, overhead=4_500).cramped
    assert Limits.of(8_000, DEFAULTS, overhead=7_000).keep == 0


def test_a_message_is_its_texts_calls_and_images() -> None:
    assert tokens_of(user("x" * 40)) == 14
    assert tokens_of(replace(user("x" * 40), envelope="y" * 8)) == 16
    assert tokens_of(assistant("x" * 40, call("A"))) == 14 + 1 + 5
    shot = ToolResult(at=AT, call_id="A", name="read", parts=(Image(data="x" * 9, mime_type="image/png"),))
    assert tokens_of(shot) == 1_604


def test_what_is_used_is_the_last_count_and_what_came_later() -> None:
    answer = replace(assistant("a"), usage=Usage(input=10, output=5, cache_read=1_000, cache_write=100))
    entries = chain([user("q"), answer, user("x" * 40), assistant(stop="error", error="no network")])

    assert used_tokens(entries, messages_of(entries), overhead=7) == 1_115 + 14 + 4


@pytest.mark.parametrize(
    "change",
    [Compacted(summary="s", first_kept_id="00000001", tokens_before=9), PruningPlan(trims=()).entry()],
    ids=["compacted", "pruned"],
)
def test_a_count_from_before_the_conversation_changed_is_void(change: object) -> None:
    answer = replace(assistant("a"), usage=Usage(input=180_000, output=5))
    entries = chain([user("q"), answer])
    changed = chain([user("q"), answer, change])  # type: ignore[list-item]  # (one of two kinds)

    assert used_tokens(entries, messages_of(entries)) == 180_005
    assert used_tokens(changed, messages_of(changed), overhead=7) < 100
    assert isinstance(messages_of(changed)[0], User)
    assert used_tokens(chain([result("A", "x")]), (), overhead=7) == 7
