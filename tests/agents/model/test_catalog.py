"""Which models there are, which can be used now, and what is known of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model.catalog import (
    LOCAL_WINDOW,
    OFFLINE,
    REMOTE_WINDOW,
    ModelStatus,
    NotUsable,
    default_name,
    facts,
    keys_of,
    resolve,
    usable,
    variable,
)
from agents.model.catalog_models import KNOWN
from agents.settings import ModelsSettings, ProviderSettings

NONE = ModelsSettings()
CLAUDE_KEY = {"ANTHROPIC_API_KEY": "k"}
OPENAI_KEY = {"OPENAI_API_KEY": "k"}


def settings(**providers: object) -> ModelsSettings:
    return ModelsSettings.model_validate({"providers": providers})


def row(models: ModelsSettings, environ: dict[str, str], name: str) -> ModelStatus:
    return next(status for status in usable(models, environ) if status.name == name)


@pytest.mark.parametrize(
    ("models", "environ", "expected"),
    [
        (NONE, {}, OFFLINE),
        (NONE, CLAUDE_KEY, "anthropic/claude-sonnet-5-5"),
        (NONE, OPENAI_KEY, "openai/gpt-6.1-terra"),
        (NONE, CLAUDE_KEY | OPENAI_KEY, "anthropic/claude-sonnet-5-5"),
        (NONE, {"ANTHROPIC_API_KEY": "  "}, OFFLINE),
        (NONE, {"OPENROUTER_API_KEY": "k"}, OFFLINE),
        (settings(openai={"api_key": "k"}), {}, "openai/gpt-6.1-terra"),
        (settings(openai={"api_key_file": "/keys/openai"}), {}, "openai/gpt-6.1-terra"),
        (settings(ollama={"models": {"llama9": {}}}), {}, "ollama/llama9"),
        (settings(ollama={}), {}, OFFLINE),
        (settings(b={"base_url": "https://b.example/v1", "models": {"m": {}}}), {"B_API_KEY": "k"}, "b/m"),
        (settings(b={"base_url": "https://b.example/v1", "models": {"m": {}}}), {}, OFFLINE),
        (ModelsSettings(default="openai/gpt-6-luna"), CLAUDE_KEY, "openai/gpt-6-luna"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_default_is_the_first_that_can_be_used(
    models: ModelsSettings, environ: dict[str, str], expected: str
) -> None:
    assert default_name(models, environ) == expected
    assert [status.name for status in usable(models, environ) if status.is_default] == [expected]


def test_a_missing_key_names_the_variable_and_the_setting() -> None:
    status = row(NONE, {}, "anthropic/claude-opus-5-5")

    assert not status.usable
    assert "ANTHROPIC_API_KEY" in status.reason
    assert "models.providers.anthropic.api_key" in status.reason


def test_a_key_makes_every_model_of_its_provider_usable() -> None:
    rows = [status for status in usable(NONE, CLAUDE_KEY) if status.provider == "anthropic"]

    assert {status.model for status in rows} == set(KNOWN["anthropic"])
    assert all(status.usable for status in rows)


def test_offline_is_always_usable_and_last() -> None:
    assert usable(NONE, {})[-1].name == OFFLINE
    assert usable(NONE, {})[-1].usable


def test_a_provider_without_listed_models_says_how_to_name_one() -> None:
    status = row(settings(ollama={}), {}, "ollama/<model>")

    assert status.usable
    assert "ollama/" in status.reason


def test_a_default_that_is_not_listed_is_shown_first_with_its_reason() -> None:
    status = usable(ModelsSettings(default="nowhere/m"), {})[0]

    assert (status.name, status.is_default, status.usable) == ("nowhere/m", True, False)
    assert "models.providers.nowhere.base_url" in status.reason


@pytest.mark.parametrize(
    ("address", "needs"),
    [
        ("http://127.0.0.1:11434/v1", False),
        ("http://[::1]:8000/v1", False),
        ("http://localhost:8000/v1", False),
        ("http://192.168.1.20:1234/v1", False),
        ("http://gpu-box:8000/v1", False),
        ("http://gpu.local/v1", False),
        ("https://api.example.com/v1", True),
        ("https://8.8.8.8/v1", True),
    ],
)
def test_servers_near_by_need_no_key(address: str, needs: bool) -> None:
    models = settings(mine={"base_url": address, "models": {"m": {}}})

    assert row(models, {}, "mine/m").usable is not needs


def test_a_name_is_resolved_to_all_that_a_provider_needs() -> None:
    models = settings(ollama={"base_url": "http://127.0.0.1:9/v1"})

    found = resolve("ollama/library/llama9:8b", models, {})

    assert (found.provider, found.model, found.api) == ("ollama", "library/llama9:8b", "openai_chat")
    assert (found.base_url, found.needs_key) == ("http://127.0.0.1:9/v1", False)
    assert resolve("anthropic/claude-opus-5-5", NONE, CLAUDE_KEY).api == "anthropic_messages"
    assert (
        resolve("openrouter/x/y", NONE, {"OPENROUTER_API_KEY": "k"}).base_url
        == "https://openrouter.ai/api/v1"
    )
    assert resolve(OFFLINE, NONE, {}).api == "offline"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("claude", "provider/model"), ("anthropic/claude", "ANTHROPIC_API_KEY"), ("nowhere/m", "base_url")],
)
def test_a_name_that_cannot_be_used_says_why(name: str, hint: str) -> None:
    with pytest.raises(NotUsable, match=hint):
        resolve(name, NONE, {})


def test_the_settings_word_is_above_the_catalog_s() -> None:
    price = {"input": 1, "output": 2, "cache_read": 0, "cache_write": 0}
    models = settings(
        anthropic={
            "models": {"claude-opus-5-5": {"context_window": 9_000, "max_output": 500, "price": price}}
        }
    )

    found = facts("anthropic", "claude-opus-5-5", models)

    assert (found.context_window, found.max_output) == (9_000, 500)
    assert found.price is not None
    assert found.price.output == 2
    assert found.thinking == "always"


@pytest.mark.parametrize(
    ("provider", "model", "window", "vision", "known"),
    [
        ("anthropic", "claude-next", REMOTE_WINDOW, True, False),
        ("openai", "gpt-next", REMOTE_WINDOW, True, False),
        ("openrouter", "x/unheard", REMOTE_WINDOW, False, False),
        ("openrouter", "anthropic/claude-opus-5.5", 1_000_000, True, True),
        ("ollama", "llama9", LOCAL_WINDOW, False, False),
    ],
)
def test_what_is_not_known_is_guessed_with_care_and_costs_nobody_knows_what(
    provider: str,
    model: str,
    window: int,
    vision: bool,
    known: bool,
) -> None:
    found = facts(provider, model, NONE)

    assert (found.context_window, found.vision, found.known) == (window, vision, known)
    assert found.price is None
    assert found.effort == "plain"


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("claude-haiku-4-5", "budget"),
        ("claude-sonnet-4-20250514", "budget"),
        ("claude-opus-4-5-20251101", "budget"),
        ("claude-3-7-sonnet-latest", "budget"),
        ("claude-opus-4-6", "unknown"),
        ("claude-opus-4-8", "unknown"),
        ("claude-sonnet-6", "unknown"),
    ],
)
def test_models_of_2025_think_by_budget(model: str, kind: str) -> None:
    assert facts("anthropic", model, NONE).thinking == kind


@given(st.text(min_size=1, max_size=20))
def test_every_provider_has_a_variable_that_a_shell_can_set(provider: str) -> None:
    assert variable(provider).endswith("_API_KEY")
    assert all(
        character.isascii() and (character.isalnum() or character == "_") for character in variable(provider)
    )


def test_the_keys_of_a_provider_are_told_once_each_in_order() -> None:
    both = ProviderSettings.model_validate({"api_key": "k-1", "api_keys": ["k-2", " k-1 ", "k-3"]})
    further = ProviderSettings.model_validate({"api_keys": ["k-2"]})

    assert keys_of("anthropic", both, {"ANTHROPIC_API_KEY": "of the environment"}) == ("k-1", "k-2", "k-3")
    assert keys_of("anthropic", further, CLAUDE_KEY) == ("k", "k-2")
    assert keys_of("anthropic", ProviderSettings(), {}) == ()


def test_a_further_key_alone_is_a_key() -> None:
    models = settings(anthropic={"api_keys": ["k"]})

    assert row(models, {}, "anthropic/claude-sonnet-5-5").usable


def test_fallbacks_are_marked_and_shown_even_when_they_are_not_listed() -> None:
    models = ModelsSettings.model_validate({"fallbacks": ["openai/gpt-6-luna", "openai/gpt-next"]})

    found = [status.name for status in usable(models, OPENAI_KEY) if status.is_fallback]

    assert found == ["openai/gpt-next", "openai/gpt-6-luna"]
