"""What refusals of embedding servers mean."""

import json

import pytest

from memory.embed.faults import (
    Fault,
    Passing,
    Refused,
    TooLarge,
    fault_of,
    message_in,
    seconds_to_wait,
    without,
)


def said(message: str, **more: str) -> str:
    return json.dumps({"error": {"message": message, **more}})


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (429, said("Rate limit reached for text-embedding-3-small"), Passing),
        (429, said("You exceeded your current quota, check your plan and billing details"), Passing),
        (400, said("RESOURCE_EXHAUSTED"), Passing),
        (500, said("The server had an error"), Passing),
        (503, "<html>Service unavailable</html>", Passing),
        (529, "", Passing),
        (408, "", Passing),
        (413, "", TooLarge),
        (400, said("This model's maximum context length is 8192 tokens"), TooLarge),
        (400, said("Too many tokens overall, split into more batches."), TooLarge),
        (400, said("Requested 312,000 tokens, max 300,000 tokens per request"), TooLarge),
        (400, said("at most 100 requests can be in one batch"), TooLarge),
        (500, said("input length exceeds maximum context length, tokens"), TooLarge),
        (401, said("nope"), Refused),
        (404, said("nope"), Refused),
        (302, "", Refused),
        (400, said("anything else"), Refused),
    ],
)
def test_a_refusal_has_one_meaning(status: int, text: str, kind: type[Fault]) -> None:
    assert type(fault_of(status, {}, text)) is kind


@pytest.mark.parametrize(
    ("status", "text", "cause"),
    [
        (401, "", "key"),
        (403, said("Forbidden"), "key"),
        (400, said("API key not valid. Please pass a valid API key."), "key"),
        (402, "", "quota"),
        (429, said("You have no balance", code="insufficient_quota"), "quota"),
        (404, said("The model `x` does not exist", code="model_not_found"), "model"),
        (404, json.dumps({"error": 'model "x" not found, try pulling it first'}), "model"),
        (404, "<html>Not Found</html>", "address"),
        (301, "", "address"),
        (422, said("input_type must be query or document"), "request"),
    ],
)
def test_a_final_refusal_has_one_cause(status: int, text: str, cause: str) -> None:
    fault = fault_of(status, {}, text)
    assert isinstance(fault, Refused)
    assert fault.cause == cause


@pytest.mark.parametrize(
    ("headers", "text", "seconds"),
    [
        ({"retry-after": "3"}, "", 3.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, "", 0.25),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, "", None),
        ({"retry-after": "-1"}, "", None),
        ({"retry-after": "inf"}, "", None),
        ({}, '{"details": [{"retryDelay": "34.5s"}]}', 34.5),
        ({}, "Please try again in 120ms.", 0.12),
        ({}, "later", None),
    ],
)
def test_the_wanted_pause_is_read(headers: dict[str, str], text: str, seconds: float | None) -> None:
    assert seconds_to_wait(headers, text) == seconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (said("one\n two"), "one two"),
        ('[{"error": {"message": "listed"}}]', "listed"),
        ('{"detail": "plain"}', "plain"),
        ('{"Message": "as AWS says"}', "as AWS says"),
        ("<html>a page</html>", ""),
        ("bare words", "bare words"),
        ("x" * 500, "x" * 200 + "…"),
    ],
    ids=["error", "list", "detail", "aws", "page", "words", "long"],
)
def test_the_sentence_in_a_refusal_is_found(text: str, message: str) -> None:
    assert message_in(text) == message


def test_a_bottomless_refusal_is_only_words() -> None:
    assert len(message_in("[" * 100_000)) <= 201


def test_secrets_are_masked_longest_first() -> None:
    assert without("key-123456 and key-1234", ["key-1234", "key-123456", "abc"]) == (
        "[redacted] and [redacted]"
    )
