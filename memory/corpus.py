"""What a search wants to know of an index as a whole, looked up once between two writes."""

import json
from collections.abc import Iterable

import apsw

from memory import queries
from memory.words import Analyzer


class Corpus:
    """For one thread at a time; `at` is called first in each transaction, and forgets all after a write, by
    whomever. `analyzer` reads the questions."""

    def __init__(self) -> None:
        self.analyzer = Analyzer()
        self._connection: apsw.Connection | None = None
        self._version = (-1, -1)
        self._totals: queries.Totals | None = None
        self._has_vectors: bool | None = None
        self._counts: dict[str, int] = {}

    def at(self, connection: apsw.Connection) -> "Corpus":
        """This corpus, as it is in the connection's transaction."""
        ((others,),) = connection.execute("PRAGMA data_version")
        version = (int(others), connection.total_changes())
        if connection is not self._connection or version != self._version:
            self._connection, self._version = connection, version
            self._totals, self._has_vectors, self._counts = None, None, {}
        return self

    @property
    def connection(self) -> apsw.Connection:
        if self._connection is None:
            raise ValueError("Corpus.at comes first")
        return self._connection

    @property
    def totals(self) -> queries.Totals:
        if self._totals is None:
            self._totals = queries.totals(self.connection)
        return self._totals

    @property
    def has_vectors(self) -> bool:
        if self._has_vectors is None:
            self._has_vectors = queries.has_vectors(self.connection)
        return self._has_vectors

    def containing(self, forms: Iterable[str]) -> dict[str, int]:
        """How many chunks have a word in each of these forms."""
        wanted = list(forms)
        new = [form for form in wanted if form not in self._counts]
        if new:
            self._counts |= dict.fromkeys(new, 0) | containing(self.connection, new)
        return {form: self._counts[form] for form in wanted}


def containing(connection: apsw.Connection, forms: Iterable[str]) -> dict[str, int]:
    """The same of those that any chunk has."""
    # Of a virtual table, each statement would be opened anew for each form.
    rows = connection.execute(
        "SELECT t.term, t.doc FROM json_each(?) j CROSS JOIN chunks_terms t ON t.term = j.value",
        (json.dumps(list(forms)),),
    )
    return {str(term): int(count) for term, count in rows}
