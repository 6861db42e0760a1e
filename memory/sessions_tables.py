"""The tables of the text of conversations, and what is asked of them; all inside a caller's transaction."""

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import apsw

from memory.opening import Layout
from memory.snippets import best_window
from memory.words import WORDS, Analyzer, Term

SNIPPET_CHARS = 300
_MOST_CANDIDATES = 200
_FEW_SESSIONS = 500
_MOST_TERMS_LOOKED_UP = 8  # of those of which not all are found together
_LITERAL = -1

# A file of another version is made anew: so `words` are always those that a question is made of.
LAYOUT = Layout(
    """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE talks(
  session TEXT PRIMARY KEY, mark TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE remarks(
  id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, line INTEGER NOT NULL, at REAL NOT NULL,
  role TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX remarks_session ON remarks(session);
CREATE VIRTUAL TABLE remarks_fts USING fts5(
  words, content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
CREATE VIRTUAL TABLE remarks_terms USING fts5vocab(remarks_fts, row);
""",
    f"conversations 1, words {WORDS}",
)

Role: TypeAlias = Literal["user", "assistant"]
State: TypeAlias = tuple[int, int]
"""Size and time of a file as it was when it was read."""
Row: TypeAlias = tuple[int, float, Role, str, str]
"""Line, time, role, text, and its words in all their forms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is looked for, in those sessions that are `visible`; None: in all."""

    text: str
    limit: int
    visible: Callable[[str], bool] | None = None

    def shortened(self, most: int) -> "Wanted":
        return replace(self, text=self.text[:most])


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A remark: `line` of the transcript, `at` in seconds since 1970, `snippet` the part that matched."""

    session: str
    line: int
    at: float
    role: Role
    snippet: str
    cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    row: tuple[str, int, float, Role, str]
    rank: float


def known_talks(connection: apsw.Connection) -> dict[str, State]:
    rows = connection.execute("SELECT session, size, mtime_ns FROM talks")
    return {session: (size, mtime_ns) for session, size, mtime_ns in rows}


def known_marks(connection: apsw.Connection) -> dict[str, str]:
    return {
        str(session): str(mark) for session, mark in connection.execute("SELECT session, mark FROM talks")
    }


def put_talk(
    connection: apsw.Connection,
    *,
    session: str,
    mark: str,
    state: State,
    before: str,
    keep: bool,
    remarks: Sequence[Row],
) -> None:
    """The session with these remarks, after those it has when they are to be `keep`t.

    Nothing happens when somebody else has read on since the mark `before`: their next reading goes on there.
    """
    rows = connection.execute("SELECT mark FROM talks WHERE session = ?", (session,))
    if next((known for (known,) in rows), "") != before:
        return
    if not keep:
        remove_talk(connection, session)
    connection.execute("INSERT OR REPLACE INTO talks VALUES(?, ?, ?, ?)", (session, mark, *state))
    for line, at, role, text, words in remarks:
        connection.execute(
            "INSERT INTO remarks(session, line, at, role, text) VALUES(?, ?, ?, ?, ?)",
            (session, line, at, role, text),
        )
        connection.execute(
            "INSERT INTO remarks_fts(rowid, words) VALUES(?, ?)", (connection.last_insert_rowid(), words)
        )


def remove_talk(connection: apsw.Connection, session: str) -> None:
    connection.execute(
        "DELETE FROM remarks_fts WHERE rowid IN (SELECT id FROM remarks WHERE session = ?)", (session,)
    )
    connection.execute("DELETE FROM remarks WHERE session = ?", (session,))
    connection.execute("DELETE FROM talks WHERE session = ?", (session,))


def find(connection: apsw.Connection, wanted: Wanted, analyzer: Analyzer) -> tuple[tuple[Found, ...], bool]:
    """Remarks with all words of the question, those with its very text first; when there are none, remarks
    with some of the words, and False. What stands in quotation marks must stand in a remark as it is."""
    terms = analyzer.terms(wanted.text)
    phrases = [_plain(one) for one in re.findall(r"[\"“„«]([^\"“”„«»]+)[\"”“»]", wanted.text)]
    literal = _plain(re.sub(r"[\"“”„«»]", " ", wanted.text))
    complete = True
    found = _candidates(connection, " AND ".join(map(_either, terms)), wanted, phrases)
    if not found and len(terms) > 1 and not phrases:
        rare = _rarest(connection, terms)
        found = _candidates(connection, " OR ".join(map(_either, rare)), wanted, phrases)
        complete = not found
    ranked = sorted(found, key=lambda one: (literal not in _plain(one.row[4]), one.rank, -one.row[2]))
    weigh = _weigher(terms, phrases or [literal], analyzer)
    return tuple(_shown(one, weigh) for one in ranked[: wanted.limit]), complete


def _candidates(
    connection: apsw.Connection, match: str, wanted: Wanted, phrases: list[str]
) -> list[_Candidate]:
    """The best by BM25."""
    found: list[_Candidate] = []
    if not match:
        return found
    few = _few_ids(connection, wanted.visible)
    sql = "SELECT rowid, rank FROM remarks_fts WHERE remarks_fts MATCH ? ORDER BY rank"
    for id_, rank in connection.execute(sql, (match,)):
        if few is not None and id_ not in few:
            continue
        row = _row(connection, id_)
        if wanted.visible is not None and not wanted.visible(row[0]):
            continue
        if phrases and any(phrase not in _plain(row[4]) for phrase in phrases):
            continue
        found.append(_Candidate(row=row, rank=float(rank)))
        if len(found) == _MOST_CANDIDATES:
            break
    return found


def _few_ids(connection: apsw.Connection, visible: Callable[[str], bool] | None) -> set[int] | None:
    """The remarks that are visible, when they are few: so that all others can be passed over unread."""
    if visible is None:
        return None
    sessions = [name for (name,) in connection.execute("SELECT session FROM talks") if visible(name)]
    if len(sessions) > _FEW_SESSIONS:
        return None
    sql = "SELECT id FROM remarks WHERE session IN (SELECT value FROM json_each(?))"
    return {int(id_) for (id_,) in connection.execute(sql, (json.dumps(sessions),))}


def _row(connection: apsw.Connection, id_: int) -> tuple[str, int, float, Role, str]:
    sql = "SELECT session, line, at, role, text FROM remarks WHERE id = ?"
    ((session, line, at, role, text),) = connection.execute(sql, (id_,))
    return session, line, at, role, text


def _either(term: Term) -> str:
    """Any form of the term. A form is letters, marks and digits alone: between quotes nothing is syntax."""
    return "(" + " OR ".join(f'"{form}"' for form in sorted(term.forms)) + ")"


def _rarest(connection: apsw.Connection, terms: Sequence[Term]) -> list[Term]:
    sql = "SELECT doc FROM remarks_terms WHERE term = ?"
    counted = [
        (max((int(doc) for form in term.forms for (doc,) in connection.execute(sql, (form,))), default=0), i)
        for i, term in enumerate(terms)
    ]
    return [terms[i] for count, i in sorted(counted) if count][:_MOST_TERMS_LOOKED_UP]


def _weigher(
    terms: Sequence[Term], phrases: Sequence[str], analyzer: Analyzer
) -> Callable[[str], dict[int, float]]:
    def weigh(text: str) -> dict[int, float]:
        forms = {form for word in analyzer.words(text) for form in word}
        weights = {i: 1.0 for i, term in enumerate(terms) if not forms.isdisjoint(term.forms)}
        if any(phrase and phrase in _plain(text) for phrase in phrases):
            weights[_LITERAL] = float(len(terms) + 1)
        return weights

    return weigh


def _shown(candidate: _Candidate, weigh: Callable[[str], dict[int, float]]) -> Found:
    session, line, at, role, text = candidate.row
    window = best_window(text, weigh, most=SNIPPET_CHARS)
    return Found(
        session=session, line=line, at=at, role=role, snippet=window.text, cut=len(window.text) < len(text)
    )


def _plain(text: str) -> str:
    """Without case, accents and the kind of its blanks."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(char for char in folded if not unicodedata.combining(char)).split())
