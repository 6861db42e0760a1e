"""Which class of error a vendor's refusal becomes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model import provider
from agents.model.errors import classify, failure_of, retry_after

CASE = json.loads((Path(__file__).parents[2] / "cases" / "B73-errors.json").read_text())
CLASSES = {
    "rate_limit": provider.RateLimited,
    "overloaded": provider.Overloaded,
    "auth": provider.AuthFailed,
    "billing": provider.QuotaExhausted,
    "context_overflow": provider.ContextOverflow,
    "timeout": provider.TimedOut,
    "format": provider.BadRequest,
}


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    CASE["rows"],
    ids=[f"{index}-{row[2]}" for index, row in enumerate(CASE["rows"])],
)
def test_each_refusal_has_one_class_b73(status: int, body: object, expected: str) -> None:
    assert classify(failure_of(status, body)) is CLASSES[expected]


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (
            400,
            {"error": {"message": "Your credit balance is too low to access the API."}},
            provider.QuotaExhausted,
        ),
        (403, {"error": {"type": "permission_error", "message": "no"}}, provider.AuthFailed),
        (
            400,
            [{"error": {"code": 400, "message": "API key not valid.", "status": "X"}}],
            provider.AuthFailed,
        ),
        (404, {"error": "model 'llama9' not found"}, provider.ModelNotFound),
        (404, "<html>not here</html>", provider.ModelNotFound),
        (
            400,
            {"error": {"message": "input length and `max_tokens` exceed context limit"}},
            provider.ContextOverflow,
        ),
        (400, {"error": "the request exceeds the available context size"}, provider.ContextOverflow),
        (400, {"error": {"message": "max_tokens: 999 > 128, the maximum"}}, provider.BadRequest),
        (422, {"detail": "value is not a valid list"}, provider.BadRequest),
        (500, "<html>", provider.Overloaded),
        (504, "", provider.TimedOut),
        (200, {"type": "error", "error": {"type": "api_error", "message": "Internal"}}, provider.Overloaded),
        (200, {"error": {"type": "invalid_request_error", "message": "no"}}, provider.BadRequest),
        (302, "", provider.BadAnswer),
    ],
    ids=lambda value: str(value)[:40],
)
def test_further_shapes(status: int, body: object, expected: type[provider.ModelError]) -> None:
    assert classify(failure_of(status, body)) is expected


@pytest.mark.parametrize(
    "message",
    [
        "messages.4: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9.",
        "messages.1: `tool_use` ids must be unique",
        "An assistant message with 'tool_calls' must be followed by answers to each 'tool_call_id'.",
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        "Not the same number of function calls and responses",
        "the number of function response parts is equal to the number of function call parts",
    ],
)
def test_what_is_said_of_calls_and_results_that_do_not_fit_has_a_class_of_its_own(message: str) -> None:
    assert classify(failure_of(400, {"error": {"message": message}})) is provider.BadPairing
    assert classify(failure_of(500, {"error": {"message": message}})) is provider.Overloaded


@pytest.mark.parametrize(
    "message",
    ["tools.0.input_schema: JSON schema is invalid", "max_tokens is too large", "temperature must be 1"],
)
def test_other_refusals_do_not_count_as_such(message: str) -> None:
    assert classify(failure_of(400, {"error": {"message": message}})) is provider.BadRequest


CLAIMS = [
    "we are overloaded, rate limit, too many requests",
    "prompt is too long: context length exceeded",
    "your credit balance is too low, insufficient_quota",
    "invalid api key, model not found",
]


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("quote", ['"{}"', "'{}'", "`{}`", '{{"text": "{}"}}'])
def test_what_a_person_wrote_is_no_error_of_the_vendors(claim: str, quote: str) -> None:
    message = f"messages.0.content.0: Invalid value: {quote.format(claim)}"

    assert classify(failure_of(400, {"error": {"message": message}})) is provider.BadRequest
    assert classify(failure_of(500, {"error": {"message": claim}})) is provider.Overloaded
    assert classify(failure_of(401, {"error": {"message": claim}})) is provider.AuthFailed


@given(st.text(max_size=80), st.sampled_from(CLAIMS), st.text(max_size=80))
def test_no_quoted_text_at_all_decides(before: str, claim: str, after: str) -> None:
    message = f'messages.0.content.0: Invalid value: "{before} {claim} {after}"'

    assert classify(failure_of(400, {"error": {"message": message}})) is provider.BadRequest


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (400, {"code": "content_filter", "message": "no"}, provider.ContentFiltered),
        (400, {"code": "content_policy_violation"}, provider.ContentFiltered),
        (413, {"code": "rate_limit_exceeded", "message": "tokens per minute"}, provider.RateLimited),
        (200, {"code": 429, "message": "slow down"}, provider.RateLimited),
        (200, {"code": 502, "message": "bad gateway"}, provider.Overloaded),
        (503, {"status": "UNAVAILABLE", "message": "try later"}, provider.Overloaded),
        (429, {"status": "RESOURCE_EXHAUSTED", "message": "quota"}, provider.RateLimited),
        (400, {"type": "exceed_context_size_error"}, provider.ContextOverflow),
        (504, {"type": "server_error"}, provider.TimedOut),
    ],
    ids=lambda value: str(value)[:40],
)
def test_types_and_codes_come_first(
    status: int, error: dict[str, object], expected: type[provider.ModelError]
) -> None:
    assert classify(failure_of(status, {"error": error})) is expected


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "7"}, "", 7.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, "", 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, "", None),
        ({"retry-after": "-3"}, "", None),
        ({}, "Please try again in 1.5s.", 1.5),
        ({}, "Please try again in 350ms.", 0.35),
        ({}, "Please try again in 2m3s.", 123.0),
        ({}, "Slow down.", None),
    ],
    ids=["seconds", "milliseconds", "a-date", "negative", "in-words", "in-ms", "in-minutes", "unsaid"],
)
def test_the_wait_a_vendor_asks_for(headers: dict[str, str], message: str, seconds: float | None) -> None:
    assert retry_after(headers, message) == pytest.approx(seconds)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "message", "type", "code", "detail"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.sampled_from([0, 200, 302, 400, 401, 404, 408, 413, 429, 500, 529]), _json)
def test_any_body_at_all_has_a_class(status: int, body: object) -> None:
    assert issubclass(classify(failure_of(status, body)), provider.ModelError)
