"""The local model's vectors, kept on disk between runs: the same text has the same one."""

import hashlib
import tempfile
from array import array
from collections.abc import Sequence
from pathlib import Path

import apsw

from memory.embed.embedder import Kind, Vector
from memory.embed.local import LocalEmbedder


class KeptVectors:
    """Implements Embedder."""

    provider = "local"

    def __init__(self, path: Path | None = None) -> None:
        self._local = LocalEmbedder()
        self.model, self.version, self.dims = self._local.model, self._local.version, self._local.dims
        self.floor, self.ceiling = self._local.floor, self._local.ceiling
        place = path or Path(tempfile.gettempdir(), f"clawd-bench-{self.model}-{self.version}.sqlite")
        self._kept = apsw.Connection(str(place))
        self._kept.set_busy_timeout(60_000)
        self._kept.execute("PRAGMA journal_mode = WAL")
        self._kept.execute(
            "CREATE TABLE IF NOT EXISTS kept(hash TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        known = {text: self._get(text) for text in texts}
        new = [text for text, vector in known.items() if vector is None]
        made = await self._local.embed(new, kind=kind) if new else []
        known |= dict(zip(new, made, strict=True))
        with self._kept:
            self._kept.executemany(
                "INSERT OR REPLACE INTO kept VALUES(?, ?)",
                ((_hash(text), vector.tobytes()) for text, vector in zip(new, made, strict=True)),
            )
        return [vector for text in texts if (vector := known[text]) is not None]

    async def aclose(self) -> None:
        await self._local.aclose()
        self._kept.close()

    def _get(self, text: str) -> Vector | None:
        rows = list(self._kept.execute("SELECT vector FROM kept WHERE hash = ?", (_hash(text),)))
        return array("f", rows[0][0]) if rows else None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
