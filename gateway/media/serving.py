"""Files that an agent sent, for whoever may read the session in which it did."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from channels.message import OutboundFile
from gateway.media.sending import Outgoing, sent_in
from gateway.views import Beside, Refused
from sessions.entries import Entry
from sessions.key import SessionKey

MOST_BYTES = 100_000_000
"""Of a file that is sent to whoever reads a session over HTTP."""


def sending_in(outgoing: Outgoing | None, key: SessionKey, beside: Beside) -> AbstractContextManager[object]:
    """While a turn of the session runs: files can be sent in it to a caller who says that it takes them."""
    if outgoing is None or not beside.takes_files:
        return nullcontext()
    return outgoing.opened(key, MOST_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFiles:
    """`entries` are a session's transcript, and raises Refused; `outgoing` knows the files of ours."""

    entries: Callable[[SessionKey], Awaitable[Sequence[Entry]]]
    outgoing: Outgoing

    async def find(self, key: SessionKey, ref: str) -> OutboundFile:
        """The file of that reference, if this very session's transcript says that it was sent and it is still
        there. Raises Refused."""
        entries = await self.entries(key)
        found = next((one for one in sent_in(entries) if one.file.path.name == ref), None)
        if found is None:
            raise Refused(
                f"No file of that name was sent in {key}. GET /api/sessions/{key} tells which were.",
                code="unknown_file",
                status=404,
            )
        if not await asyncio.to_thread(self.outgoing.has, found.file.path):
            raise Refused(
                f"{found.file.name!r} is no longer kept (gateway.media.keep_days). Ask for it again.",
                code="file_gone",
                status=410,
            )
        return found.file
