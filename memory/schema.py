"""The tables of an index, all of them derived from the notes."""

from memory.chunks import CHUNKER
from memory.passages import PASSAGES
from memory.settings import ChunkingSettings
from memory.words import WORDS

SCHEMA = "4"

# `words` is the number of words, `shadow` holds them as the keyword index sees them. A passage is what is
# embedded (under its `context`) and shown; `embedded` says whether it has a vector: as bits in chunks_vec,
# which is searched, and whole in passage_vectors, by which what was found there is measured. AUTOINCREMENT:
# an id is never used twice, so that a vector that arrives late cannot meet another text. `used` of a cached
# vector is larger the later it was needed; `damaged`: the note was no UTF-8.
TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files(
  path TEXT PRIMARY KEY, hash TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, chunks INTEGER NOT NULL, words INTEGER NOT NULL,
  damaged INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE chunks(
  id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL, start INTEGER NOT NULL, text TEXT NOT NULL, hash TEXT NOT NULL,
  words INTEGER NOT NULL
);
CREATE INDEX chunks_path ON chunks(path);
CREATE TABLE passages(
  id INTEGER PRIMARY KEY AUTOINCREMENT, chunk INTEGER NOT NULL, start INTEGER NOT NULL,
  start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, text TEXT NOT NULL, context TEXT NOT NULL,
  hash TEXT NOT NULL, words INTEGER NOT NULL, shadow TEXT NOT NULL, embedded INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX passages_chunk ON passages(chunk);
CREATE INDEX passages_waiting ON passages(chunk, id) WHERE embedded = 0;
CREATE TABLE passage_vectors(passage INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE embedding_cache(
  provider TEXT NOT NULL, model TEXT NOT NULL, version TEXT NOT NULL, hash TEXT NOT NULL,
  vector BLOB NOT NULL, used INTEGER NOT NULL, PRIMARY KEY(provider, model, version, hash)
);
CREATE INDEX embedding_cache_used ON embedding_cache(used);
CREATE VIRTUAL TABLE chunks_fts USING fts5(
  words, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
CREATE VIRTUAL TABLE chunks_terms USING fts5vocab(chunks_fts, row);
"""

# Keys of meta.
SCHEMA_KEY = "schema"
CUT_KEY = "cut"
EMBEDDER_KEY = "embedder"


def vector_table(dims: int) -> str:
    """The statement that makes chunks_vec: one bit for each of the model's numbers; its rowid is the
    passage's id."""
    return f"CREATE VIRTUAL TABLE chunks_vec USING vec0(embedding bit[{-(-int(dims) // 8) * 8}])"


def cut_identity(settings: ChunkingSettings) -> str:
    """How texts are cut and their words found: another value means that every note is to be read again."""
    return f"chunker {CHUNKER}.{PASSAGES}, {settings.tokens}/{settings.overlap}, words {WORDS}"
