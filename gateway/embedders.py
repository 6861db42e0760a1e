"""The embedding models of a running gateway: made from the settings, shared by agents that want the same."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from agents.settings import ProviderSettings
from gateway.embedding import Plan, fallback_plan, is_local, plan
from memory.embed.calibrated import Calibrated
from memory.embed.embedder import Embedder
from memory.embed.fallback import WithFallback
from memory.embed.local import LocalEmbedder
from memory.embed.providers import LOCAL, WORDS_ONLY
from memory.settings import BatchApiSettings, SearchSettings

Made: TypeAlias = list[tuple[object, Embedder]]
"""Embedders with what they were made of, in the order in which they were made."""


class Embedders:
    """Makes each embedder once. `environ` is where keys are looked up that the settings do not hold.

    Nothing is asked and nobody imported before an embedder is used; without its key it raises then.
    """

    def __init__(
        self,
        providers: Mapping[str, ProviderSettings],
        *,
        environ: Mapping[str, str],
        before: Made | None = None,
    ) -> None:
        self._providers = providers
        self._environ = environ
        self._local: Embedder | None = None
        self._made: Made = []
        self._before = before

    def successor(self, providers: Mapping[str, ProviderSettings]) -> "Embedders":
        """For other settings: it goes on with the embedders of these that are still wanted, and makes the
        rest. Whoever takes it calls `settle` then; whoever does not, `give_up`."""
        return Embedders(providers, environ=self._environ, before=self._made)

    async def settle(self) -> None:
        """Close those of the predecessor that are not wanted here; call it when nobody uses them."""
        before, self._before = self._before, None
        await _closed(before or [], but=self._made)

    async def give_up(self) -> None:
        """Close what was made here: the predecessor goes on."""
        before, self._before = self._before, None
        await _closed(self._made, but=before or [])

    def of(self, search: SearchSettings) -> Embedder | None:
        """The embedder for these settings; None for words alone. Raises NotChosen."""
        if search.provider == WORDS_ONLY:
            return None
        primary = self._primary(search)
        if search.fallback is None or is_local(search.provider):
            return primary
        second = (
            self._local_one(search)
            if search.fallback == LOCAL
            else self._remote(fallback_plan(search, self._providers, self._environ), search)
        )
        return self._once((primary, second), lambda: WithFallback(primary, second))

    async def aclose(self) -> None:
        """Close all, also what is left of the predecessor. May be called again."""
        await self.settle()
        await _closed(self._made)

    def _primary(self, search: SearchSettings) -> Embedder:
        if not is_local(search.provider):
            return self._remote(plan(search, self._providers, self._environ), search)
        local = self._local_one(search)
        if search.floor is None and search.ceiling is None:
            return local
        key = (local, search.floor, search.ceiling)
        return self._once(key, lambda: Calibrated(local, floor=search.floor, ceiling=search.ceiling))

    def _local_one(self, search: SearchSettings) -> Embedder:
        """One worker process for all agents; the first of them says how long it idles."""
        if self._local is None:
            idle = search.idle_seconds
            self._local = self._once((LOCAL, idle), lambda: LocalEmbedder(idle_seconds=idle))
        return self._local

    def _remote(self, chosen: Plan, search: SearchSettings) -> Embedder:
        bulk = search.batch_api
        key = (chosen, bulk, search.query_cache_seconds)
        return self._once(key, lambda: _made(chosen, bulk, search.query_cache_seconds))

    def _once(self, key: object, make: Callable[[], Embedder]) -> Embedder:
        for known, embedder in self._made:
            if known == key:
                return embedder
        embedder = next((one for known, one in self._before or [] if known == key), None) or make()
        self._made.append((key, embedder))
        return embedder


async def _closed(made: Made, *, but: Made | None = None) -> None:
    """What was made last is closed first: it may be made of the others."""
    for _, embedder in reversed(made):
        if not any(embedder is kept for _, kept in but or []):
            await embedder.aclose()


def _made(chosen: Plan, bulk: BatchApiSettings, cache_seconds: float) -> Embedder:
    from gateway.remote_embedders import remote_embedder  # noqa: PLC0415 (an HTTP client, only when used)

    return remote_embedder(chosen, bulk, query_cache_seconds=cache_seconds)
