"""A process of its own that keeps an index: python indexing_child.py WORKSPACE DATABASE WHAT."""

import asyncio
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from memory.embed.embedder import Kind, MemoryUnavailable, Vector
from memory.index import MemoryIndex
from memory.settings import MemorySettings
from tests.fakes.embedder import FakeEmbedder


class Dying(FakeEmbedder):
    """Kills its process with the second batch of notes."""

    batches = 0

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        if kind == "document":
            self.batches += 1
            if self.batches == 2:
                os.kill(os.getpid(), signal.SIGKILL)
        return await super().embed(texts, kind=kind)


async def main(workspace: Path, database: Path, what: str) -> None:
    embedder = Dying(version="2") if what == "die" else FakeEmbedder()
    small = {"tokens": 8, "overlap": 0} if what == "die" else {}
    settings = MemorySettings.model_validate({"chunking": small})
    index = MemoryIndex(workspace=workspace, database=database, settings=settings, embedder=embedder)
    if what == "full":
        await index.sync()
        size = (await index.status()).bytes
        resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))
        for force in (True, False):
            try:
                await index.sync(force=force)
            except MemoryUnavailable as error:
                sys.stdout.write(f"unavailable: {error}\n")
        sys.stdout.write(f"found: {len((await index.search('bicycle 7')).hits)}\n")
    elif what == "die":
        await index.sync()
    else:
        for round_ in range(int(what)):
            (workspace / f"memory/child-{round_}.md").write_text(f"zeppelin {round_}")
            hits = (await index.search("zeppelin", max_results=50)).hits
            assert sum(hit.text_score > 0.4 for hit in hits) == round_ + 1
            if round_ % 4 == 3:
                await index.sync(force=True)
    await index.aclose()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
