"""The embedding providers that are known by name: where they are, what they want, how their scores lie."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

WireName: TypeAlias = Literal["openai", "gemini", "ollama", "voyage", "copilot", "bedrock"]

LOCAL = "local"
WORDS_ONLY = "none"
AUTOMATIC = (None, "auto", LOCAL)
"""Providers that nobody insists on: without them, words alone search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """`variables` are the environment's names for the key, the first one to be recommended. Without
    `needs_key` a key is sent only when there is one. `dims_key` is how the number of dimensions is asked
    for. The limits lie well below the vendor's own."""

    wire: WireName
    model: str | None
    address: str | None
    variables: tuple[str, ...] = ()
    needs_key: bool = True
    dims_key: str = "dimensions"
    max_texts: int = 128
    max_chars: int = 100_000
    concurrency: int = 4
    start: str = ""


# Addresses, models, names and limits as the vendors' API references give them (2025, 2026).
PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(  # takes 2,048 texts and 300,000 tokens at once
        wire="openai",
        model="text-embedding-3-small",
        address="https://api.openai.com/v1",
        variables=("OPENAI_API_KEY",),
        max_chars=200_000,
    ),
    "gemini": Provider(  # takes 100 texts at once
        wire="gemini",
        model="gemini-embedding-001",
        address="https://generativelanguage.googleapis.com/v1beta",
        variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        max_texts=100,
        concurrency=2,
    ),
    "voyage": Provider(  # takes 1,000 texts and, for the large model, 120,000 tokens at once
        wire="voyage",
        model="voyage-4-large",
        address="https://api.voyageai.com/v1",
        variables=("VOYAGE_API_KEY",),
        dims_key="output_dimension",
    ),
    "mistral": Provider(  # takes 16,384 tokens at once
        wire="openai",
        model="mistral-embed",
        address="https://api.mistral.ai/v1",
        variables=("MISTRAL_API_KEY",),
        dims_key="output_dimension",
        max_texts=64,
        max_chars=32_000,
    ),
    "deepinfra": Provider(
        wire="openai",
        model="BAAI/bge-m3",
        address="https://api.deepinfra.com/v1/openai",
        variables=("DEEPINFRA_API_KEY", "DEEPINFRA_TOKEN"),
    ),
    "ollama": Provider(
        wire="ollama",
        model="nomic-embed-text",
        address="http://127.0.0.1:11434",
        variables=("OLLAMA_API_KEY",),
        needs_key=False,
        max_texts=32,
        max_chars=40_000,
        concurrency=1,
        start="ollama serve",
    ),
    "lmstudio": Provider(
        wire="openai",
        model="text-embedding-nomic-embed-text-v1.5",
        address="http://127.0.0.1:1234/v1",
        variables=("LMSTUDIO_API_KEY",),
        needs_key=False,
        max_texts=32,
        max_chars=40_000,
        concurrency=1,
        start="lms server start",
    ),
    "github-copilot": Provider(
        wire="copilot",
        model="text-embedding-3-small",
        address=None,  # named by the token's answer
        variables=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"),
        max_texts=64,
        concurrency=2,
    ),
    "bedrock": Provider(
        wire="bedrock",
        model="amazon.titan-embed-text-v2:0",
        address=None,  # by region
        needs_key=False,  # AWS's own chain of credentials
        max_texts=16,
    ),
    "openai-compatible": Provider(wire="openai", model=None, address=None, needs_key=False, max_texts=64),
}

NAMES = ("auto", LOCAL, WORDS_ONLY, *PROVIDERS)

# Beginnings of model names, without their publisher and after the longest: dimensions, floor, ceiling.
# The dimensions are the vendors'. Floor (the cosine of unrelated texts) and ceiling (that of a good question
# with its note) are NOT measured by us for these models: they are what the makers' model cards and public
# comparisons of retrieval scores show, rounded, and memory.search.floor and .ceiling replace them. Those of
# the built-in model are measured (memory/embed/local.py).
_MODELS: tuple[tuple[str, int, float, float], ...] = (
    ("text-embedding-3-small", 1536, 0.10, 0.55),
    ("text-embedding-3-large", 3072, 0.08, 0.55),
    ("text-embedding-ada-002", 1536, 0.70, 0.88),
    ("gemini-embedding-001", 3072, 0.50, 0.75),
    ("gemini-embedding-2", 3072, 0.45, 0.75),
    ("voyage-4", 1024, 0.20, 0.60),
    ("voyage-3-lite", 512, 0.20, 0.60),
    ("voyage-3", 1024, 0.20, 0.60),
    ("mistral-embed", 1024, 0.62, 0.85),
    ("codestral-embed", 1536, 0.20, 0.65),
    ("bge-m3", 1024, 0.35, 0.70),
    ("nomic-embed-text", 768, 0.45, 0.75),
    ("text-embedding-nomic-embed-text", 768, 0.45, 0.75),
    ("mxbai-embed-large", 1024, 0.38, 0.75),
    ("qwen3-embedding-0.6b", 1024, 0.20, 0.65),
    ("qwen3-embedding-4b", 2560, 0.20, 0.65),
    ("qwen3-embedding-8b", 4096, 0.20, 0.65),
    ("qwen3-embedding", 0, 0.20, 0.65),
    ("embeddinggemma", 768, 0.15, 0.55),
    ("text-embedding-embeddinggemma", 768, 0.15, 0.55),
    ("snowflake-arctic-embed2", 1024, 0.20, 0.60),
    ("all-minilm", 384, 0.05, 0.55),
    ("multilingual-e5-small", 384, 0.74, 0.88),
    ("multilingual-e5-base", 768, 0.74, 0.88),
    ("multilingual-e5-large", 1024, 0.72, 0.88),
    ("titan-embed-text-v2", 1024, 0.08, 0.50),
    ("titan-embed-text-v1", 1536, 0.15, 0.60),
    ("embed-english-v3", 1024, 0.25, 0.60),
    ("embed-multilingual-v3", 1024, 0.25, 0.60),
    ("embed-v4", 1536, 0.20, 0.60),
)
_FLOOR, _CEILING = 0.20, 0.70

# Families whose questions want an instruction; their notes want none (as their model cards say, and as the
# stores that other tools have filled were made).
_QUERY_PREFIXES: tuple[tuple[str, str], ...] = (
    ("nomic-embed-text", "search_query: "),
    (
        "qwen3-embedding",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
    ),
    ("mxbai-embed-large", "Represent this sentence for searching relevant passages: "),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """`dims` is 0 when nobody knows it before the first answer."""

    dims: int
    floor: float
    ceiling: float


def model_facts(model: str) -> ModelFacts:
    """What is known of a model by its name, whoever serves it."""
    name = bare(model)
    matching = [row for row in _MODELS if name.startswith(row[0])]
    if not matching:
        return ModelFacts(dims=0, floor=_FLOOR, ceiling=_CEILING)
    _, dims, floor, ceiling = max(matching, key=lambda row: len(row[0]))
    return ModelFacts(dims=dims, floor=floor, ceiling=ceiling)


def query_prefix(model: str) -> str:
    """What stands before a question for a model that Ollama serves; "" for most."""
    name = bare(model)
    return next((prefix for family, prefix in _QUERY_PREFIXES if name.startswith(family)), "")


def bare(model: str) -> str:
    """A model's name as its maker says it: without publisher and vendor, in lower case; size tags stay."""
    name = re.sub(r"^(models/|amazon\.|cohere\.)", "", model.strip().lower())
    return name.rpartition("/")[2].replace(":latest", "").replace("qwen3-embedding:", "qwen3-embedding-")


def is_near(address: str | None) -> bool:
    """Whether an address lies on this machine or in its own network: no key, no proxy, more patience."""
    host = urlsplit(address or "").hostname or ""
    if not host:
        return False
    try:
        return not ip_address(host).is_global
    except ValueError:
        suffixes = (".local", ".localhost", ".internal", ".lan", ".home.arpa")
        return "." not in host or host.endswith(suffixes)
