"""Making the frame of a turn anew, so that it can be compared with the one that is frozen."""

import logging
from collections.abc import Mapping, MutableMapping
from datetime import date
from typing import TypeVar
from zoneinfo import ZoneInfo

from agents.bootstrap import BootstrapFile
from agents.frame import Frame, digests, sizes
from agents.model.provider import ModelRequest, ToolSpec
from agents.prompt import PromptFacts, project_context, system_prompt
from agents.scene import ChosenModel
from agents.settings import AgentSettings
from agents.turn import Turn
from agents.workspace import Workspace
from sessions.tokens import estimate

KEPT = 64

K = TypeVar("K")
V = TypeVar("V")

logger = logging.getLogger("clawd.agents")


class Framing:
    """One agent's frames. What has not changed since it was last made is not made again."""

    def __init__(
        self, *, settings: AgentSettings, workspace: Workspace, time_zone: str, specs: tuple[ToolSpec, ...]
    ) -> None:
        self._settings = settings
        self._workspace = workspace
        self._zone = ZoneInfo(time_zone)
        self._time_zone = time_zone
        self._specs = specs
        self._frames: dict[tuple[bool, str], tuple[tuple[BootstrapFile, ...], ChosenModel, Frame]] = {}
        self._digests: tuple[tuple[BootstrapFile, ...], Mapping[str, str]] = ((), {})
        self._overheads: dict[int, tuple[ModelRequest, int]] = {}

    def files(self, turn: Turn) -> tuple[BootstrapFile, ...]:
        """The bootstrap files as they are now. Reads them: not for the event loop. Raises WorkspaceError."""
        if not self._workspace.root.is_dir():
            logger.warning("the workspace %s was gone and is made again", self._workspace.root)
            self._workspace.ensure(self._local_date(turn))
        return self._workspace.bootstrap(
            private=turn.key.private and turn.trust == "owner",
            max_chars=self._settings.bootstrap_max_chars,
            total_max_chars=self._settings.bootstrap_total_max_chars,
        )

    def frame(self, turn: Turn, chosen: ChosenModel, files: tuple[BootstrapFile, ...]) -> Frame:
        """What a request would stand in if nothing were frozen."""
        place = (turn.key.private, chosen.name)
        known = self._frames.get(place)
        if known is not None and known[:2] == (files, chosen):
            return known[2]
        made = self._make(chosen, files, private=turn.key.private)
        _bound(self._frames)
        self._frames[place] = (files, chosen, made)
        return made

    def digests(self, files: tuple[BootstrapFile, ...]) -> Mapping[str, str]:
        """As in agents/frame.py."""
        if self._digests[0] != files:
            self._digests = (files, digests(files))
        return self._digests[1]

    def overhead(self, blank: ModelRequest) -> int:
        """What stands around the messages, in tokens of our estimate; the same request is counted once."""
        known = self._overheads.get(id(blank))
        if known is not None and known[0] is blank:
            return known[1]
        _bound(self._overheads)
        self._overheads[id(blank)] = (blank, overhead_of(blank))
        return self._overheads[id(blank)][1]

    def _make(self, chosen: ChosenModel, files: tuple[BootstrapFile, ...], *, private: bool) -> Frame:
        settings = self._settings
        facts = PromptFacts(
            workspace=self._workspace.root,
            time_zone=self._time_zone,
            tools=frozenset(spec.name for spec in self._specs),
            private=private,
        )
        request = ModelRequest(
            model=chosen.model,
            system=system_prompt(facts),
            context=project_context(files),
            messages=(),
            tools=self._specs,
            max_tokens=min(settings.max_tokens, chosen.max_output or settings.max_tokens),
            thinking=settings.thinking,
            cache_ttl=settings.cache_ttl,
        )
        return Frame(
            provider=chosen.provider_name,
            request=request,
            files=self.digests(files),
            sizes=sizes(files),
            spelling=chosen.spelling,
        )

    def _local_date(self, turn: Turn) -> date:
        return turn.at.astimezone(self._zone).date()


def overhead_of(request: ModelRequest) -> int:
    """What stands around the messages, in tokens of our estimate."""
    tools = "".join(f"{tool.name}{tool.description}{tool.parameters}" for tool in request.tools)
    return estimate(request.system) + estimate(request.context) + estimate(tools)


def _bound(kept: MutableMapping[K, V]) -> None:
    """Forget everything once there is too much of it: it is made again when it is asked for."""
    if len(kept) >= KEPT:
        kept.clear()
