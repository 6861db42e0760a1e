"""The page and its parts, read once and served from memory with an ETag."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    content: bytes
    media_type: str
    etag: str

    async def __call__(self, request: Request) -> Response:
        """The file, or 304 when the caller has this very version."""
        headers = {"etag": self.etag, "cache-control": "no-cache"}
        known = request.headers.get("if-none-match", "")
        if self.etag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
            return Response(status_code=304, headers=headers)
        return Response(self.content, headers=headers, media_type=self.media_type)


def load(folder: Path) -> dict[str, Asset]:
    """Every file of a known type below the folder by its URL path; index.html is `/`."""
    assets: dict[str, Asset] = {}
    for file in sorted(folder.rglob("*")):
        media_type = _TYPES.get(file.suffix)
        if media_type is None or not file.is_file():
            continue
        content = file.read_bytes()
        name = file.relative_to(folder).as_posix()
        assets["/" if name == "index.html" else f"/{name}"] = Asset(
            content=content,
            media_type=media_type,
            etag=f'"{hashlib.sha256(content).hexdigest()[:20]}"',
        )
    return assets
