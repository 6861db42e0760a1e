"""Open transcripts: whole lines whatever is cancelled, and the facts around requests once."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.conversation import LEAST, Conversations, in_thread
from sessions.messages import Text, User

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def test_a_cancelled_caller_waits_for_the_line_that_is_being_written() -> None:
    gate, done = threading.Event(), threading.Event()

    def write() -> None:
        gate.wait(5)
        done.set()

    with ThreadPoolExecutor(1) as executor:
        caller = asyncio.create_task(in_thread(executor, write))
        await asyncio.sleep(0.01)
        caller.cancel()
        await asyncio.sleep(0.01)
        assert not caller.done()
        gate.set()

        with pytest.raises(asyncio.CancelledError):
            await caller

    assert done.is_set()


async def test_what_the_work_raises_reaches_the_caller() -> None:
    def fails() -> None:
        raise OSError("disk full")

    with ThreadPoolExecutor(1) as executor, pytest.raises(OSError, match="disk full"):
        await in_thread(executor, fails)


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as made:
        yield made


def conversations(
    folder: Path, executor: ThreadPoolExecutor, *, limit: int = 8, max_bytes: int = 1 << 20
) -> Conversations:
    return Conversations(
        folder,
        clock=lambda: NOON,
        limit=limit,
        max_bytes=max_bytes,
        max_line_bytes=1 << 20,
        executor=executor,
    )


async def fill(held: Conversations, session: str, chars: int) -> int:
    async with held.use(session, cwd=Path("/")) as conversation:
        await conversation.record(User(at=NOON, parts=(Text(text="x" * chars),)))
        return conversation.size


def is_open(held: Conversations, session: str) -> bool:
    return held.count(session) is not None


async def test_the_least_recently_used_are_closed_when_there_are_too_many(
    tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    held = conversations(tmp_path, executor, limit=2)

    for session in ("a", "b", "a", "c"):
        await fill(held, session, 10)

    assert [is_open(held, session) for session in "abc"] == [True, False, True]
    held.close()


@pytest.mark.parametrize(("room", "first"), [(0, True), (-1, False)])
async def test_together_they_take_so_much_room_and_no_more(
    tmp_path: Path, executor: ThreadPoolExecutor, room: int, first: bool
) -> None:
    held = conversations(tmp_path, executor)
    sizes = [await fill(held, session, 1_000) for session in "abcde"]

    held.bound(limit=8, max_bytes=sum(sizes) + room, max_line_bytes=1 << 20)

    assert [is_open(held, session) for session in "abcde"] == [first, True, True, True, True]
    held.close()


async def test_what_is_in_use_stays_open_whatever_its_size(
    tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    held = conversations(tmp_path, executor, max_bytes=1)

    async with held.use("a", cwd=Path("/")):
        for session in "bcde":
            await fill(held, session, 10)
        assert [is_open(held, session) for session in "abcde"] == [True, False, True, True, True]
    await fill(held, "f", 10)
    assert [is_open(held, session) for session in "acdef"] == [False, True, True, True, True]
    held.close()


async def test_a_few_stay_open_whatever_their_size(tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    held = conversations(tmp_path, executor, max_bytes=1)

    for number in range(LEAST + 1):
        await fill(held, str(number), 1_000)

    assert [is_open(held, str(number)) for number in range(LEAST + 1)] == [False, *[True] * LEAST]
    held.close()


async def test_a_conversation_that_was_closed_goes_on_where_it_was(
    tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    held = conversations(tmp_path, executor, limit=1)
    for session in "abaca":
        await fill(held, session, 10)

    assert len(await held.peek("a")) == 3
    held.close()
