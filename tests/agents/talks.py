"""Real transcripts in a folder, a registry that knows them, and all that looks through them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from agents.archive import Archive
from agents.transcripts import Transcripts
from agents.visibility import Visibility
from gateway.redact import redact
from memory.sessions_text import SessionsText
from sessions.entries import Header, Said
from sessions.key import SessionKey
from sessions.messages import Message
from sessions.registry import Registry
from sessions.transcript import Transcript
from tests.sessions.making import AT, LIMIT, assistant, user

Line = str | Message


@dataclass(slots=True)
class Talked:
    """`say` writes into the transcript of a session, which is begun when it is not there."""

    folder: Path
    registry: Registry
    transcripts: Transcripts
    text: SessionsText

    def say(self, session: str, *lines: Line, key: str = "agent:main:main") -> Path:
        """Texts are the person's and the model's in turn."""
        path = self.folder / f"{session}.jsonl"
        if path.exists():
            transcript = Transcript.open(path, max_line_bytes=LIMIT)
        else:
            transcript = Transcript.create(path, Header(id=session, at=AT, cwd="/w"))
            if key:
                self.registry.start(SessionKey.parse(key), session, AT)
        for number, line in enumerate(lines):
            message = (user, assistant)[number % 2](line) if isinstance(line, str) else line
            transcript.append(Said(message=message), AT + timedelta(minutes=number))
        transcript.close()
        return path

    def archive(self, visibility: Visibility = "tree") -> Archive:
        return Archive(
            text=self.text, transcripts=self.transcripts, directory=self.registry, visibility=visibility
        )


@asynccontextmanager
async def talked(folder: Path, *, redacted: Callable[[str], str] = redact) -> AsyncIterator[Talked]:
    transcripts = Transcripts(folder / "sessions", redact=redacted, max_line_bytes=LIMIT)
    registry = Registry.open(folder / "registry.jsonl", lambda _: folder / "sessions")
    text = SessionsText(database=folder / "main.sessions.sqlite", talks=transcripts)
    yield Talked(folder=folder / "sessions", registry=registry, transcripts=transcripts, text=text)
    await text.aclose()
    registry.close()
