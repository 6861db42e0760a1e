"""Where things lie in the home directory (CLAWD_HOME): one property a file or folder."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class HomeError(Exception):
    """The home directory cannot be used; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Home:
    """The directory of everything that clawd itself writes: 0700, files in it 0600."""

    path: Path

    @property
    def config_file(self) -> Path:
        return self.path / "clawd.yaml"

    @property
    def token_file(self) -> Path:
        return self.path / "credentials" / "gateway.token"

    @property
    def lock_file(self) -> Path:
        return self.path / "lock"

    @property
    def address_file(self) -> Path:
        """Where the running gateway says under which address it answers; means nothing without the lock."""
        return self.path / "gateway.address"

    @property
    def journals(self) -> Path:
        return self.path / "journals"

    @property
    def registry_file(self) -> Path:
        return self.journals / "registry.jsonl"

    @property
    def endings_file(self) -> Path:
        return self.path / "journals" / "endings.jsonl"

    @property
    def maintenance_file(self) -> Path:
        return self.journals / "maintenance.jsonl"

    @property
    def pairing_file(self) -> Path:
        """Who was let in by a code."""
        return self.journals / "pairing.jsonl"

    @property
    def preferences_file(self) -> Path:
        """What people chose for single conversations."""
        return self.journals / "preferences.jsonl"

    @property
    def inbox_file(self) -> Path:
        """Accepted messages, until each has had its end."""
        return self.journals / "inbox.jsonl"

    @property
    def outbox_file(self) -> Path:
        """Answers, until each part has arrived."""
        return self.journals / "outbox.jsonl"

    @property
    def errands_file(self) -> Path:
        """What was taken on for those who do not wait for it, until it is done."""
        return self.journals / "errands.jsonl"

    @property
    def places_file(self) -> Path:
        """Where the owner wrote last."""
        return self.journals / "places.jsonl"

    @property
    def approvals_file(self) -> Path:
        """What the owner has let through for good."""
        return self.journals / "approvals.jsonl"

    @property
    def media(self) -> Path:
        return self.path / "media"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def backups(self) -> Path:
        """Old texts of files that a command changed, a folder for each time."""
        return self.path / "backups"

    def memory_database(self, agent: str) -> Path:
        return self.path / "memory" / f"{agent}.sqlite"

    def sessions_database(self, agent: str) -> Path:
        """The text of the agent's conversations, for exact search; made from the transcripts."""
        return self.path / "memory" / f"{agent}.sessions.sqlite"

    def transcripts(self, agent: str) -> Path:
        return self.path / "agents" / agent / "sessions"

    def default_workspace(self, agent: str, *, main: bool) -> Path:
        """~/clawd beside ~/.clawd; inside any other home, so that two homes never share a workspace."""
        base = Path.home() / "clawd"
        if self.path != Path.home() / ".clawd":
            base = self.path / "workspace"
        return base if main else base.with_name(f"{base.name}-{agent}")

    def ensure(self, agents: Sequence[str] = ()) -> None:
        """Make the directory and its folders, closed to other users. Raises HomeError."""
        try:
            for folder in (
                self.path,
                self.path / "credentials",
                self.path / "journals",
                self.path / "memory",
                self.path / "agents",
                self.media,
                self.logs,
                *[
                    folder
                    for name in agents
                    for folder in (self.transcripts(name).parent, self.transcripts(name))
                ],
            ):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.path.stat().st_mode & 0o077:
                self.path.chmod(0o700)
        except OSError as error:
            raise HomeError(
                f"The home directory {self.path} cannot be used: {error.strerror or error}. "
                "Check who owns it, or name another one with --home or CLAWD_HOME."
            ) from error
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise HomeError(
                f"No permission to write in the home directory {self.path}. "
                "Check who owns it, or name another one with --home or CLAWD_HOME."
            )
