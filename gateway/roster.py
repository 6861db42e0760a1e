"""Who answers: the agents of a gateway, each with parts of its own."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from agents.archive import Archive
from agents.recall import Recall
from agents.runtime import AgentRuntime
from gateway.views import Refused
from memory.settings import MaintenanceSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent's parts; nothing of them is shared with another agent. Without memory, `recall` is None;
    `remembers_talk`: its conversations are a source of it."""

    runtime: AgentRuntime
    recall: Recall | None
    archive: Archive
    remembers_talk: bool = False
    maintenance: MaintenanceSettings = MaintenanceSettings()  # noqa: RUF009 (frozen)


class Roster:
    """All agents by id, as they are now; `default` answers when nobody is named. Whoever works for long asks
    once and keeps what was answered: another configuration puts others in their place."""

    def __init__(self, *, agents: Mapping[str, Agent], default: str) -> None:
        self.agents = agents
        self.default = default
        self._others = asyncio.Event()

    def take(self, agents: Mapping[str, Agent], default: str) -> None:
        """From now on it is these."""
        self.agents, self.default = agents, default
        self._others.set()
        self._others = asyncio.Event()

    async def changed(self) -> None:
        """Return when there are others than now."""
        await self._others.wait()

    def of(self, name: str | None) -> Agent:
        """Raises Refused when there is no such agent."""
        agent = self.agents.get(name or self.default)
        if agent is None:
            known = ", ".join(self.agents)
            raise Refused(
                f"There is no agent {name!r}. The agents are: {known}.", code="unknown_agent", status=404
            )
        return agent

    def time_zone(self, name: str) -> str:
        """The agent's; of one that is no longer there, the owner's."""
        return (self.agents.get(name) or self.of(None)).runtime.time_zone

    def recall(self, name: str | None) -> Recall:
        """Raises Refused when the agent has no memory engine."""
        agent = self.of(name)
        if agent.recall is None:
            raise Refused(
                f"Agent {name or self.default} has no memory engine (memory.backend: none). "
                "Its notes are files in its workspace.",
                code="no_memory",
                status=409,
            )
        return agent.recall
