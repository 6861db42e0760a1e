"""Open transcripts: whole lines whatever is cancelled, and the facts around requests once."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from agents.conversation import in_thread


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
