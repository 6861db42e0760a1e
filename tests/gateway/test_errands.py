"""What nobody waits for is on disk until it is done, and is not taken on twice."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from agents.recovery import Left
from gateway.errands import _SLACK, KEPT, TRIES, Errand, Errands, left_by
from gateway.views import Refused
from sessions.entries import Entry, Said
from sessions.key import SessionKey
from sessions.messages import Text, User
from tests.fakes.protocols import START, FakeClock

KEY = SessionKey(agent="main", kind="api", peer="hook-ci")


def errand(name: str, *, minutes: int = 0, text: str = "look at \ud800 this") -> Errand:
    return Errand(
        id=name,
        kind="ask",
        key=KEY,
        text=text,
        at=START + timedelta(minutes=minutes),
        sender="webhook ci",
        trust="known",
        source="webhook ci",
    )


@contextmanager
def opened(path: Path, clock: FakeClock) -> Iterator[Errands]:
    with ThreadPoolExecutor(1) as executor:
        errands = Errands.open(path, clock=clock, executor=executor)
        yield errands
        errands.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "errands.jsonl"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines(keepends=True)


async def test_what_is_not_done_waits_after_a_restart(path: Path, clock: FakeClock) -> None:
    with opened(path, clock) as errands:
        for name, minutes in (("later", 5), ("first", 0), ("done", 1)):
            assert await errands.accept(errand(name, minutes=minutes, text="look"))
        await errands.done("done")

    with opened(path, clock) as errands:
        assert errands.waiting("ask") == [
            errand("first", text="look"),
            errand("later", minutes=5, text="look"),
        ]
        assert errands.waiting("look", "next") == []


@pytest.mark.parametrize("done", [False, True], ids=["open", "done"])
async def test_the_same_key_is_the_same_run_over_restarts(
    path: Path, clock: FakeClock, *, done: bool
) -> None:
    with opened(path, clock) as errands:
        run = errands.run_of(KEY, "delivery-1")
        assert await errands.accept(errand(run))
        if done:
            await errands.done(run)
        assert not await errands.accept(errand(run))

    with opened(path, clock) as errands:
        assert errands.run_of(KEY, "delivery-1") == run
        assert errands.run_of(SessionKey(agent="work", kind="main"), "delivery-1") != run
        assert not await errands.accept(errand(run))


async def test_the_journal_does_not_grow_without_end(path: Path, clock: FakeClock) -> None:
    with opened(path, clock) as errands:
        await errands.accept(errand("open"))
        for number in range(2 * _SLACK):
            await errands.accept(errand(str(number)))
            await errands.done(str(number))
            clock.now += timedelta(seconds=1)
        clock.now += KEPT
        for number in range(_SLACK):
            await errands.accept(errand(f"more {number}"))
            await errands.done(f"more {number}")

        assert len(lines(path)) < 3 * _SLACK
        assert [one.id for one in errands.waiting("ask")] == ["open"]
        assert not await errands.accept(errand("more 1"))


async def test_what_is_accepted_while_the_file_is_made_shorter_stays_in_it(
    path: Path, clock: FakeClock
) -> None:
    with opened(path, clock) as errands:
        for number in range(_SLACK + 50):
            await asyncio.gather(errands.accept(errand(f"run {number}")), errands.done(f"run {number - 1}"))
            assert f'"run {number}"' in "".join(lines(path))

    assert len(lines(path)) < 2 * _SLACK


async def test_a_turn_that_ends_each_process_is_not_taken_up_for_ever(path: Path, clock: FakeClock) -> None:
    with opened(path, clock) as errands:
        await errands.accept(errand("deadly"))
    tried = []
    for _ in range(TRIES + 1):
        with opened(path, clock) as errands:
            [left] = errands.waiting("ask")
            tried.append(await errands.tried(left))

    assert tried == [True] * TRIES + [False]


async def test_how_often_a_turn_was_taken_up_stays_in_a_shorter_file(path: Path, clock: FakeClock) -> None:
    with opened(path, clock) as errands:
        await errands.accept(errand("deadly"))
        await errands.tried(errand("deadly"))
        for number in range(_SLACK + 50):
            await errands.accept(errand(str(number)))
            await errands.done(str(number))

    with opened(path, clock) as errands:
        assert [one.tries for one in errands.waiting("ask")] == [1]


async def test_times_that_cannot_be_read_are_long_ago(path: Path, clock: FakeClock) -> None:
    with opened(path, clock) as errands:
        for name in ("open", "done"):
            await errands.accept(errand(name))
        await errands.done("done")
    for bad in ("yesterday", "2026-05-01T08:00:00"):
        known = [line.replace("2026-05-01T08:00:00.000Z", bad) for line in lines(path)]
        with path.open("w") as file:
            file.writelines(known)

        with opened(path, clock) as errands:
            assert [clock() - one.at >= timedelta(0) for one in errands.waiting("ask")] == [True]
            assert not await errands.accept(errand("done"))


async def test_a_disk_that_takes_nothing_accepts_nothing(path: Path, clock: FakeClock) -> None:
    with opened(path, clock) as errands:
        errands.close()
        with pytest.raises(OSError, match="closed"):
            await errands.accept(errand("one"))

        assert errands.waiting("ask") == []


async def test_lines_that_are_no_errands_are_passed_over(path: Path, clock: FakeClock) -> None:
    with opened(path, clock) as errands:
        await errands.accept(errand("good"))
    [good] = lines(path)
    bad = [good.replace("agent:main:api:hook-ci", "nonsense"), good.replace('"ask"', '"dance"'), "{\n"]
    with path.open("w") as file:
        file.writelines([*bad, good])

    with opened(path, clock) as errands:
        assert [one.id for one in errands.waiting("ask")] == ["good"]


async def test_what_the_transcript_holds_of_it_is_found_by_its_id() -> None:
    said = User(at=START, parts=(Text(text="hi"),), ids=("run-1",))
    transcript = [Entry(id="1", parent_id=None, at=START, body=Said(message=said))]

    async def entries(key: SessionKey) -> list[Entry]:
        if key.peer == "broken":
            raise Refused("The session cannot be read.", code="storage", status=500)
        if key != KEY:
            raise Refused("There is no such session.", code="unknown_session", status=404)
        return transcript

    assert await left_by(errand("run-1"), entries) == Left(recorded=True, ids=("run-1",))
    assert not (await left_by(errand("run-2"), entries)).recorded
    again = SessionKey(agent="main", kind="api", peer="broken")
    with pytest.raises(Refused, match="cannot be read"):
        await left_by(Errand(id="run-1", kind="ask", key=again, text="", at=START), entries)
    elsewhere = Errand(id="run-1", kind="ask", key=SessionKey(agent="main", kind="main"), text="", at=START)
    assert not (await left_by(elsewhere, entries)).recorded
