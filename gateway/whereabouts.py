"""Where an agent's workspace is, when the settings leave it open."""

from pathlib import Path

from agents.settings import AgentSettings
from gateway.config import Config
from gateway.home import Home


def workspace_of(config: Config, home: Home, agent: AgentSettings) -> Path:
    """Where an agent's workspace is: as configured, else the home's default."""
    if agent.workspace is not None:
        return agent.workspace.expanduser().absolute()
    return home.default_workspace(agent.id, main=agent.id == config.agents.default_id)
