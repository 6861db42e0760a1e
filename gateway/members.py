"""The agents of a gateway, each put together from the configuration, and again when that becomes another."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from zoneinfo import ZoneInfo

from agents.archive import Archive
from agents.conversation import Conversations
from agents.recall import Recall
from agents.runtime import AgentRuntime
from agents.settings import AgentSettings
from agents.tools.exec import exec_tools
from agents.tools.files import file_tools
from agents.tools.noticed import noticed
from agents.tools.results import result_tools
from agents.tools.sessions import sessions_tools
from agents.tools.tool import Tool
from agents.transcripts import Transcripts
from agents.visibility import notes_alone
from agents.workspace import Workspace
from gateway.changing_memory import ChangingMemory
from gateway.config import Config
from gateway.machine import local_time_zone
from gateway.recollecting import (
    Engine,
    archive_of,
    engine_of,
    index_of,
    memory_tools_of,
    recall_of,
    transcripts_of,
)
from gateway.roster import Agent, Roster
from gateway.site import Site
from gateway.tools.send_file import send_file_tool
from gateway.whereabouts import workspace_of
from memory.backend import MemoryBackend
from memory.sessions_text import SessionsText


@dataclass(slots=True, kw_only=True)
class Lasting:
    """What an agent keeps whatever its settings become, so that each of its files has one owner. `engine` is
    what its memory is made of; None: it has none."""

    conversations: Conversations
    transcripts: Transcripts
    text: SessionsText
    memory: ChangingMemory
    engine: Engine | None = None

    async def aclose(self) -> None:
        self.conversations.close()
        await self.text.aclose()
        await self.memory.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Agents that nobody asks yet. Nothing of them is open, but for embedders that `site` has made."""

    site: Site
    lasting: Mapping[str, Lasting]
    engines: Mapping[str, Engine]
    agents: Mapping[str, Agent]


class Members:
    """`site` is what all of them share, by the configuration that holds. With `write`, workspaces are made.

    Whoever calls `drafted`, `take` and `remember` lets nothing come between.
    """

    def __init__(self, site: Site, *, write: bool) -> None:
        self.site = site
        self._write = write
        self._lasting: dict[str, Lasting] = {}
        self.roster = Roster(agents={}, default=site.config.agents.default_id)

    def open(self) -> None:
        """The agents of the configuration. Raises WorkspaceError, OSError."""
        draft = self._drafted(self.site)
        for name, engine in draft.engines.items():
            draft.lasting[name].engine = engine
            draft.lasting[name].memory.begin(index_of(self.site, name, engine))
        self._hold(draft)

    async def drafted(self, config: Config) -> Draft:
        """The agents by another configuration; makes their folders. Raises NotChosen, HomeError,
        WorkspaceError, OSError: then nothing is left open."""
        embedders = self.site.embedders.successor(config.models.providers)
        try:
            return await asyncio.to_thread(
                self._drafted, replace(self.site, config=config, embedders=embedders)
            )
        except BaseException:
            await embedders.give_up()
            raise

    def take(self, draft: Draft) -> set[str]:
        """From now on it is these; says who is there no more. What is open of those, `close` closes; memories
        are as they were until `remember`."""
        gone = self.roster.agents.keys() - draft.agents.keys()
        self._hold(draft)
        sessions = draft.site.config.sessions
        for lasting in draft.lasting.values():
            lasting.conversations.bound(
                limit=sessions.open_limit,
                max_bytes=sessions.open_mb << 20,
                max_line_bytes=sessions.max_line_bytes,
            )
            lasting.transcripts.max_line_bytes = sessions.max_line_bytes
        return {*gone}

    async def remember(self, draft: Draft) -> None:
        """Give memories the engines of a draft that was taken, where those are others."""
        for name, lasting in draft.lasting.items():
            engine = draft.engines.get(name)
            if engine != lasting.engine:
                lasting.engine = engine
                await lasting.memory.change(index_of(draft.site, name, engine) if engine else None)

    async def passed(self) -> None:
        """Until what was asked of memories before now is answered."""
        for lasting in [*self._lasting.values()]:
            await lasting.memory.passed()

    async def close(self, name: str) -> None:
        """What is open of an agent that is there no more, and that nobody asks."""
        if name not in self.roster.agents and name in self._lasting:
            await self._lasting.pop(name).aclose()

    async def aclose(self) -> None:
        """Also the embedders. May be called again."""
        while self._lasting:
            await self._lasting.popitem()[1].aclose()
        await self.site.embedders.aclose()

    def _hold(self, draft: Draft) -> None:
        self.site = draft.site
        self._lasting |= draft.lasting
        self.roster.take(draft.agents, draft.site.config.agents.default_id)

    def _drafted(self, site: Site) -> Draft:
        config = site.config
        settings = [found for one in config.agents.list if (found := config.agents.resolve(one.id))]
        site.home.ensure([one.id for one in settings])
        lasting = {one.id: self._lasting.get(one.id) or _lasting_of(site, one.id) for one in settings}
        engines = {one.id: engine for one in settings if (engine := engine_of(site, one))}
        memories = {name: lasting[name].memory for name in engines}
        agents = {one.id: self._agent(site, one, lasting[one.id], memories) for one in settings}
        return Draft(site=site, lasting=lasting, engines=engines, agents=agents)

    def _agent(
        self, site: Site, settings: AgentSettings, lasting: Lasting, memories: Mapping[str, MemoryBackend]
    ) -> Agent:
        zone = settings.time_zone or local_time_zone()
        workspace = Workspace(workspace_of(site.config, site.home, settings))
        if self._write:
            workspace.ensure(site.clock().astimezone(ZoneInfo(zone)).date())
        memory = site.config.memory_of(settings.id)
        recall = recall_of(site, settings, memories)
        archive = archive_of(site, settings, lasting.text, lasting.transcripts)
        tools = _hands(site, settings, workspace, recall)
        tools += _beside(site, settings, lasting.conversations, recall, archive)
        runtime = AgentRuntime(
            settings=settings,
            time_zone=zone,
            workspace=workspace,
            conversations=lasting.conversations,
            tools=tuple(tools),
            choose=partial(site.models.chain, settings.model, settings.fallbacks),
            choose_named=site.models.choose,
            clock=site.clock,
            sessions=site.config.sessions,
            on_answer=site.ledger.note,
            successor=partial(self._runtime, settings.id),
        )
        return Agent(
            runtime=runtime,
            recall=recall,
            archive=archive,
            remembers_talk="sessions" in memory.search.sources,
            maintenance=memory.maintenance,
        )

    def _runtime(self, name: str) -> AgentRuntime | None:
        found = self.roster.agents.get(name)
        return found.runtime if found else None


def _lasting_of(site: Site, name: str) -> Lasting:
    transcripts = transcripts_of(site, name)
    return Lasting(
        conversations=Conversations(
            site.home.transcripts(name),
            clock=site.clock,
            limit=site.config.sessions.open_limit,
            max_bytes=site.config.sessions.open_mb << 20,
            max_line_bytes=site.config.sessions.max_line_bytes,
            executor=site.executor,
        ),
        transcripts=transcripts,
        text=SessionsText(database=site.home.sessions_database(name), talks=transcripts),
        memory=ChangingMemory(),
    )


def _hands(site: Site, settings: AgentSettings, workspace: Workspace, recall: Recall | None) -> list[Tool]:
    """Files and commands; the memory notices what they may have written."""
    closed, media = (site.home.path,), site.home.media
    files = file_tools(workspace, settings.tools, forbidden=closed, readable=(media,))
    remembered = partial(site.approvals.remembered, settings.id)
    hands = files + exec_tools(
        workspace,
        settings.tools,
        environ=site.environ,
        media=media,
        forbidden=closed,
        remembered=remembered,
    )
    return [*noticed(hands, recall.own.stale)] if recall else hands


def _beside(
    site: Site, settings: AgentSettings, conversations: Conversations, recall: Recall | None, archive: Archive
) -> list[Tool]:
    """What is remembered and what was said; last, what is shown to people."""
    search = site.config.memory_of(settings.id).search
    sees = archive.visible if "sessions" in search.sources else notes_alone
    root = workspace_of(site.config, site.home, settings)
    return [
        *(memory_tools_of(site, settings, recall, sees) if recall else ()),
        *sessions_tools(archive),
        *result_tools(conversations.said, max_chars=settings.tools.max_read_chars),
        send_file_tool(site.media, workspace=root, folder=site.home.media, forbidden=(site.home.path,)),
    ]
