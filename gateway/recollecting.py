"""What an agent's memory is made of: its index, its conversations as text, and who may look into which."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from zoneinfo import ZoneInfo

from agents.archive import Archive
from agents.recall import Recall
from agents.settings import AgentSettings
from agents.tools.memory import Sees, memory_tools
from agents.tools.tool import Tool
from agents.transcripts import SessionDocuments, Transcripts
from agents.workspace import Workspace
from gateway.machine import local_time_zone
from gateway.redact import redact
from gateway.site import Site
from gateway.whereabouts import workspace_of
from memory.backend import MemoryBackend
from memory.index import MemoryIndex
from memory.sessions_text import SessionsText


def transcripts_of(site: Site, agent: str) -> Transcripts:
    return Transcripts(
        site.home.transcripts(agent), redact=redact, max_line_bytes=site.config.sessions.max_line_bytes
    )


def index_of(site: Site, settings: AgentSettings, stack: AsyncExitStack) -> MemoryBackend | None:
    """None where there is no memory engine."""
    memory = site.config.memory_of(settings.id)
    if memory.backend == "none":
        return None
    documents = SessionDocuments(
        transcripts_of(site, settings.id),
        growth=memory.search.sync.sessions,
        has_ended=site.registry.has_ended,
    )
    index = MemoryIndex(
        workspace=Workspace(workspace_of(site.config, site.home, settings)).root,
        database=site.home.memory_database(settings.id),
        settings=memory,
        embedder=site.embedders.of(memory.search),
        documents=documents if "sessions" in memory.search.sources else None,
        today=lambda: site.clock().astimezone(ZoneInfo(settings.time_zone or local_time_zone())).date(),
    )
    stack.push_async_callback(index.aclose)
    return index


def archive_of(site: Site, settings: AgentSettings, stack: AsyncExitStack) -> Archive:
    transcripts = transcripts_of(site, settings.id)
    text = SessionsText(database=site.home.sessions_database(settings.id), talks=transcripts)
    stack.push_async_callback(text.aclose)
    return Archive(
        text=text,
        transcripts=transcripts,
        directory=site.registry,
        visibility=site.config.memory_of(settings.id).sessions.visibility,
    )


def recall_of(site: Site, settings: AgentSettings, indexes: Mapping[str, MemoryBackend]) -> Recall | None:
    memory = site.config.memory_of(settings.id)
    if settings.id not in indexes:
        return None
    return Recall(
        own=indexes[settings.id],
        others={one: indexes[one] for one in memory.read_from if one in indexes and one != settings.id},
        max_results=memory.search.max_results,
        min_score=memory.search.min_score,
    )


def memory_tools_of(site: Site, settings: AgentSettings, recall: Recall, sees: Sees) -> list[Tool]:
    return memory_tools(
        recall,
        sees=sees,
        others=tuple(recall.others),
        citations=site.config.memory_of(settings.id).search.citations,
    )
