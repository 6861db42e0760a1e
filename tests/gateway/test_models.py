"""The pool of model providers: made once, when first used, with the right key."""

from collections.abc import Mapping

import pytest

from agents.model.provider import AuthFailed
from agents.settings import ModelsSettings
from gateway.models import Models
from tests.fakes.protocols import FakeClock


def pool(settings: dict[str, object] | None = None, environ: Mapping[str, str] | None = None) -> Models:
    return Models(ModelsSettings.model_validate(settings or {}), environ=environ or {}, clock=FakeClock())


async def test_without_anything_there_is_the_offline_assistant() -> None:
    models = pool()

    chosen = await models.choose(None)

    assert chosen.name == "offline/notes"
    assert [status.name for status in models.status() if status.is_default] == ["offline/notes"]
    await models.aclose()


@pytest.mark.parametrize(
    ("variable", "name"),
    [("ANTHROPIC_API_KEY", "anthropic/claude-sonnet-5-5"), ("OPENAI_API_KEY", "openai/gpt-6.1-terra")],
)
async def test_a_key_in_the_environment_is_enough(variable: str, name: str) -> None:
    models = pool(environ={variable: "key-0123456789"})

    chosen = await models.choose(None)

    assert chosen.name == name
    assert (await models.choose(None)).provider is chosen.provider
    await models.aclose()


async def test_an_agents_own_model_comes_before_the_default() -> None:
    models = pool({"default": "offline/notes"}, {"OPENAI_API_KEY": "key-0123456789"})

    assert (await models.choose("openai/gpt-6-luna")).name == "openai/gpt-6-luna"
    await models.aclose()


async def test_a_model_without_its_key_is_refused_with_the_variable_to_set() -> None:
    models = pool({"default": "anthropic/claude-sonnet-5-5"})

    with pytest.raises(AuthFailed, match="ANTHROPIC_API_KEY"):
        await models.choose(None)


async def test_a_server_in_the_house_needs_no_key() -> None:
    models = pool({"default": "ollama/qwen3:8b"})

    assert (await models.choose(None)).name == "ollama/qwen3:8b"
    await models.aclose()


async def test_warming_up_leaves_out_what_cannot_be_used() -> None:
    models = pool(environ={"OPENAI_API_KEY": "key-0123456789"})

    await models.warm_up([None, "anthropic/claude-sonnet-5-5"])

    assert (await models.choose(None)).provider_name == "openai"
    await models.aclose()
