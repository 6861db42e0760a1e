"""Which models there are, which of them can be used now, and what is known of each."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from agents.model.catalog_models import KNOWN, Effort, Known, Thinking
from agents.model.prices import Price
from agents.settings import ModelSettings, ModelsSettings, PriceSettings, ProviderSettings

Api: TypeAlias = Literal["anthropic_messages", "openai_chat", "offline"]

OFFLINE = "offline/notes"
PLACEHOLDER_KEY = "none"
"""Sent to servers that want no key: the SDKs refuse to go without one."""

REMOTE_WINDOW = 128_000
LOCAL_WINDOW = 32_000
"""Tokens that a model is taken to read when nobody says; local servers are often set to less."""

_DEFAULTS = {"anthropic": "claude-sonnet-5-5", "openai": "gpt-6.1-terra"}
_ADDRESSES = {
    "openrouter": "https://openrouter.ai/api/v1",
    "mistral": "https://api.mistral.ai/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "groq": "https://api.groq.com/openai/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}
_BUDGET_MODELS = re.compile(r"claude-(3-7|(opus|sonnet|haiku)-4(-[0-5]|-20))")


class NotUsable(ValueError):
    """A model that cannot be used as configured; the text says why and what to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What a request must respect. `price` is None when nobody knows it; `known` tells a model of the catalog
    from one that is only named."""

    provider: str
    model: str
    context_window: int
    max_output: int | None
    vision: bool
    thinking: Thinking
    effort: Effort
    price: Price | None
    known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """One line of `clawd models`. `reason` is empty for a usable model with nothing to say about it. `until`:
    it failed and is not asked before then, if another can be; `reason` tells why."""

    provider: str
    model: str
    usable: bool
    reason: str
    is_default: bool
    is_fallback: bool = False
    until: datetime | None = None

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """All that is needed to make a provider. `base_url` None is the vendor's own. The key is the caller's to
    find (api_key, api_key_file, `variable`); PLACEHOLDER_KEY where `needs_key` is False and none is set."""

    provider: str
    api: Api
    base_url: str | None
    variable: str
    needs_key: bool
    settings: ProviderSettings
    model: str
    facts: ModelFacts


def variable(provider: str) -> str:
    """The environment variable that holds a provider's key."""
    return re.sub(r"[^A-Z0-9]+", "_", provider.upper()) + "_API_KEY"


def resolve(name: str, models: ModelsSettings, environ: Mapping[str, str]) -> Resolved:
    """The provider, model and facts of a `provider/model` name. Raises NotUsable."""
    provider, _, model = name.partition("/")
    settings = models.providers.get(provider, ProviderSettings())
    reason = _why_not(provider, models, environ)
    if not model:
        raise NotUsable(f"{name!r} is no model name. Write provider/model, for example {_example()}.")
    if reason:
        raise NotUsable(f"{name} cannot be used: {reason}")
    return Resolved(
        provider=provider,
        api=api_of(provider, settings),
        base_url=address(provider, settings),
        variable=variable(provider),
        needs_key=_needs_key(provider, settings),
        settings=settings,
        model=model,
        facts=facts(provider, model, models),
    )


def default_name(models: ModelsSettings, environ: Mapping[str, str]) -> str:
    """models.default, else the first provider that can be used and has a model we know of, else offline."""
    if models.default is not None:
        return models.default
    for provider in _providers(models, environ):
        listed = models.providers.get(provider, ProviderSettings()).models
        first = _DEFAULTS.get(provider) or next(iter(listed), None)
        if first is not None and not _why_not(provider, models, environ):
            return f"{provider}/{first}"
    return OFFLINE


def usable(models: ModelsSettings, environ: Mapping[str, str]) -> list[ModelStatus]:
    """Every model that is known or listed, whether it can be used now, and why not."""
    default, chain = default_name(models, environ), models.fallbacks
    rows = [
        ModelStatus(
            provider=provider,
            model=model,
            usable=not reason,
            reason=reason or _note(provider, model, models),
            is_default=f"{provider}/{model}" == default,
            is_fallback=f"{provider}/{model}" in chain,
        )
        for provider in _providers(models, environ)
        for reason in [_why_not(provider, models, environ)]
        for model in _models_of(provider, models)
    ]
    known = {row.name for row in rows} | {OFFLINE}
    unlisted = [name for name in dict.fromkeys((default, *chain)) if name not in known]
    rows[:0] = [_unlisted(name, models, environ, is_default=name == default) for name in unlisted]
    note = "no model at all: takes notes and quotes them"
    offline = ModelStatus(
        provider="offline", model="notes", usable=True, reason=note, is_default=default == OFFLINE
    )
    return [*rows, offline]


def facts(provider: str, model: str, models: ModelsSettings) -> ModelFacts:
    """What is known of a model, with the settings' word over the catalog's. Another vendor's catalog entry
    (openrouter/anthropic/claude-opus-5.5) tells abilities, not prices."""
    settings = models.providers.get(provider, ProviderSettings())
    known, own = _known(provider, model)
    said = settings.models.get(model, ModelSettings())
    vendor = api_of(provider, settings) == "anthropic_messages" or provider == "openai"
    window = REMOTE_WINDOW if _needs_key(provider, settings) else LOCAL_WINDOW
    return ModelFacts(
        provider=provider,
        model=model,
        context_window=said.context_window or (known.context_window if known else window),
        max_output=said.max_output or (known.max_output if known else None),
        vision=known.vision if known else vendor,
        thinking=_thinking(model, known),
        effort=known.effort if known and own else "plain",
        price=_price(said.price) if said.price else known.price if known and own else None,
        known=known is not None,
    )


def api_of(provider: str, settings: ProviderSettings) -> Api:
    if provider == "offline":
        return "offline"
    return settings.api or ("anthropic_messages" if provider == "anthropic" else "openai_chat")


def address(provider: str, settings: ProviderSettings) -> str | None:
    """Where a provider is asked; None: at its SDK's own address."""
    return settings.base_url or _ADDRESSES.get(provider)


def _why_not(provider: str, models: ModelsSettings, environ: Mapping[str, str]) -> str:
    if provider == "offline":
        return ""
    settings = models.providers.get(provider, ProviderSettings())
    if address(provider, settings) is None and provider not in _DEFAULTS:
        return f"nothing is known of {provider}. Set models.providers.{provider}.base_url to its address."
    if not _needs_key(provider, settings) or _has_key(provider, settings, environ):
        return ""
    return f"no key. Set {variable(provider)} or models.providers.{provider}.api_key."


def _has_key(provider: str, settings: ProviderSettings, environ: Mapping[str, str]) -> bool:
    filed = settings.api_key_file is not None or settings.api_keys_file is not None
    return filed or bool(keys_of(provider, settings, environ))


def keys_of(provider: str, settings: ProviderSettings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """A provider's keys, each once: api_key, else the environment's, and then the further ones."""
    first = settings.api_key.get_secret_value() if settings.api_key else environ.get(variable(provider), "")
    further = (key.get_secret_value() for key in settings.api_keys)
    return tuple(dict.fromkeys(key.strip() for key in (first, *further) if key.strip()))


def _needs_key(provider: str, settings: ProviderSettings) -> bool:
    """Servers on this machine or in its network need none."""
    if provider == "offline":
        return False
    host = urlsplit(address(provider, settings) or "https://api.vendor.example").hostname or ""
    if (
        host == "localhost"
        or host.endswith((".local", ".localhost", ".internal", ".lan"))
        or "." not in host + ":"
    ):
        return False
    try:
        return not ip_address(host).is_private
    except ValueError:
        return "." in host


def _providers(models: ModelsSettings, environ: Mapping[str, str]) -> Iterator[str]:
    """Both great vendors always, openrouter when it has a key, the rest in the order of the configuration."""
    yield from _DEFAULTS
    yield from (name for name in models.providers if name not in _DEFAULTS and name != "offline")
    if "openrouter" not in models.providers and environ.get(variable("openrouter"), "").strip():
        yield "openrouter"


def _models_of(provider: str, models: ModelsSettings) -> list[str]:
    listed = models.providers.get(provider, ProviderSettings()).models
    known = KNOWN.get(provider, {})
    return [*known, *(name for name in listed if name not in known)] or ["<model>"]


def _note(provider: str, model: str, models: ModelsSettings) -> str:
    if model == "<model>":
        return f"write {provider}/ and a model's name, or list models in models.providers.{provider}.models"
    if facts(provider, model, models).effort == "never_none":
        return "OpenAI may refuse tools for this model over the chat API"
    return ""


def _unlisted(
    name: str, models: ModelsSettings, environ: Mapping[str, str], *, is_default: bool
) -> ModelStatus:
    provider, _, model = name.partition("/")
    reason = _why_not(provider, models, environ)
    return ModelStatus(
        provider=provider,
        model=model,
        usable=not reason,
        reason=reason,
        is_default=is_default,
        is_fallback=name in models.fallbacks,
    )


def _known(provider: str, model: str) -> tuple[Known | None, bool]:
    """The entry and whether it is this provider's own; ids are compared as vendors spell them elsewhere."""
    if model in KNOWN.get(provider, {}):
        return KNOWN[provider][model], True
    plain = _plain(model)
    for entries in KNOWN.values():
        for name, entry in entries.items():
            if _plain(name) == plain:
                return entry, False
    return None, False


def _plain(model: str) -> str:
    return model.rpartition("/")[2].replace(".", "-").lower()


def _thinking(model: str, known: Known | None) -> Thinking:
    if known is not None:
        return known.thinking
    return "budget" if _BUDGET_MODELS.search(_plain(model)) else "unknown"


def _price(said: PriceSettings) -> Price:
    return Price(
        input=said.input, output=said.output, cache_read=said.cache_read, cache_write=said.cache_write
    )


def _example() -> str:
    return f"anthropic/{_DEFAULTS['anthropic']}"
