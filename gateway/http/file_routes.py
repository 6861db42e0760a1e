"""Files that an agent sent in a session, one by one."""

from fastapi import FastAPI, Request, Response
from starlette.responses import FileResponse

from gateway.http.docs import described
from gateway.http.requests import NoQuery, query_of, session_key
from gateway.http.wiring import Wiring
from gateway.views import Refused

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
"""Told as what they are; whatever else there is, no browser is to interpret."""

UNKNOWN = "application/octet-stream"


def add_file_routes(app: FastAPI, wiring: Wiring) -> None:
    """Before those of sessions, whose keys may hold anything."""

    @app.get("/api/sessions/{key:path}/files/{ref}", **described("session_file", binary=True))
    async def file(key: str, ref: str, request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        if wiring.sent is None:
            raise Refused("This gateway keeps no files.", code="unsupported", status=501)
        found = await wiring.sent.find(session_key(key), ref)
        return FileResponse(
            found.path,
            media_type=found.mime if found.mime in PICTURES else UNKNOWN,
            filename=found.name,
            content_disposition_type="attachment",
            headers={"cache-control": "no-store", "content-security-policy": "default-src 'none'; sandbox"},
        )
