"""The page and its parts, read once and served from memory with an ETag, packed for those who unpack."""

import gzip
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
    """`packed` is the same content in gzip's form."""

    content: bytes
    packed: bytes
    media_type: str
    etag: str

    async def __call__(self, request: Request) -> Response:
        """The file, or 304 when the caller has this very version."""
        packs = _takes_gzip(request.headers.get("accept-encoding", ""))
        etag = f'"{self.etag}-gzip"' if packs else f'"{self.etag}"'
        headers = {"etag": etag, "cache-control": "no-cache", "vary": "accept-encoding"}
        known = request.headers.get("if-none-match", "")
        if etag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
            return Response(status_code=304, headers=headers)
        if packs:
            headers["content-encoding"] = "gzip"
        return Response(self.packed if packs else self.content, headers=headers, media_type=self.media_type)


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
            packed=gzip.compress(content, mtime=0),
            media_type=media_type,
            etag=hashlib.sha256(content).hexdigest()[:20],
        )
    return assets


def _takes_gzip(accepted: str) -> bool:
    """As RFC 9110, 12.5.3, says it; what is not named is not taken."""
    for offer in accepted.lower().split(","):
        name, _, weight = offer.replace(" ", "").partition(";q=")
        if name == "gzip":
            return weight.strip("0.") != "" or not weight
    return False
