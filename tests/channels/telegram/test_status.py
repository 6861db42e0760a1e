"""What a channel says of itself rests on what happened to it."""

from dataclasses import replace
from datetime import timedelta

from channels.telegram.channel import TRAITS
from channels.telegram.status import Evidence
from tests.channels.telegram.wired import ME, NOON, to
from tests.fakes.telegram_world import ANNA, GROUP


def test_before_anything_happened_nothing_is_claimed() -> None:
    status = Evidence(in_groups=True).status(NOON)
    assert (status.state, status.last_poll, status.age_seconds, status.privacy, status.name) == (
        "stopped",
        None,
        None,
        None,
        "",
    )


def test_a_poll_is_the_evidence_and_it_grows_old() -> None:
    evidence = Evidence(in_groups=False)
    evidence.met(ME)
    evidence.alive(NOON)
    status = evidence.status(NOON + timedelta(minutes=3))
    assert (status.state, status.last_poll, status.age_seconds) == ("connected", NOON, 180)
    assert evidence.status(NOON - timedelta(days=1)).age_seconds == 0


def test_trouble_keeps_the_time_of_the_last_poll_and_goes_with_the_next() -> None:
    evidence = Evidence(in_groups=False)
    evidence.alive(NOON)
    evidence.trouble("Telegram cannot be reached")
    health = evidence.health()
    assert (health.connected, health.alive_at, health.error) == (False, NOON, "Telegram cannot be reached")
    evidence.alive(NOON + timedelta(seconds=1))
    assert (evidence.health().connected, evidence.health().error) == (True, "")


def test_a_failure_stays_after_the_end() -> None:
    evidence = Evidence(in_groups=False)
    evidence.failed("bad token")
    evidence.stopped()
    assert evidence.status(NOON).state == "failed"
    evidence.starting()
    evidence.stopped()
    assert evidence.status(NOON).state == "stopped"


def test_the_newest_lost_chats_are_named_and_not_more() -> None:
    evidence = Evidence(in_groups=False)
    for number in range(300):
        evidence.lost(str(number), "blocked")
    assert evidence.health().problems == tuple(f"chat {n}: blocked" for n in range(295, 300))
    evidence.wrote("299")
    assert "chat 299: blocked" not in evidence.health().problems


def test_a_bot_that_may_join_no_group_says_how_to_change_it() -> None:
    evidence = Evidence(in_groups=True)
    evidence.met(replace(ME, joins_groups=False))
    assert "/setjoingroups" in evidence.health().problems[0]


def test_a_group_has_a_slower_pace() -> None:
    assert (TRAITS.pace(to(ANNA)), TRAITS.pace(to(GROUP))) == (1, 3)
    assert replace(TRAITS, group_edit_seconds=0).pace(to(GROUP)) == 1
