"""The embedding models of a running gateway: made from the settings, shared by agents that want the same."""

from collections.abc import Callable, Mapping

from agents.settings import ProviderSettings
from gateway.embedding import Plan, fallback_plan, is_local, plan
from memory.embed.calibrated import Calibrated
from memory.embed.embedder import Embedder
from memory.embed.fallback import WithFallback
from memory.embed.local import LocalEmbedder
from memory.embed.providers import LOCAL, WORDS_ONLY
from memory.settings import BatchApiSettings, SearchSettings


class Embedders:
    """Makes each embedder once. `environ` is where keys are looked up that the settings do not hold.

    Nothing is asked and nobody imported before an embedder is used; without its key it raises then.
    """

    def __init__(self, providers: Mapping[str, ProviderSettings], *, environ: Mapping[str, str]) -> None:
        self._providers = providers
        self._environ = environ
        self._local: LocalEmbedder | None = None
        self._made: list[tuple[object, Embedder]] = []

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
        """Close all. May be called again."""
        while self._made:
            await self._made.pop()[1].aclose()
        if self._local is not None:
            await self._local.aclose()

    def _primary(self, search: SearchSettings) -> Embedder:
        if not is_local(search.provider):
            return self._remote(plan(search, self._providers, self._environ), search)
        local = self._local_one(search)
        if search.floor is None and search.ceiling is None:
            return local
        return Calibrated(local, floor=search.floor, ceiling=search.ceiling)

    def _local_one(self, search: SearchSettings) -> LocalEmbedder:
        """One worker process for all agents; the first of them says how long it idles."""
        if self._local is None:
            self._local = LocalEmbedder(idle_seconds=search.idle_seconds)
        return self._local

    def _remote(self, chosen: Plan, search: SearchSettings) -> Embedder:
        bulk = search.batch_api
        key = (chosen, bulk, search.query_cache_seconds)
        return self._once(key, lambda: _made(chosen, bulk, search.query_cache_seconds))

    def _once(self, key: object, make: Callable[[], Embedder]) -> Embedder:
        for known, embedder in self._made:
            if known == key:
                return embedder
        embedder = make()
        self._made.append((key, embedder))
        return embedder


def _made(chosen: Plan, bulk: BatchApiSettings, cache_seconds: float) -> Embedder:
    from gateway.remote_embedders import remote_embedder  # noqa: PLC0415 (an HTTP client, only when used)

    return remote_embedder(chosen, bulk, query_cache_seconds=cache_seconds)
