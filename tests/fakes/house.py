"""A whole gateway in a temporary folder: real files and index, a scripted model, the fake embedder."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

from agents.archive import Archive
from agents.conversation import Conversations
from agents.model.catalog import ModelStatus
from agents.model.prices import Price
from agents.model.provider import AuthFailed, CacheTtl, ModelError
from agents.model.spelling import Spelling
from agents.recall import Recall
from agents.runtime import AgentRuntime
from agents.scene import ChosenModel
from agents.settings import AgentSettings, ToolsSettings
from agents.tools.exec import exec_tools
from agents.tools.exec_rules import Memory
from agents.tools.files import file_tools
from agents.tools.memory import memory_tools
from agents.tools.sessions import sessions_tools
from agents.tools.tool import Tool
from agents.transcripts import Transcripts
from agents.workspace import Workspace
from gateway.approvals import Approvals
from gateway.budget import Budget, Budgeted
from gateway.commands.obey import Hooks
from gateway.endings import Endings
from gateway.gateway import Gateway
from gateway.home import Home
from gateway.redact import redact
from gateway.roster import Agent, Roster
from gateway.usage import Ledger
from gateway.warmer import Sleep
from memory.index import MemoryIndex
from memory.sessions_text import SessionsText
from memory.settings import MemorySettings
from sessions.registry import Registry
from sessions.settings import SessionsSettings
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.protocols import START, FakeClock, ScriptedModel, Step


@dataclass(slots=True)
class House:
    """`unusable` makes every choice of a model fail with it."""

    gateway: Gateway
    roster: Roster
    home: Home
    workspace: Path
    model: ScriptedModel
    clock: FakeClock
    registry: Registry
    unusable: ModelError | None = None

    def transcript(self, session_id: str, agent: str = "main") -> str:
        return (self.home.transcripts(agent) / f"{session_id}.jsonl").read_text(encoding="utf-8")


def _check(name: str, models: Sequence[ModelStatus]) -> None:
    if models and name not in {row.name for row in models if row.usable}:
        raise AuthFailed(f"{name} cannot be used.")


def _approvals(home: Home, clock: FakeClock, executor: ThreadPoolExecutor) -> Approvals:
    names = count(1)
    return Approvals(home.approvals_file, clock=clock, new_id=lambda: f"ok{next(names)}", executor=executor)


def _hands(workspace: Workspace, tools: ToolsSettings | None, home: Home, remembered: Memory) -> list[Tool]:
    if tools is None:
        return file_tools(workspace, ToolsSettings())
    environ, media, closed = {"PATH": os.defpath}, home.media, (home.path,)
    return [
        *file_tools(workspace, tools, forbidden=closed, readable=(media,)),
        *exec_tools(workspace, tools, environ=environ, media=media, forbidden=closed, remembered=remembered),
    ]


async def _still(gateway: Gateway) -> None:
    """Nothing runs any more."""
    gateway.warmer.close()
    await gateway.lanes.drain(0)


@asynccontextmanager
async def house(
    folder: Path,
    *script: Step,
    extra_tools: Sequence[Tool] = (),
    agents: Sequence[str] = ("main",),
    open_limit: int = 8,
    first_session: int = 1,
    sessions: SessionsSettings = SessionsSettings(),  # noqa: B008 (frozen)
    window: int = 200_000,
    budget: Budget | None = None,
    models: Sequence[ModelStatus] = (),
    tools: ToolsSettings | None = None,
    hooks: Hooks = Hooks(),  # noqa: B008 (frozen)
    spelling: Spelling | None = None,
    price: Price | None = None,
    sleep: Sleep = asyncio.sleep,
    cache_ttl: CacheTtl | None = "5m",
) -> AsyncIterator[House]:
    """Opens on what an earlier house left in `folder`; pass another `first_session` then. Every name is a
    model's, unless `models` says which ones are. With `tools`, commands can be run."""
    home = Home(folder / "home")
    home.ensure()
    clock = FakeClock()
    numbers = count(first_session)
    with ThreadPoolExecutor(1) as executor, closing(_approvals(home, clock, executor)) as approvals:
        registry = Registry.open(home.registry_file, home.transcripts)
        endings = Endings.open(home.endings_file)
        ledger = Ledger(home.journals, executor=executor, clock=clock, budget=budget)
        parts: dict[str, Agent] = {}
        texts: list[SessionsText] = []
        roster = Roster(agents=parts, default=agents[0])
        scene = House(
            registry=registry,
            gateway=Gateway(
                roster=roster,
                registry=registry,
                endings=endings,
                sessions=sessions,
                models=lambda: list(models),
                window=lambda _provider, _model: 10_000,
                ledger=ledger,
                clock=clock,
                new_id=lambda: f"session-{next(numbers)}",
                executor=executor,
                max_text_chars=1_000,
                max_concurrent_turns=4,
                version="1.2.3",
                hooks=hooks,
                price=lambda _provider, _model: price,
                sleep=sleep,
                approvals=approvals,
            ),
            roster=roster,
            home=home,
            workspace=folder / f"workspace-{agents[0]}",
            model=ScriptedModel(list(script), clock=clock),
            clock=clock,
        )

        async def choose() -> ChosenModel:
            if scene.unusable:
                raise scene.unusable
            return ChosenModel(
                provider=Budgeted(scene.model, ledger.check),
                provider_name=scene.model.name,
                model="script",
                max_output=None,
                max_retries=0,
                window=window,
                spelling=spelling,
            )

        async def choose_named(name: str) -> ChosenModel:
            _check(name, models)
            return replace(await choose(), model=name)

        for name in agents:
            workspace = Workspace(folder / f"workspace-{name}")
            workspace.ensure(START.date())
            index = MemoryIndex(
                workspace=workspace.root,
                database=home.memory_database(name),
                settings=MemorySettings(),
                embedder=FakeEmbedder(),
            )
            settings = AgentSettings(id=name, tools=tools or ToolsSettings(), cache_ttl=cache_ttl)
            recall = Recall(own=index, others={}, max_results=6, min_score=0.35)
            transcripts = Transcripts(home.transcripts(name), redact=redact, max_line_bytes=1 << 20)
            text = SessionsText(database=home.sessions_database(name), talks=transcripts)
            texts.append(text)
            archive = Archive(text=text, transcripts=transcripts, directory=registry, visibility="tree")
            parts[name] = Agent(
                recall=recall,
                archive=archive,
                runtime=AgentRuntime(
                    settings=settings,
                    time_zone="Europe/Lisbon",
                    workspace=workspace,
                    conversations=Conversations(
                        home.transcripts(name),
                        clock=clock,
                        limit=open_limit,
                        max_bytes=1 << 24,
                        max_line_bytes=1 << 20,
                        executor=executor,
                    ),
                    tools=(
                        *_hands(workspace, tools, home, partial(approvals.remembered, name)),
                        *memory_tools(recall),
                        *sessions_tools(archive),
                        *extra_tools,
                    ),
                    choose=choose,
                    choose_named=choose_named,
                    sessions=sessions,
                    clock=clock,
                    on_answer=ledger.note,
                ),
            )
        try:
            yield scene
        finally:
            await _still(scene.gateway)
            for agent in parts.values():
                agent.runtime.conversations.close()
                if agent.recall is not None:
                    await agent.recall.own.aclose()
            for text in texts:
                await text.aclose()
            endings.close()
            registry.close()
    ledger.close()
