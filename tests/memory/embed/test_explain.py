"""Sentences for a person: what happened, where, what mends it, and no secret."""

import pytest

from memory.embed.batching import TooSlow
from memory.embed.embedder import Kind
from memory.embed.explain import Asked, no_key, shown, unavailable
from memory.embed.faults import BadAnswer, Fault, Passing, Refused, TooLarge

ASKED = Asked(
    provider="box",
    model="m",
    address="http://box:1/v1",
    variables=("BOX_API_KEY",),
    start="box up",
    fetch="box get m",
)


@pytest.mark.parametrize(
    ("fault", "kind", "advice"),
    [
        (Refused("refused the key", cause="key"), "query", "Check BOX_API_KEY or memory.search.api_key"),
        (Refused("has no credit", cause="quota"), "query", "Add credit there"),
        (
            Refused("does not know it", cause="model"),
            "query",
            "Fetch it (box get m) or set memory.search.model",
        ),
        (Refused("is elsewhere", cause="address"), "query", "Correct memory.search.base_url"),
        (Refused("refused it", cause="request"), "query", "memory.search.dimensions"),
        (TooSlow("was slow"), "query", "memory.search.query_timeout_seconds"),
        (TooSlow("was slow"), "document", "memory.search.sync.embedding_batch_timeout_seconds"),
        (TooLarge("finds it large"), "document", "memory.search.batch.max_chars"),
        (Passing("is busy", busy=True), "document", "Wait a while"),
        (Passing("cannot be reached"), "document", "Start it (box up)"),
        (BadAnswer("it is no JSON"), "document", "Check memory.search.base_url"),
        (BadAnswer("8 dimensions", dims=8), "document", "Set memory.search.dimensions to 8"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Fault) else None,
)
def test_every_fault_has_its_advice_and_its_command(fault: Fault, kind: Kind, advice: str) -> None:
    said = str(unavailable(fault, ASKED, kind))
    assert said.startswith("The embedding provider box (m at http://box:1/v1) ")
    assert advice in said
    assert said.endswith("then run `clawd memory index`.")


def test_a_missing_key_names_both_places() -> None:
    assert "Set BOX_API_KEY or memory.search.api_key" in str(no_key(ASKED))


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("https://u:p@host.example:8443/v1/?key=x", "https://host.example:8443/v1"),
        ("http://[::1]:11434", "http://[::1]:11434"),
        ("AWS", "AWS"),
        ("http://host:port", "its address"),
        ("u:p@host", "its address"),
    ],
)
def test_an_address_is_shown_without_what_is_secret_in_it(address: str, text: str) -> None:
    assert shown(address) == text
