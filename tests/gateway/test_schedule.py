"""What happens by the clock while nobody writes."""

import asyncio
import logging
from datetime import timedelta

import pytest

from gateway.schedule import scheduled


async def test_the_sweep_comes_again_after_one_that_failed_and_ends_with_its_block(
    caplog: pytest.LogCaptureFixture,
) -> None:
    times = 0
    twice = asyncio.Event()

    async def sweep() -> None:
        nonlocal times
        times += 1
        if times == 1:
            raise OSError("disk full")
        twice.set()

    with caplog.at_level(logging.WARNING):
        async with scheduled(sweep, every=timedelta(seconds=1)):
            await asyncio.wait_for(twice.wait(), 30)

    assert "disk full" in caplog.text
    before = times
    await asyncio.sleep(1.2)
    assert times == before
