"""The sentences about errors: who, what, and what to do; never a key."""

import pytest

from agents.model import provider
from agents.model.errors import Failure
from agents.model.explain import Asked, bad_answer, not_an_answer, redact, refusal, unreachable
from agents.model.wire import CutOff, Declined, WireError

ASKED = Asked(
    provider="anthropic", model="claude-x", base_url=None, variable="ANTHROPIC_API_KEY", secret="hunter2000"
)
LOCAL = Asked(
    provider="ollama", model="llama9", base_url="http://me:pa55word@box:11434/v1", variable="OLLAMA_API_KEY"
)


@pytest.mark.parametrize(
    ("status", "kind", "hint"),
    [
        (401, provider.AuthFailed, "ANTHROPIC_API_KEY or models.providers.anthropic.api_key"),
        (402, provider.QuotaExhausted, "Add credit"),
        (404, provider.ModelNotFound, "clawd models"),
        (400, provider.BadRequest, "it gave no reason"),
        (413, provider.ContextOverflow, "new session"),
        (429, provider.RateLimited, "try again"),
        (503, provider.Overloaded, "(status 503)"),
        (408, provider.TimedOut, "try again"),
        (302, provider.BadAnswer, "try again"),
    ],
    ids=lambda value: str(getattr(value, "__name__", value))[:20],
)
def test_each_error_says_who_and_what_to_do(status: int, kind: type[provider.ModelError], hint: str) -> None:
    error = refusal(Failure(status=status), ASKED, {})

    assert type(error) is kind
    assert "anthropic" in str(error)
    assert hint in str(error)


def test_the_wait_is_in_the_error_and_in_its_sentence() -> None:
    error = refusal(Failure(status=429), ASKED, {"retry-after": "20"})

    assert isinstance(error, provider.RateLimited)
    assert error.retry_after == 20
    assert "20 s" in str(error)


def test_tools_that_need_another_api_are_explained() -> None:
    said = "Function tools with reasoning_effort are not supported for gpt-6.2-sol in /v1/chat/completions."

    assert "Choose another model" in str(refusal(Failure(status=400, message=said), ASKED, {}))


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abc123def456.",
        "Incorrect API key provided: abcd****wxyz.",
        "header Bearer hunter2000 refused",
        "the key hunter2000 is wrong",
        "http://me:hunter2000@host/v1 refused",
    ],
    ids=["openai", "masked", "bearer", "our-own", "address"],
)
def test_no_key_is_shown(text: str) -> None:
    shown = redact(text, "hunter2000")

    assert not any(secret in shown for secret in ("hunter2000", "abc123def456", "abcd", "wxyz"))


def test_long_words_of_a_vendor_are_cut_to_one_line() -> None:
    assert len(redact("many\nlines " * 100)) == 300
    assert "\n" not in redact("two\nlines")


def test_an_address_is_named_without_its_password() -> None:
    text = str(unreachable(LOCAL, "connection refused"))

    assert "box:11434" in text
    assert "pa55word" not in text
    assert "models.providers.ollama.base_url" in text


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (CutOff("the answer stopped in the middle"), provider.Unreachable),
        (Declined("no"), provider.ContentFiltered),
        (WireError("no event"), provider.BadAnswer),
    ],
    ids=["cut", "declined", "nonsense"],
)
def test_what_is_no_answer_has_a_class(error: ValueError, kind: type[provider.ModelError]) -> None:
    assert type(not_an_answer(error, ASKED)) is kind


def test_a_bad_answer_of_the_vendor_itself_does_not_blame_an_address() -> None:
    assert "base_url" not in str(bad_answer(ASKED, "half a line"))
