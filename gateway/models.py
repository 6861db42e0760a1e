"""The model providers of a running gateway: made when first used, shared by all agents."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

from agents.clock import Clock
from agents.model.catalog import (
    PLACEHOLDER_KEY,
    ModelFacts,
    ModelStatus,
    NotUsable,
    Resolved,
    default_name,
    facts,
    resolve,
    usable,
)
from agents.model.offline import Offline
from agents.model.provider import AuthFailed, ModelError, ModelProvider
from agents.model.spelling import spelling_of
from agents.scene import ChosenModel
from agents.settings import ModelsSettings
from gateway.budget import Budgeted
from sessions.settings import ModelName


class Models:
    """`environ` is where keys are looked up that the settings do not hold; `check` raises ModelError when
    no vendor may be asked now."""

    def __init__(
        self,
        settings: ModelsSettings,
        *,
        environ: Mapping[str, str],
        clock: Clock,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._clock = clock
        self._check = check
        self._made: dict[str, ModelProvider] = {}
        self._making = asyncio.Lock()

    def status(self) -> list[ModelStatus]:
        """Every known or listed model, whether it can be used now, and why not."""
        return usable(self._settings, self._environ)

    async def choose(self, name: ModelName | None) -> ChosenModel:
        """The model of that name, or the default one. Raises ModelError when it cannot be used."""
        try:
            resolved = resolve(
                name or default_name(self._settings, self._environ), self._settings, self._environ
            )
        except NotUsable as error:
            raise AuthFailed(str(error)) from error
        return ChosenModel(
            provider=await self._provider(resolved),
            provider_name=resolved.provider,
            model=resolved.model,
            max_output=resolved.facts.max_output,
            window=resolved.facts.context_window,
            max_retries=self._settings.max_retries,
            spelling=spelling_of(resolved),
        )

    def window(self, provider: str, model: str) -> int:
        """How many tokens the model reads at the most."""
        return facts(provider, model, self._settings).context_window

    async def warm_up(self, names: list[ModelName | None]) -> None:
        """Import what these models need, so that no message has to wait for it."""
        for name in names:
            try:
                await self.choose(name)
            except ModelError:
                continue  # told when it is asked for

    async def aclose(self) -> None:
        while self._made:
            await self._made.popitem()[1].aclose()

    async def _provider(self, resolved: Resolved) -> ModelProvider:
        made = self._made.get(resolved.provider)
        if made is not None:
            return made
        async with self._making:
            if resolved.provider not in self._made:
                make = partial(_make, resolved, self._settings, self._key(resolved), self._clock)
                made = await asyncio.to_thread(make)
                free = resolved.api == "offline"
                self._made[resolved.provider] = made if free else Budgeted(made, self._check)
            return self._made[resolved.provider]

    def _key(self, resolved: Resolved) -> str:
        own = resolved.settings.api_key
        found = own.get_secret_value() if own else self._environ.get(resolved.variable, "")
        return found.strip() or PLACEHOLDER_KEY


def _make(resolved: Resolved, settings: ModelsSettings, key: str, clock: Clock) -> ModelProvider:
    """Imports the vendor's SDK, which takes up to some seconds: run it in a thread."""
    if resolved.api == "offline":
        return Offline(clock)
    facts_of = partial(_facts, resolved.provider, settings)
    if resolved.api == "anthropic_messages":
        from agents.model.anthropic_messages import AnthropicMessages  # noqa: PLC0415 (only when it is used)

        return AnthropicMessages(
            name=resolved.provider,
            api_key=key,
            base_url=resolved.base_url,
            timeout=settings.timeout_seconds,
            clock=clock,
            facts_of=facts_of,
        )
    from agents.model.openai_chat import OpenAIChat  # noqa: PLC0415 (only when it is used)

    return OpenAIChat(
        name=resolved.provider,
        api_key=key,
        base_url=resolved.base_url,
        timeout=settings.timeout_seconds,
        clock=clock,
        facts_of=facts_of,
    )


def _facts(provider: str, settings: ModelsSettings, model: str) -> ModelFacts:
    return facts(provider, model, settings)
