"""Which updates a bot has accepted: a low-watermark in memory, and the same on disk."""

import json
import logging
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from channels.storing import write_private

STALE = timedelta(days=6)
"""After a week without updates Telegram numbers them anew, perhaps lower: an older offset is worthless."""

logger = logging.getLogger("clawd.telegram")


class Watermark:
    """`low` is the largest id of an update such that it and every one before it were accepted."""

    def __init__(self, low: int | None) -> None:
        self.low = low
        self._begun: set[int] = set()
        self._done: set[int] = set()

    def knows(self, update_id: int) -> bool:
        """Whether it was accepted, or is being accepted."""
        return (self.low is not None and update_id <= self.low) or update_id in self._begun | self._done

    def begin(self, update_id: int) -> None:
        self._begun.add(update_id)

    def forget(self, update_id: int) -> None:
        """It was not accepted after all."""
        self._begun.discard(update_id)

    def done(self, update_id: int) -> None:
        self._begun.discard(update_id)
        self._done.add(update_id)
        first = min(self._begun, default=None)
        below = {one for one in self._done if first is None or one < first}
        if below:
            self.low = max(below) if self.low is None else max(self.low, *below)
            self._done -= below

    def restart(self) -> None:
        """Telegram numbers anew."""
        self.low = None


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    bot_id: int
    last_update_id: int
    at: datetime | None = None


class OffsetFile:
    """`{bot_id, last_update_id, at}` in a file of one account, 0600; never half written. Calls block."""

    def __init__(self, path: Path, bot_id: int) -> None:
        self.path = path
        self._bot_id = bot_id

    def load(self, now: datetime) -> int | None:
        """None where there is nothing to go by: no file, an unreadable one, another bot's, one too old."""
        try:
            line = _Line.model_validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            logger.warning(
                "%s cannot be read (%s); messages of before may come again", self.path, type(error).__name__
            )
            return None
        if line.bot_id != self._bot_id:
            logger.info("%s is another bot's; this one begins anew", self.path)
            return None
        if line.at is not None and now - line.at > STALE:
            return None
        return line.last_update_id

    def save(self, last_update_id: int, now: datetime) -> None:
        """Raises OSError, after which the file is as it was."""
        line = {"bot_id": self._bot_id, "last_update_id": last_update_id, "at": now.isoformat()}
        write_private(self.path, json.dumps(line))
