"""The note that an ended session leaves in memory."""

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path

from agents.daily import leave
from agents.model.provider import ModelError, ModelRequest
from agents.scene import Scene
from agents.turn import Turn
from sessions.messages import Text, User
from sessions.note import Line, NoteFacts, note_text, slug_prompt
from sessions.settings import NoteEvent, NoteSettings

TITLE_SECONDS = 15.0

logger = logging.getLogger("clawd.agents")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionNote:
    """`root` is the workspace."""

    settings: NoteSettings
    root: Path

    async def leave(self, turn: Turn, scene: Scene | None, lines: tuple[Line, ...], event: NoteEvent) -> str:
        """Write the note; its path in the workspace. Without a `scene` no model can be asked for a name.

        Raises OSError and PathRefused.
        """
        facts = NoteFacts(
            at=turn.at,
            time_zone=turn.time_zone,
            key=str(turn.key),
            session_id=turn.session_id,
            source=turn.key.channel or turn.key.kind,
            event=event,
        )
        title = await self._title(scene, lines)
        return await asyncio.to_thread(leave, self.root, facts, title, note_text(facts, lines))

    async def _title(self, scene: Scene | None, lines: tuple[Line, ...]) -> str | None:
        """What the conversation was about, in a word or two; None when nobody can say."""
        if self.settings.slug == "time":
            return None
        if scene is None or not scene.chosen.thinks:
            return next((line.text for line in lines if line.role == "user"), None)
        request = ModelRequest(
            model=scene.chosen.model,
            system="",
            context="",
            messages=(User(at=scene.turn.at, parts=(Text(text=slug_prompt(lines)),)),),
            max_tokens=1_024,
            cache_ttl=None,
        )
        try:
            async with asyncio.timeout(TITLE_SECONDS):
                answer = await scene.ask("note", request, of=scene.chosen, at=scene.turn.at)
        except (ModelError, TimeoutError) as error:
            logger.warning("the note of %s is named by its hour: %s", scene.turn.key, error)
            return None
        return answer.text
