"""The model providers of a running gateway: made when first used, shared by all agents."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
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
    keys_of,
    resolve,
    usable,
)
from agents.model.cooling import Cooling, Rest
from agents.model.failover import Failover, Link
from agents.model.keys import Keys
from agents.model.offline import Offline
from agents.model.prices import Price
from agents.model.provider import AuthFailed, ModelError, ModelProvider
from agents.model.spelling import spelling_of
from agents.scene import ChosenModel
from agents.settings import ModelsSettings, ProviderSettings
from gateway.budget import Budgeted
from sessions.settings import ModelName

logger = logging.getLogger("clawd.models")


class Models:
    """`environ` is where keys are looked up that the settings do not hold; `check` raises ModelError when
    no vendor may be asked now. Which models and keys rest after a failure is known here, and shared."""

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
        self._cooling = Cooling()
        self._made: dict[tuple[str, int, int], ModelProvider] = {}
        self._versions: dict[str, int] = {}
        self._chosen: dict[tuple[ModelName | None, tuple[ModelName, ...] | None], ChosenModel] = {}
        self._making = asyncio.Lock()
        self._told: set[str] = set()

    def change(self, settings: ModelsSettings) -> Callable[[], Awaitable[None]]:
        """Other settings hold from the next turn on. A model that was chosen before goes on with the address
        and the keys that it was chosen with. What is given back closes those that it leaves behind: to be
        called when no turn of before is left."""
        before, self._settings = self._settings, settings
        self._chosen = {}
        for name in {*before.providers, *settings.providers}:
            if _reached(name, before) != _reached(name, settings):
                self._versions[name] = self._version(name) + 1
                self._cooling.forget(name)
        return partial(self._retire, dict(self._versions))

    async def _retire(self, now: Mapping[str, int]) -> None:
        """Close what is older than the versions of a certain time; later ones may be in use."""
        for place in [place for place in self._made if place[1] < now.get(place[0], 0)]:
            if (made := self._made.pop(place, None)) is not None:
                await made.aclose()

    def status(self) -> list[ModelStatus]:
        """Every known or listed model, whether it can be used now or rests, until when, and why."""
        return [self._with_rest(row) for row in usable(self._settings, self._environ)]

    async def choose(self, name: ModelName | None) -> ChosenModel:
        """Exactly the model of that name, or the default one. Raises ModelError when it cannot be used."""
        return await self.chain(name, ())

    async def chain(self, name: ModelName | None, fallbacks: Sequence[ModelName] | None) -> ChosenModel:
        """The model of that name, or the default one, and those that are asked while it fails or rests (None:
        models.fallbacks). One that cannot be used is left out, and told in the log once; raises ModelError
        when all are."""
        place, known = (name, None if fallbacks is None else tuple(fallbacks)), self._chosen
        chosen = known.get(place) or self._chain(*place)
        await chosen.links[0].open(0)
        return known.setdefault(place, chosen)

    def _chain(self, name: ModelName | None, fallbacks: tuple[ModelName, ...] | None) -> ChosenModel:
        first = name or default_name(self._settings, self._environ)
        wanted = dict.fromkeys((first, *(self._settings.fallbacks if fallbacks is None else fallbacks)))
        links, refused = self._links(list(wanted))
        if not links:
            raise AuthFailed(str(refused[0])) from refused[0]
        if first.startswith("offline/"):
            links = links[:1]  # it always answers
        return ChosenModel(
            provider=Failover(links, cooling=self._cooling, clock=self._clock),
            provider_name=links[0].provider,
            model=links[0].model,
            max_output=links[0].max_output,
            window=links[0].window,
            max_retries=self._settings.max_retries,
            spelling=links[0].spelling,
            links=tuple(links),
            instead_of="" if links[0].name == first else first,
        )

    def window(self, provider: str, model: str) -> int:
        """How many tokens the model reads at the most."""
        return facts(provider, model, self._settings).context_window

    def price(self, provider: str, model: str) -> Price | None:
        """What the model's tokens cost; None when nobody knows."""
        return facts(provider, model, self._settings).price

    async def warm_up(self, names: Sequence[ModelName | None]) -> None:
        """Import what these models need, so that no message has to wait for it."""
        for name in names:
            try:
                await self.choose(name)
            except ModelError:
                continue  # told when it is asked for

    async def aclose(self) -> None:
        while self._made:
            await self._made.popitem()[1].aclose()

    def _links(self, names: Sequence[ModelName]) -> tuple[list[Link], list[NotUsable]]:
        links: list[Link] = []
        refused: list[NotUsable] = []
        for name in names:
            try:
                links.append(self._link(resolve(name, self._settings, self._environ)))
            except NotUsable as error:
                refused.append(error)
        told = {str(fault) for fault in refused} if links else set()
        for text in sorted(told - self._told):
            logger.warning("%s Other models are asked instead.", text)
        self._told |= told
        return links, refused

    def _link(self, resolved: Resolved) -> Link:
        settings, version = self._settings, self._version(resolved.provider)
        secrets = self._secrets(resolved.provider)

        async def opened(number: int) -> ModelProvider:
            made = self._made.get((resolved.provider, version, number))
            return made or await self._provider(resolved, version, number, secrets, settings)

        return Link(
            provider=resolved.provider,
            model=resolved.model,
            window=resolved.facts.context_window,
            max_output=resolved.facts.max_output,
            spelling=spelling_of(resolved),
            keys=self._keys(resolved.provider),
            open=opened,
        )

    def _keys(self, provider: str) -> Keys:
        return Keys(provider=provider, count=len(self._secrets(provider)), cooling=self._cooling)

    def _secrets(self, provider: str) -> tuple[str, ...]:
        settings = self._settings.providers.get(provider, ProviderSettings())
        return keys_of(provider, settings, self._environ) or (PLACEHOLDER_KEY,)

    async def _provider(
        self, resolved: Resolved, version: int, number: int, secrets: Sequence[str], settings: ModelsSettings
    ) -> ModelProvider:
        place = (resolved.provider, version, number)
        async with self._making:
            if place not in self._made:
                made = await asyncio.to_thread(
                    self._make, resolved, secrets[number], settings.timeout_seconds
                )
                free = resolved.api == "offline"
                self._made[place] = made if free else Budgeted(made, self._check)
            return self._made[place]

    def _version(self, provider: str) -> int:
        return self._versions.get(provider, 0)

    def _make(self, resolved: Resolved, key: str, timeout: float) -> ModelProvider:
        """Imports the vendor's SDK, which takes up to some seconds: run it in a thread."""
        if resolved.api == "offline":
            return Offline(self._clock)
        facts_of = partial(self._facts, resolved.provider)
        if resolved.api == "anthropic_messages":
            from agents.model.anthropic_messages import AnthropicMessages  # noqa: PLC0415 (only when it is used)

            return AnthropicMessages(
                name=resolved.provider,
                api_key=key,
                base_url=resolved.base_url,
                timeout=timeout,
                clock=self._clock,
                facts_of=facts_of,
            )
        from agents.model.openai_chat import OpenAIChat  # noqa: PLC0415 (only when it is used)

        return OpenAIChat(
            name=resolved.provider,
            api_key=key,
            base_url=resolved.base_url,
            timeout=timeout,
            clock=self._clock,
            facts_of=facts_of,
        )

    def _facts(self, provider: str, model: str) -> ModelFacts:
        """As the settings tell them now: prices may have changed."""
        return facts(provider, model, self._settings)

    def _with_rest(self, row: ModelStatus) -> ModelStatus:
        now, keys = self._clock(), self._keys(row.provider)
        told = keys.told(row.model, now)
        own = self._cooling.resting(row.name, now)
        whole: Rest | None = max(
            (rest for rest in (own, keys.resting(row.model, now)) if rest),
            key=lambda rest: rest.until,
            default=None,
        )
        if whole is not None:
            return replace(row, until=whole.until, reason=_joined(f"rests: {whole.why}", row.reason))
        if told:
            partly = ", ".join(f"key {number + 1} ({rest.why})" for number, rest in told)
            return replace(row, reason=_joined(f"rests: {partly}", row.reason))
        return row


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _reached(name: str, settings: ModelsSettings) -> object:
    """All of a provider's settings that a connection to it is made of."""
    provider = settings.providers.get(name, ProviderSettings())
    return provider.model_copy(update={"models": {}}), settings.timeout_seconds
