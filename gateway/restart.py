"""/restart: the process ends as it does for a signal, and begins again in its place."""

import asyncio

from gateway.views import Refused
from sessions.key import SessionKey

EXIT_RESTART = 75
"""What `serve` returns when it is to begin again (EX_TEMPFAIL)."""


class Restart:
    """`asked` is set once; who runs the gateway waits for it, and says that by setting `possible`."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.possible = False

    async def hook(self, _key: SessionKey, _rest: str) -> str:
        """Raises Refused where nobody could begin again."""
        if not self.possible:
            raise Refused(
                "This clawd was not started by `clawd gateway run`, so it cannot begin again by itself.",
                code="unsupported",
                status=409,
            )
        self.asked.set()
        return "Restarting; running answers are finished first."
