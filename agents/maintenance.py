"""Looking after MEMORY.md: a backup, the model with tools that can change that file alone, an entry."""

import asyncio
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from agents import saving
from agents.backup import keep, new_folder
from agents.clock import Clock
from agents.daily import DATED
from agents.flush import READING
from agents.loop import Loop
from agents.maintaining import ALL_CHARS, MEMORY, Changes, changes, instruction, told
from agents.model.provider import BadAnswer, ToolSpec
from agents.paths import Confined, PathRefused
from agents.runtime import AgentRuntime
from agents.scene import Scene
from agents.tools.tool import Tool, ToolError, ToolOutput
from agents.turn import Turn
from sessions.messages import JsonObject

ROUNDS = 16
NOTE_BYTES = 1 << 20
WINDOW_SHARE = 1  # characters of notes for each token of the window: a quarter of it

logger = logging.getLogger("clawd.agents")


def read_notes(root: Path) -> dict[str, str]:
    """The dated notes of a workspace by their names, as far as they can be read."""
    confined, found = Confined(root), {}
    try:
        names = sorted(os.listdir(root / "memory"))  # noqa: PTH208 (names, not paths)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    for name in names:
        if not DATED.fullmatch(name):
            continue
        try:
            with confined.locate(f"memory/{name}") as place, saving.opened(place) as fd:
                found[name] = os.read(fd, NOTE_BYTES).decode("utf-8", errors="replace")
        except (OSError, PathRefused) as error:
            logger.warning("memory/%s is left out of maintenance: %s", name, error)
    return found


class MemoryFile:
    """MEMORY.md of a workspace, as it was when this began and as the model knows it."""

    def __init__(self, root: Path) -> None:
        self._confined = Confined(root)
        self.before = self.now()
        self.known: bytes | None = None if self.before else b""
        self._ours: bytes | None = None

    def now(self) -> bytes:
        """Empty when there is none. Raises OSError and PathRefused."""
        try:
            with self._confined.locate(MEMORY) as place, saving.opened(place) as fd:
                return b"".join(iter(lambda: os.read(fd, 1 << 20), b""))
        except FileNotFoundError:
            return b""

    def written(self, was: bytes) -> None:
        """The model has changed the file, which was `was`."""
        self._ours = self.now()
        if self.known == was:
            self.known = self._ours

    def after(self) -> bytes:
        """What it has come to. Raises BadAnswer when nothing is left of it, and as `now`."""
        after = self.now()
        if self.before.strip() and not after.strip():
            raise BadAnswer(f"The model emptied {MEMORY}, which was put back.")
        return after

    def restore(self) -> None:
        """As it was when this began, unless somebody else has changed it since."""
        if self._ours is None or self._ours != self.now():
            return
        with self._confined.locate(MEMORY, write=True) as place:
            saving.replace(place, self.before, was=saving.status(place))


@dataclass(frozen=True, slots=True)
class Guarded:
    """A tool of the ordinary turn, specified alike, that may only read, and change MEMORY.md."""

    tool: Tool
    file: MemoryFile

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    async def run(self, arguments: JsonObject, turn: Turn) -> ToolOutput:
        name, ours = self.spec.name, arguments.get("path") == MEMORY
        if name in READING:
            now = await self._now()
            output = await self.tool.run(arguments, turn)
            if name == "read" and ours:
                self.file.known = now
            return output
        if name not in ("edit", "write") or not ours:
            raise ToolError(f"In this step you can only read, and change {MEMORY} (edit or write).")
        was = await self._now()
        if name == "write" and arguments.get("mode") == "overwrite":
            self._check(arguments, was)
        output = await self.tool.run(arguments, turn)
        await asyncio.to_thread(self.file.written, was)
        return output

    def _check(self, arguments: JsonObject, now: bytes) -> None:
        if not str(arguments.get("content") or "").strip():
            raise ToolError(f"{MEMORY} would be empty. Remove single lines with edit.")
        if self.file.known != now:
            raise ToolError(f"Read {MEMORY} as it is now, then write it: else lines would be lost.")

    async def _now(self) -> bytes:
        try:
            return await asyncio.to_thread(self.file.now)
        except (OSError, PathRefused) as error:
            raise ToolError(f"{MEMORY} cannot be read: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintainer:
    """`backups` is the folder of old texts."""

    runtime: AgentRuntime
    backups: Path
    clock: Clock

    async def run(self, turn: Turn, notes: Mapping[str, str], *, model: str | None) -> Changes:
        """Distil the notes into MEMORY.md, in a session of its own; what has changed.

        Raises ModelError, TurnLimit, WorkspaceError, BrokenTranscript, PathRefused and OSError, as when it
        is cancelled; MEMORY.md is then as it was.
        """
        root = self.runtime.workspace.root
        file = await asyncio.to_thread(MemoryFile, root)
        backup = await asyncio.to_thread(self._keep, file.before)
        try:
            async with self.runtime.opened(turn, model=model) as scene:
                room = min(ALL_CHARS, scene.chosen.window * WINDOW_SHARE)
                await scene.conversation.append(instruction(notes, room=room), self.clock())
                await self._loop(scene, file).run(turn)
            after = await asyncio.to_thread(file.after)
        except BaseException:
            file.restore()  # at once: who is cancelled may not wait
            raise
        made = changes(_text(file.before), _text(after))
        if made:
            await self._tell(turn, made, backup)
        return made

    def _keep(self, data: bytes) -> Path:
        return keep(new_folder(self.backups, f"memory-{self.clock():%Y%m%dT%H%M%SZ}"), MEMORY, data)

    def _loop(self, scene: Scene, file: MemoryFile) -> Loop:
        return Loop(
            provider=scene.chosen.provider,
            tools={name: Guarded(tool, file) for name, tool in self.runtime.upkeep.tools.items()},
            request=scene.request,
            record=scene.recorder("maintenance"),
            on_event=scene.hearing(),
            clock=self.clock,
            max_rounds=ROUNDS,
            max_retries=scene.chosen.max_retries,
            tool_timeout=self.runtime.settings.tools.timeout_seconds,
        )

    async def _tell(self, turn: Turn, made: Changes, backup: Path) -> None:
        """An entry in the day's note, by the tool that writes there anyway."""
        local = self.clock().astimezone(ZoneInfo(turn.time_zone))
        entry: JsonObject = {
            "path": f"memory/{local.date()}.md",
            "content": told(made, at=local.time(), backup=str(backup)),
            "mode": "append",
        }
        try:
            await self.runtime.upkeep.tools["write"].run(entry, turn)
        except ToolError as error:
            logger.warning("what maintenance changed in %s could not be noted: %s", MEMORY, error)


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")
