"""Putting another configuration in the place of the one that holds, while turns run."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from agents.workspace import WorkspaceError
from gateway.config import Config
from gateway.config.changes import Changes
from gateway.embedding import NotChosen
from gateway.frontage import Frontage
from gateway.gateway import Gateway
from gateway.home import HomeError
from gateway.members import Draft, Members
from gateway.reload import NotApplied
from gateway.site import zone_of

Close = Callable[[], Awaitable[None]]

logger = logging.getLogger("clawd.reload")


class Applying:
    """Whole or not at all: first everything is made that may fail, then it takes its place.

    A turn that runs goes on with what it began with, but for its tools, which obey the new rules from their
    next call on. What is replaced is closed when no turn is left that may have it.
    """

    def __init__(self, *, members: Members, gateway: Gateway, frontage: Frontage | None) -> None:
        self._members = members
        self._gateway = gateway
        self._frontage = frontage
        self._one_at_a_time = asyncio.Lock()
        self._leaving: dict[asyncio.Task[None], Close] = {}

    async def __call__(self, found: Changes, new: Config) -> None:
        """Raises NotApplied."""
        async with self._one_at_a_time:
            if found.applied or found.channels:
                await self._apply(new)
            if found.channels and self._frontage is not None:
                await self._frontage.restart(new, found.accounts)
            await self.warm_up()

    async def warm_up(self) -> None:
        """Import what the models need, so that no message has to wait for it."""
        models = [agent.runtime.settings.model for agent in self._members.roster.agents.values()]
        await self._members.site.models.warm_up(models)

    async def aclose(self) -> None:
        """Close what waits for that, whatever runs."""
        for waiting, close in [*self._leaving.items()]:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await close()

    async def _apply(self, new: Config) -> None:
        draft = await self._drafted(new)
        retire, gone = self._taken(draft, new)
        await self._members.remember(draft)
        self._later(retire)
        self._later(draft.site.embedders.settle)
        for name in gone:
            self._later(partial(self._close, name), agent=name)

    def _taken(self, draft: Draft, new: Config) -> tuple[Close, set[str]]:
        """All at once: nobody sees one half of it."""
        retire = draft.site.models.change(new.models)
        draft.site.media.change(new)
        gone = self._members.take(draft)
        self._gateway.change(new.sessions)
        if self._frontage is not None:
            self._frontage.learn(new)
        return retire, gone

    async def _drafted(self, new: Config) -> Draft:
        """All that can fail. Raises NotApplied."""
        try:
            draft = await self._members.drafted(new)
            try:
                await asyncio.to_thread(self._members.site.ledger.change, new.models, zone_of(new))
            except BaseException:
                await draft.site.embedders.give_up()
                raise
        except (NotChosen, HomeError, WorkspaceError, OSError) as error:
            raise NotApplied(f"What clawd.yaml says could not be put in place: {error}") from error
        except Exception as error:
            logger.exception("a changed configuration failed unexpectedly")
            raise NotApplied(
                "What clawd.yaml says could not be put in place: something went wrong inside clawd. The log "
                "says what it was."
            ) from error
        return draft

    async def _close(self, name: str) -> None:
        async with self._one_at_a_time:
            if not self._gateway.lanes.at_work(name):  # it may have come back, and gone again
                await self._members.close(name)

    def _later(self, close: Close, *, agent: str | None = None) -> None:
        """When the turns of now, or all of an agent, have ended."""
        task = asyncio.create_task(self._passed(close, agent), name="closing what was replaced")
        self._leaving[task] = close
        task.add_done_callback(lambda done: self._leaving.pop(done, None))

    async def _passed(self, close: Close, agent: str | None) -> None:
        await self._gateway.lanes.passed(agent)
        await self._members.passed()
        await close()
