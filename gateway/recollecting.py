"""What an agent's memory is made of: its index, its conversations as text, and who may look into which."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
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
from memory.embed.embedder import Embedder
from memory.index import MemoryIndex
from memory.sessions_text import SessionsText
from memory.settings import MaintenanceSettings, MemorySettings, SessionsSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What an engine is made of: while it is the same, so is the engine. An embedder is the same while it is
    the very one."""

    root: Path
    settings: MemorySettings
    embedder: Embedder | None
    time_zone: str
    max_line_bytes: int


def transcripts_of(site: Site, agent: str) -> Transcripts:
    return Transcripts(
        site.home.transcripts(agent), redact=redact, max_line_bytes=site.config.sessions.max_line_bytes
    )


def engine_of(site: Site, settings: AgentSettings) -> Engine | None:
    """None where there is no memory engine. Raises NotChosen."""
    memory = site.config.memory_of(settings.id)
    if memory.backend == "none":
        return None
    beside = {"read_from": (), "maintenance": MaintenanceSettings(), "sessions": SessionsSettings()}
    return Engine(
        root=Workspace(workspace_of(site.config, site.home, settings)).root,
        settings=memory.model_copy(update=beside),
        embedder=site.embedders.of(memory.search),
        time_zone=settings.time_zone or local_time_zone(),
        max_line_bytes=site.config.sessions.max_line_bytes,
    )


def index_of(site: Site, agent: str, engine: Engine) -> MemoryBackend:
    """Opened by its first use."""
    search, zone = engine.settings.search, ZoneInfo(engine.time_zone)
    documents = SessionDocuments(
        transcripts_of(site, agent), growth=search.sync.sessions, has_ended=site.registry.has_ended
    )
    return MemoryIndex(
        workspace=engine.root,
        database=site.home.memory_database(agent),
        settings=engine.settings,
        embedder=engine.embedder,
        documents=documents if "sessions" in search.sources else None,
        today=lambda: site.clock().astimezone(zone).date(),
    )


def archive_of(site: Site, settings: AgentSettings, text: SessionsText, transcripts: Transcripts) -> Archive:
    return Archive(
        text=text,
        transcripts=transcripts,
        directory=site.registry,
        visibility=site.config.memory_of(settings.id).sessions.visibility,
    )


def recall_of(site: Site, settings: AgentSettings, memories: Mapping[str, MemoryBackend]) -> Recall | None:
    """`memories` of the agents that have an engine."""
    memory = site.config.memory_of(settings.id)
    if settings.id not in memories:
        return None
    return Recall(
        own=memories[settings.id],
        others={one: memories[one] for one in memory.read_from if one in memories and one != settings.id},
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
