"""What happens by the clock while nobody writes."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

SWEEP_MINUTES = 5

logger = logging.getLogger("clawd.schedule")


@asynccontextmanager
async def scheduled(
    sweep: Callable[[], Awaitable[None]], *, every: timedelta = timedelta(minutes=SWEEP_MINUTES)
) -> AsyncIterator[None]:
    """Run `sweep` again and again while the block lasts; it decides itself whether anything is due, so
    that no time zone and no changed clock can fool it. A run that failed is told and the next one comes."""

    async def run() -> None:
        try:
            await sweep()
        except OSError as error:
            logger.warning("sessions could not be looked after: %s", error)

    scheduler = AsyncIOScheduler()
    scheduler.add_job(
        run,
        IntervalTrigger(seconds=max(1, int(every.total_seconds()))),
        max_instances=1,
        coalesce=True,
        misfire_grace_time=None,
    )
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=False)
