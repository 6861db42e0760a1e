"""Whether a command may run: by the mode of who speaks, the list, and the owner's word."""

import asyncio
import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agents.permission import MAX_SHOWN, asks_for, denied, outside
from agents.settings import ExecMode, ToolsSettings
from agents.tools.allowlist import Allowlist, NotUnderstood, Words, parts_of, runs_others
from agents.tools.approval import ApprovalRequest, Remembered, shown
from agents.tools.policy import PEOPLE
from agents.tools.tool import ToolError
from agents.turn import Turn

Memory = Callable[[], Sequence[Remembered]]
"""What the owner has said need not be asked again."""


def nothing_remembered() -> Sequence[Remembered]:
    """Everything is asked."""
    return ()


MAX_WHY = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A command as a model asked for it: `command` for a shell, or `argv`. `env` names its variables."""

    argv: Words | None
    command: str
    cwd: Path
    env: tuple[str, ...]
    boxed: bool

    @property
    def words(self) -> Words:
        return self.argv or ("/bin/sh", "-c", self.command)

    def parts(self) -> tuple[Words, ...]:
        """Raises NotUnderstood."""
        return (self.argv,) if self.argv else parts_of(self.command)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecRules:
    """`root` is the workspace, `path` where programs are looked for."""

    settings: ToolsSettings
    root: Path
    path: str
    remembered: Memory = nothing_remembered

    def mode(self, turn: Turn) -> ExecMode:
        """Raises ToolError where nothing runs."""
        modes = self.settings.exec.mode
        mode = {"owner": modes.owner, "known": modes.known, "group": modes.group, "guest": modes.guest}[
            turn.trust
        ]
        if mode == "deny" and turn.trust != "owner":
            raise ToolError("Commands run for the owner alone. Do without, or tell the person so.")
        if mode == "deny":
            raise ToolError("Commands are switched off here (exec.mode.owner). Do without, or say so.")
        return mode

    def boxed(self, turn: Turn) -> bool:
        """Whether a command of this turn runs in the sandbox."""
        wanted = self.settings.exec.sandbox
        return wanted == "all" or (wanted == "non_owner" and turn.trust != "owner")

    async def words(self, wanted: Wanted, turn: Turn) -> Words:
        """What to run: the very words that were asked for. Raises ToolError."""
        mode = self.mode(turn)
        parts, miss = ((), "") if mode == "full" else await asyncio.to_thread(self._judge, wanted, turn)
        if mode == "allowlist" and miss:
            raise ToolError(
                f"Not run: for {PEOPLE[turn.trust]} only listed commands run, and {miss}. "
                f"{self._listed()} Plain words and quotes, joined by && || | ; are read; nothing else is."
            )
        if asks_for(turn, self.settings):  # also what is listed: it may carry off what was read
            await self._ask(wanted, turn, f"Content from outside came into this turn: {outside(turn)}.")
        elif miss:
            await self._ask(wanted, turn, f"It does not run unasked: {miss}.")
        return parts[0] if len(parts) == 1 and not miss else wanted.words

    def _judge(self, wanted: Wanted, turn: Turn) -> tuple[tuple[Words, ...], str]:
        """The parts of a command, and why it is not on the list; an empty text when it is."""
        try:
            parts = wanted.parts()
        except NotUnderstood as error:
            return (), f"this command is not read: {error}"
        host = self.settings.file_access == "host" and turn.trust == "owner"
        allowed = Allowlist(
            patterns=self.settings.exec.allow,
            remembered=self.remembered(),
            root=None if host else PurePosixPath(self.root),
        )
        why = allowed.refusal(parts, cwd=PurePosixPath(wanted.cwd), resolve=self._resolve)
        return parts, why or ""

    def _listed(self) -> str:
        listed = ", ".join(self.settings.exec.allow[:20])
        return f"Listed are: {listed}." if listed else "Nothing is listed."

    async def _ask(self, wanted: Wanted, turn: Turn, why: str) -> None:
        what = shown(shlex.join(wanted.argv) if wanted.argv else wanted.command)
        if len(what) > MAX_SHOWN:
            raise ToolError(f"Not run: it needs approval, and with {len(what):,} characters is too long.")
        before = await asyncio.to_thread(self._stamps, wanted)
        decision = await turn.approve(
            ApprovalRequest(
                tool="exec",
                what=what,
                why=_line(why),
                sender=turn.sender,
                cwd=str(wanted.cwd),
                env=wanted.env,
                boxed=wanted.boxed,
                remember=await asyncio.to_thread(self._remember, wanted),
                seconds=self.settings.approval_seconds,
            )
        )
        if not decision.granted:
            raise ToolError(denied(decision.reason))
        if self._stamps(wanted) != before:
            raise ToolError(
                "Not run: a file that it runs was changed while it was being approved. Ask again."
            )

    def _remember(self, wanted: Wanted) -> Remembered | None:
        """A program of the system with any arguments, else the exact words; None for what cannot be read,
        and for programs in the workspace, which anybody may change there."""
        try:
            parts = wanted.parts()
        except NotUnderstood:
            return None
        if len(parts) != 1:
            return None
        path = self._resolve(parts[0][0])
        if not path or Path(path).is_relative_to(self.root):
            return None
        return Remembered(words=parts[0]) if runs_others(parts[0]) else Remembered(program=path)

    def _resolve(self, name: str) -> str:
        found = shutil.which(name, path=self.path) if "/" not in name or name.startswith("/") else None
        return found or ""

    def _stamps(self, wanted: Wanted) -> dict[str, tuple[int, ...]]:
        """The files among the words of a command, so that a change in one of them is seen."""
        try:
            words = [word for part in wanted.parts() for word in part]
        except NotUnderstood:
            words = wanted.command.split()
        stamps: dict[str, tuple[int, ...]] = {}
        for word in words[:64]:
            try:
                status = os.stat(self._resolve(word) or wanted.cwd / word)  # noqa: PTH116 (also of texts)
            except (OSError, ValueError):
                continue
            stamps[word] = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        return stamps


def _line(why: str) -> str:
    """A reason in one line of moderate length: it may quote a command, which stands whole beside it."""
    text = shown(" ".join(why.split()))
    return text if len(text) <= MAX_WHY else f"{text[: MAX_WHY - 1]}…"
