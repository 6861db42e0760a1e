"""Deliveries: each key once, each part once, over restarts."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from hypothesis import given

from channels.message import Address
from gateway.deliveries import Delivery, DeliveryCodec, Grown, Part
from gateway.outbox import KEPT, MOST_DONE, Outbox
from sessions.codec import iso
from tests.gateway.strategies import AT, deliveries

ADDRESS = Address(channel="telegram", account="default", chat="42", kind="direct")
TWO = Delivery(key="k", address=ADDRESS, at=AT, parts=(Part(text="one"), Part(text="two")), reply_to="7")


@contextmanager
def opened(folder: Path, *, days: int = 0) -> Iterator[Outbox]:
    outbox = Outbox.open(folder / "outbox.jsonl", now=AT + timedelta(days=days))
    yield outbox
    outbox.close()


@given(deliveries)
def test_every_delivery_comes_back_as_it_was(delivery: Delivery) -> None:
    codec = DeliveryCodec()
    assert codec.of_json(json.loads(json.dumps(codec.to_json(delivery)))) == delivery


def test_a_key_is_taken_once_also_after_it_is_done(tmp_path: Path) -> None:
    with opened(tmp_path) as outbox:
        assert outbox.add(TWO) == TWO
        assert outbox.add(replace(TWO, parts=(Part(text="other"),))) is None
        outbox.done("k", AT)
        assert outbox.add(TWO) is None
    with opened(tmp_path) as outbox:
        assert outbox.add(TWO) is None
        assert outbox.knows("k")


def test_a_restart_goes_on_with_the_next_part(tmp_path: Path) -> None:
    with opened(tmp_path) as outbox:
        outbox.add(TWO)
        outbox.sending("k")
        outbox.sent("k", "m1")
    with opened(tmp_path) as outbox:
        assert outbox.waiting() == [replace(TWO, sent=("m1",))]


def test_a_part_that_was_being_sent_is_doubtful_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as outbox:
        outbox.add(TWO)
        outbox.sending("k")
    with opened(tmp_path) as outbox:
        assert outbox.waiting() == [replace(TWO, doubtful=True)]
        outbox.unsent("k")
    with opened(tmp_path) as outbox:
        assert outbox.waiting() == [TWO]


def test_what_was_shown_live_becomes_the_first_parts(tmp_path: Path) -> None:
    with opened(tmp_path) as outbox:
        outbox.showing("k", ADDRESS, AT)
        outbox.shown("k", "m1")
        assert not outbox.knows("k")
    with opened(tmp_path) as outbox:
        assert outbox.waiting() == []
        assert outbox.add(TWO) == replace(TWO, shown=("m1",))
    with opened(tmp_path) as outbox:
        assert outbox.waiting() == [replace(TWO, shown=("m1",))]


def test_a_dead_letter_stays_listed_and_can_be_tried_again(tmp_path: Path) -> None:
    with opened(tmp_path) as outbox:
        outbox.add(TWO)
        outbox.sent("k", "m1")
        outbox.dead("k", "blocked", AT)
    with opened(tmp_path) as outbox:
        assert [(one.key, one.why) for one in outbox.dead_letters()] == [("k", "blocked")]
        later = AT + timedelta(hours=3)
        assert outbox.revive("k", later) == replace(TWO, sent=("m1",), at=later)
        assert outbox.revive("k", later) is None
    with opened(tmp_path) as outbox:
        assert [one.key for one in outbox.waiting()] == ["k"]


def test_old_ends_are_forgotten_and_waiting_ones_never(tmp_path: Path) -> None:
    with opened(tmp_path) as outbox:
        outbox.add(TWO)
        outbox.add(replace(TWO, key="waits"))
        outbox.done("k", AT)
    with opened(tmp_path, days=KEPT.days) as outbox:
        outbox.compact(AT + KEPT)
        assert not outbox.knows("k")
        assert [one.key for one in outbox.waiting()] == ["waits"]


def test_a_live_message_whose_id_is_not_known_leaves_a_doubt(tmp_path: Path) -> None:
    with opened(tmp_path) as outbox:
        outbox.showing("k", ADDRESS, AT)
    with opened(tmp_path) as outbox:
        assert outbox.add(TWO) == replace(TWO, doubtful=True)


def test_a_live_message_that_was_refused_leaves_none(tmp_path: Path) -> None:
    with opened(tmp_path) as outbox:
        outbox.showing("k", ADDRESS, AT)
        outbox.unsent("k")
        assert outbox.add(TWO) == TWO


def test_blocks_stand_before_the_rest_and_are_sent_from_where_it_stopped(tmp_path: Path) -> None:
    block, more, rest = Part(text="block"), Part(text="more"), Part(text="rest")
    live = replace(TWO, parts=(), state="live")
    with opened(tmp_path) as outbox:
        assert outbox.grow(live, Grown(parts=(block,), said="bl")) == replace(live, parts=(block,), said="bl")
        outbox.sent("k", "m1")
        assert outbox.waiting() == []
        outbox.grow(live, Grown(parts=(more,), said="ock"))
        assert not outbox.knows("k")
    with opened(tmp_path) as outbox:
        assert outbox.waiting() == [replace(live, parts=(block, more), said="block", sent=("m1",))]
        whole = outbox.add(replace(TWO, parts=(rest,)))
        assert whole == replace(TWO, parts=(block, more, rest), sent=("m1",))
        assert outbox.grow(live, Grown(parts=(more,))) is None
    with opened(tmp_path) as outbox:
        assert outbox.waiting() == [whole]
        outbox.compact(AT)
        assert outbox.waiting() == [whole]


def test_what_a_block_has_told_ends_with_its_round_and_begins_anew(tmp_path: Path) -> None:
    live = replace(TWO, parts=(), state="live")
    with opened(tmp_path) as outbox:
        outbox.grow(live, Grown(said="one"))
        outbox.grow(live, Grown(said="two", anew=True))
        known = outbox.get("k")
        assert known is not None
        assert (known.said, known.in_blocks) == ("two", True)
        outbox.grow(live, Grown(said=" three", closes=True))
        assert outbox.get("k") == live


def test_no_more_keys_are_remembered_than_useful(tmp_path: Path) -> None:
    """At the limit and above it: the oldest go first."""
    lines = [{"type": "done", "key": f"k{one}", "at": iso(AT)} for one in range(MOST_DONE)]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "outbox.jsonl").write_text(text, encoding="utf-8")
    with opened(tmp_path) as outbox:
        assert outbox.knows("k0")
        outbox.add(replace(TWO, key="new"))
        outbox.done("new", AT)
        assert (outbox.knows("k0"), outbox.knows("k1"), outbox.knows("new")) == (False, True, True)
