"""Lanes: one turn at a time for a session, many sessions at once, and an orderly end."""

import asyncio
import logging

import pytest

from gateway.lanes import Lanes
from gateway.views import Refused
from sessions.key import SessionKey

ONE = SessionKey(agent="main", kind="main")
OTHER = SessionKey(agent="main", kind="api", peer="other")


class Turns:
    """Turns that wait for a gate, and the order of their beginnings and ends."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.gate = asyncio.Event()

    async def run(self, name: str) -> str:
        self.seen.append(f"{name} begins")
        await self.gate.wait()
        self.seen.append(f"{name} ends")
        return name


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_turns_of_one_session_run_one_after_the_other_in_their_order() -> None:
    lanes = Lanes(limit=4)
    turns = Turns()
    tasks = [lanes.submit(ONE, lambda name=name: turns.run(name)) for name in ("a", "b", "c")]  # type: ignore[misc]  # a default argument in a lambda
    await settle()
    assert turns.seen == ["a begins"]

    turns.gate.set()

    assert await asyncio.gather(*tasks) == ["a", "b", "c"]
    assert turns.seen == ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]


async def test_sessions_run_beside_each_other_up_to_the_limit() -> None:
    lanes = Lanes(limit=2)
    turns = Turns()
    third = SessionKey(agent="main", kind="api", peer="third")
    tasks = [lanes.submit(key, lambda key=key: turns.run(str(key))) for key in (ONE, OTHER, third)]  # type: ignore[misc]  # a default argument in a lambda
    await settle()
    assert turns.seen == [f"{ONE} begins", f"{OTHER} begins"]

    turns.gate.set()
    await asyncio.gather(*tasks)

    assert lanes.running == 0


async def test_a_caller_that_goes_away_leaves_its_turn_running() -> None:
    lanes = Lanes(limit=1)
    turns = Turns()
    task = lanes.submit(ONE, lambda: turns.run("a"))

    async def caller() -> str:
        return await asyncio.shield(task)

    waiting = asyncio.create_task(caller())
    await settle()
    waiting.cancel()
    await settle()
    turns.gate.set()

    assert await task == "a"


async def test_stop_ends_the_running_turn_and_only_that() -> None:
    lanes = Lanes(limit=4)
    turns = Turns()
    first = lanes.submit(ONE, lambda: turns.run("first"))
    second = lanes.submit(ONE, lambda: turns.run("second"))
    await settle()

    assert lanes.stop(ONE)
    with pytest.raises(asyncio.CancelledError):
        await first
    turns.gate.set()

    assert await second == "second"
    assert not lanes.stop(ONE)


async def test_an_unexpected_failure_is_logged_and_becomes_a_clear_refusal(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lanes = Lanes(limit=1)

    async def breaks() -> str:
        raise ZeroDivisionError("surprise")

    with caplog.at_level(logging.ERROR), pytest.raises(Refused, match="Something went wrong") as caught:
        await lanes.submit(ONE, breaks)

    assert caught.value.status == 500
    assert "surprise" in caplog.text


async def test_work_that_nobody_waits_for_makes_room_for_a_person() -> None:
    lanes = Lanes(limit=4)
    turns = Turns()
    upkeep = lanes.submit(ONE, lambda: turns.run("upkeep"), yields=True)
    await settle()

    person = lanes.submit(ONE, lambda: turns.run("person"))
    turns.gate.set()

    assert await person == "person"
    assert upkeep.cancelled()
    assert turns.seen == ["upkeep begins", "person begins", "person ends"]


async def test_work_that_nobody_waits_for_runs_to_its_end_otherwise() -> None:
    lanes = Lanes(limit=4)
    turns = Turns()
    turns.gate.set()
    person = lanes.submit(ONE, lambda: turns.run("person"))
    upkeep = lanes.submit(ONE, lambda: turns.run("upkeep"), yields=True)
    other = lanes.submit(OTHER, lambda: turns.run("other"))

    assert [await person, await upkeep, await other] == ["person", "upkeep", "other"]


async def test_draining_waits_for_running_turns() -> None:
    lanes = Lanes(limit=1)
    turns = Turns()
    task = lanes.submit(ONE, lambda: turns.run("a"))
    await settle()
    turns.gate.set()

    assert await lanes.drain(5) == 0
    assert await task == "a"


async def test_draining_cancels_what_does_not_end_in_time() -> None:
    lanes = Lanes(limit=1)
    task = lanes.submit(ONE, lambda: Turns().run("a"))

    assert await lanes.drain(0.01) == 1
    assert task.cancelled()


async def test_what_ran_has_passed_when_it_has_ended_and_what_came_later_does_not_count() -> None:
    lanes, first, second = Lanes(4), asyncio.Event(), asyncio.Event()
    one, two = SessionKey(agent="main", kind="main"), SessionKey(agent="work", kind="main")
    lanes.submit(one, first.wait)
    passed = asyncio.create_task(lanes.passed())
    await asyncio.sleep(0)
    lanes.submit(two, second.wait)

    assert lanes.at_work("work")
    first.set()
    await asyncio.wait_for(passed, 10)
    second.set()
    await lanes.drain(10)


async def test_an_agent_has_passed_when_nothing_of_it_is_left() -> None:
    lanes, first, second = Lanes(4), asyncio.Event(), asyncio.Event()
    key = SessionKey(agent="work", kind="main")

    async def turn() -> None:
        await first.wait()
        lanes.submit(key, second.wait)

    lanes.submit(key, turn)
    passed = asyncio.create_task(lanes.passed("work"))
    first.set()
    done, _ = await asyncio.wait({passed}, timeout=0.05)

    assert not done
    second.set()
    await asyncio.wait_for(passed, 10)
    assert not lanes.at_work("work")


async def test_who_waits_for_a_turn_that_is_stopped_before_it_began_hears_so() -> None:
    lanes, turns = Lanes(limit=1), Turns()
    running = asyncio.create_task(lanes.run(ONE, lambda: turns.run("a")))
    waiting = asyncio.create_task(lanes.run(OTHER, lambda: turns.run("b")))
    await settle()

    assert lanes.stop(OTHER)

    with pytest.raises(Refused, match="Stopped"):
        await waiting
    turns.gate.set()
    assert await running == "a"


async def test_a_caller_that_goes_away_does_not_take_its_turn_along() -> None:
    lanes, turns = Lanes(limit=1), Turns()
    caller = asyncio.create_task(lanes.run(ONE, lambda: turns.run("a")))
    await settle()
    caller.cancel()
    await asyncio.wait([caller])
    turns.gate.set()
    await lanes.passed()

    assert caller.cancelled()
    assert turns.seen == ["a begins", "a ends"]
