"""The tables of an index, all of them derived from the notes."""

from memory.chunks import CHUNKER
from memory.settings import ChunkingSettings
from memory.words import WORDS

SCHEMA = "2"

# `words` of a chunk is its number of words; `embedded` says whether chunks_vec has it. AUTOINCREMENT: an id
# is never used twice, so that a vector that arrives late cannot meet another text. `used` of a cached vector
# is larger the later it was needed; `damaged`: the note was no UTF-8.
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
  words INTEGER NOT NULL, embedded INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX chunks_path ON chunks(path);
CREATE INDEX chunks_waiting ON chunks(id) WHERE embedded = 0;
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
    """The statement that makes chunks_vec; its rowid is the chunk's id."""
    return f"CREATE VIRTUAL TABLE chunks_vec USING vec0(embedding float[{int(dims)}] distance_metric=cosine)"


def cut_identity(settings: ChunkingSettings) -> str:
    """How texts are cut and their words found: another value means that every note is to be read again."""
    return f"chunker {CHUNKER}, {settings.tokens}/{settings.overlap}, words {WORDS}"
