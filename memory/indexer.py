"""Bringing an index up to date with the notes: first all words, then the vectors that are missing."""

import asyncio
from functools import partial

from memory import queries
from memory.bulk import BulkState
from memory.database import Database
from memory.documents import Documents
from memory.embed.embedder import Embedder
from memory.files import FileProblem
from memory.meanings import Meanings
from memory.media_vectors import Media
from memory.mending import Damage, damage, is_suspicious, mend
from memory.notes import Notes
from memory.orders import Order, Outcome
from memory.queries import FileRow
from memory.schema import CUT_KEY, cut_identity
from memory.settings import MemorySettings
from memory.storing import Storing
from memory.taking import Gone, Taken, Taking, in_groups, is_same


class Indexer:
    """Works on one order at a time. Embeds between transactions, never inside one."""

    def __init__(self, *, notes: Notes, settings: MemorySettings, documents: Documents | None = None) -> None:
        self._taking = Taking(notes, settings, documents)
        self._settings = settings
        self._mended = 0
        self._bulk = BulkState()
        self._refused: dict[str, FileProblem] = {}

    async def bring_up(self, database: Database, embedder: Embedder | None, order: Order) -> Outcome:
        """Do all that can be done to the index as it is; what needs one made anew is in the outcome.

        Raises what the database raises; what else fails is in the outcome.
        """
        outcome = Outcome()
        await self._mend(database)
        cut = cut_identity(self._settings.chunking)
        known = await database.read(partial(queries.meta, key=CUT_KEY))
        if known is None:
            await database.run(partial(queries.set_meta, key=CUT_KEY, value=cut))
        outcome.recut = known not in {None, cut}
        await self._words(database, order, outcome, force=False)
        order.words_ready.set()
        if embedder is not None and database.vector_problem is None:
            await self._meanings(database, database).bring_up(embedder, order, outcome)
        return outcome

    async def make(self, made: Database, cache: Database, embedder: Embedder | None, order: Order) -> Outcome:
        """The same for an index that nobody searches yet, beside the one whose cache it uses. Called again,
        it takes in what has changed meanwhile."""
        outcome = Outcome()
        cut = cut_identity(self._settings.chunking)
        first = await made.read(partial(queries.meta, key=CUT_KEY)) is None
        if first:
            await made.run(partial(queries.set_meta, key=CUT_KEY, value=cut))
        await self._words(made, order, outcome, force=first)
        if embedder is not None and made.vector_problem is None:
            await self._meanings(made, cache).bring_up(embedder, order, outcome)
        return outcome

    async def in_bulk(self, database: Database, embedder: Embedder, order: Order) -> Outcome:
        """Have the provider's batch API make the vectors that `bring_up` left to it. Others may bring the
        index up to date meanwhile."""
        outcome = Outcome()
        await self._meanings(database, database).in_bulk(embedder, order, outcome)
        return outcome

    def _meanings(self, database: Database, cache: Database) -> Meanings:
        keep = self._settings.search.cache_entries
        media = Media(read=self._taking.media, refused=self._refused)
        return Meanings(database, cache=cache, keep_entries=keep, bulk=self._bulk, media=media)

    async def _mend(self, database: Database) -> None:
        """Once for each file: a kill in the middle may have left tables that do not agree."""
        await database.read(queries.totals)  # opens the file that is there now
        if self._mended == database.generation:
            return
        self._mended = database.generation
        if not await database.read(is_suspicious):
            return
        found = await database.read(damage)
        if found != Damage():
            await database.run(partial(mend, found=found))

    async def _words(self, database: Database, order: Order, outcome: Outcome, *, force: bool) -> None:
        known = await database.read(queries.files)
        listing = await asyncio.to_thread(self._taking.listing, known, force=force or order.catch_up)
        outcome.failed += listing.problems
        changed = [file for file in listing.files if force or not is_same(file, known.get(file.path))]
        storing, gone, done = Storing(database), set[str](), 0
        for group in in_groups(changed):
            order.tell("reading", done, len(changed))
            for taken in await asyncio.to_thread(self._taking.take, group, known):
                if isinstance(taken, Gone):
                    gone.add(taken.path)
                elif isinstance(taken, FileProblem):
                    outcome.failed.append(taken)
                else:
                    await _store(storing, taken, known.get(taken.row.path), outcome)
            done += len(group)
        if changed:
            order.tell("reading", done, len(changed))
        failed = {problem.path for problem in outcome.failed}
        kept = {file.path for file in listing.files} - failed - gone
        for path in known.keys() - kept:
            await storing.remove(known[path])
            outcome.removed += 1
        await storing.flush()


DAMAGED = "is not valid UTF-8; its unreadable bytes are read as \ufffd. Save it again as UTF-8"


async def _store(storing: Storing, taken: Taken, known: FileRow | None, outcome: Outcome) -> None:
    if taken.chunks is None:
        await storing.touch(taken.row)
        return
    await storing.put(taken.row, taken.chunks, known)
    outcome.indexed += 1
    if taken.row.damaged:
        outcome.damaged.append(taken.row.path)
        outcome.warnings.append(f"{taken.row.path} {DAMAGED}.")
