"""The table of providers and models."""

import pytest

from memory.embed.providers import PROVIDERS, is_near, model_facts, query_prefix


@pytest.mark.parametrize(
    ("model", "dims"),
    [
        ("text-embedding-3-small", 1536),
        ("text-embedding-3-large", 3072),
        ("openai/text-embedding-3-large", 3072),
        ("models/gemini-embedding-001", 3072),
        ("gemini-embedding-2-preview", 3072),
        ("voyage-4-large", 1024),
        ("voyage-3-lite", 512),
        ("BAAI/bge-m3", 1024),
        ("nomic-embed-text:latest", 768),
        ("nomic-embed-text:v1.5", 768),
        ("qwen3-embedding:0.6b", 1024),
        ("qwen3-embedding:8b", 4096),
        ("qwen3-embedding", 0),
        ("amazon.titan-embed-text-v2:0", 1024),
        ("cohere.embed-multilingual-v3", 1024),
        ("somebodys-own", 0),
    ],
)
def test_dimensions_are_known_by_name(model: str, dims: int) -> None:
    assert model_facts(model).dims == dims


def test_every_default_model_is_known_with_a_scale() -> None:
    for name, provider in PROVIDERS.items():
        if provider.model is not None:
            facts = model_facts(provider.model)
            assert facts.dims > 0, name
            assert -1 < facts.floor < facts.ceiling <= 1, name


@pytest.mark.parametrize(
    ("model", "start"),
    [
        ("nomic-embed-text", "search_query: "),
        ("hf.co/nomic-ai/nomic-embed-text-v1.5", "search_query: "),
        ("qwen3-embedding:4b", "Instruct: "),
        ("mxbai-embed-large:latest", "Represent this sentence for searching"),
    ],
)
def test_questions_of_some_families_are_introduced(model: str, start: str) -> None:
    assert query_prefix(model).startswith(start)


def test_other_families_take_questions_as_they_are() -> None:
    assert query_prefix("all-minilm") == ""


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://localhost:1234/v1", True),
        ("http://192.168.1.7:11434", True),
        ("http://[::1]:11434", True),
        ("http://gpu-box:11434", True),
        ("http://nas.local", True),
        ("https://api.openai.com/v1", False),
        ("http://8.8.8.8", False),
        (None, False),
    ],
)
def test_a_server_of_ones_own_is_near(address: str | None, near: bool) -> None:
    assert is_near(address) is near
