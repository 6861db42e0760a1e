"""Which embedding provider an agent's memory is to use, with all that is needed to ask it."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import SecretStr

from agents.model.catalog import variable
from agents.settings import ProviderSettings
from memory.embed.embedder import Kind
from memory.embed.media import sees_media
from memory.embed.providers import (
    AUTOMATIC,
    LOCAL,
    PROVIDERS,
    WORDS_ONLY,
    Provider,
    WireName,
    is_near,
    model_facts,
    query_prefix,
)
from memory.settings import SearchSettings

_DEFAULT_MODELS: Mapping[WireName, str | None] = {
    "openai": None,
    "gemini": PROVIDERS["gemini"].model,
    "ollama": PROVIDERS["ollama"].model,
    "voyage": PROVIDERS["voyage"].model,
}
_INPUT_TYPES: Mapping[Kind, str] = {"query": "query", "document": "document"}


class NotChosen(ValueError):
    """Settings that name no provider that can be asked; the text completes "memory.search.…"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A provider as it will be asked. `dims` is what it is asked for (None: its own), `known_dims` what its
    vectors will have (0: nobody knows). Times are in seconds. `prefixes` stand before a text, `types` go
    with it.
    """

    name: str
    wire: WireName
    model: str
    address: str | None
    near: bool
    key: SecretStr | None
    needs_key: bool
    variables: tuple[str, ...]
    section: str
    start: str
    headers: tuple[tuple[str, SecretStr], ...]
    dims: int | None
    dims_key: str
    known_dims: int
    floor: float
    ceiling: float
    types: tuple[tuple[Kind, str], ...]
    prefixes: tuple[tuple[Kind, str], ...]
    max_texts: int
    max_chars: int
    concurrency: int
    query_seconds: float
    batch_seconds: float

    @property
    def version(self) -> str:
        """What else a document's vector depends on: how it is introduced and, for servers of any kind that
        share a name, which one it is."""
        parts = ["1"]
        document = dict(self.types).get("document")
        if document and document != _INPUT_TYPES["document"]:
            parts.append(f"document={document}")
        if self.name == "openai-compatible":
            parts.append(hashlib.sha256((self.address or "").encode()).hexdigest()[:8])
        return " ".join(parts)

    @property
    def secrets(self) -> tuple[str, ...]:
        given = (*([self.key] if self.key else []), *(value for _, value in self.headers))
        return tuple(one.get_secret_value() for one in given)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Own:
    """What the memory section says of one provider; nothing, for a fallback."""

    model: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    headers: Mapping[str, SecretStr] = field(default_factory=dict)
    dims: int | None = None
    query_type: str | None = None
    document_type: str | None = None
    floor: float | None = None
    ceiling: float | None = None


def is_local(name: str | None) -> bool:
    return name in AUTOMATIC


def plan(
    search: SearchSettings, providers: Mapping[str, ProviderSettings], environ: Mapping[str, str]
) -> Plan:
    """The plan for `search.provider`, which must be neither local nor none. Raises NotChosen."""
    own = _Own(
        model=search.model,
        base_url=search.base_url,
        api_key=search.api_key,
        headers=search.headers,
        dims=search.dimensions,
        query_type=search.query_input_type,
        document_type=search.document_input_type,
        floor=search.floor,
        ceiling=search.ceiling,
    )
    return _plan(str(search.provider), "provider", own, search, providers, environ)


def fallback_plan(
    search: SearchSettings, providers: Mapping[str, ProviderSettings], environ: Mapping[str, str]
) -> Plan:
    """The plan for `search.fallback`, likewise: with its defaults and what models.providers says of it."""
    return _plan(str(search.fallback), "fallback", _Own(), search, providers, environ)


def faults(search: SearchSettings, providers: Mapping[str, ProviderSettings]) -> Iterator[str]:
    """What is wrong with an agent's whole section, each beginning with the key's path."""
    try:
        if search.provider != WORDS_ONLY and not is_local(search.provider):
            plan(search, providers, {})
        if search.fallback is not None:
            _check_fallback(search)
            if search.fallback != LOCAL:
                fallback_plan(search, providers, {})
        if search.multimodal.enabled:
            _check_eyes(search, providers)
    except NotChosen as error:
        yield f"memory.search.{error}"
    if search.floor is not None and search.ceiling is not None and search.floor >= search.ceiling:
        ceiling = f"memory.search.ceiling: {search.ceiling:g}"
        yield f"memory.search.floor: {search.floor:g} must lie below {ceiling}"


def _check_eyes(search: SearchSettings, providers: Mapping[str, ProviderSettings]) -> None:
    """Pictures and sounds want a model that sees them, and no other in its place."""
    chosen = None
    if search.provider != WORDS_ONLY and not is_local(search.provider):
        chosen = plan(search, providers, {})
    if chosen is None or chosen.wire != "gemini" or not sees_media(chosen.model):
        raise NotChosen(
            "multimodal: pictures and sounds need the provider gemini and a model that sees them; set "
            "memory.search.provider: gemini and memory.search.model: gemini-embedding-2"
        )
    if search.fallback is not None:
        raise NotChosen("multimodal: a fallback would not see pictures; leave memory.search.fallback out")


def _check_fallback(search: SearchSettings) -> None:
    if search.fallback in ("auto", WORDS_ONLY):
        raise NotChosen(f"fallback: {search.fallback} is no provider; leave it out to have none")
    if search.fallback == search.provider or (search.fallback == LOCAL and is_local(search.provider)):
        raise NotChosen(f"fallback: {search.fallback} is the provider itself; name another")


def _plan(  # noqa: PLR0917 (private; each is another source of the same plan)
    name: str,
    key_name: str,
    own: _Own,
    search: SearchSettings,
    providers: Mapping[str, ProviderSettings],
    environ: Mapping[str, str],
) -> Plan:
    entry = providers.get(name, ProviderSettings())
    facts = _facts(name, key_name, entry, providers)
    model = own.model or entry.embedding_model or facts.model
    address = own.base_url or entry.base_url or facts.address
    if model is None:
        raise NotChosen(f"{key_name}: {name} has no usual model; set {_where(key_name, name, 'model')}")
    if address is None and facts.wire not in ("copilot", "bedrock"):
        raise NotChosen(f"{key_name}: {name} has no usual address; set {_where(key_name, name, 'base_url')}")
    address = _trimmed(address, facts.wire)
    known = model_facts(model)
    floor = known.floor if own.floor is None else own.floor
    ceiling = known.ceiling if own.ceiling is None else own.ceiling
    if floor >= ceiling:
        raise NotChosen(f"floor: {floor:g} must lie below the ceiling, {ceiling:g} for {model}")
    near = bool(facts.start) or facts.wire == "ollama" or is_near(address)
    seconds = search.sync.embedding_batch_timeout_seconds
    return Plan(
        name=name,
        wire=facts.wire,
        model=model,
        address=address,
        near=near,
        key=_key(own, entry, facts, environ),
        needs_key=facts.needs_key and not near,
        variables=facts.variables,
        section="memory.search" if key_name == "provider" else f"models.providers.{name}",
        start=facts.start,
        headers=tuple((header.lower(), value) for header, value in sorted(own.headers.items())),
        dims=None if own.dims == known.dims else own.dims,
        dims_key=facts.dims_key,
        known_dims=own.dims or known.dims,
        floor=floor,
        ceiling=ceiling,
        types=_types(own, facts.wire),
        prefixes=(("query", query_prefix(model)),) if facts.wire == "ollama" else (),
        max_texts=search.batch.max_texts or facts.max_texts,
        max_chars=search.batch.max_chars or facts.max_chars,
        concurrency=search.batch.concurrency or (1 if near else facts.concurrency),
        query_seconds=search.query_timeout_seconds or (300 if near else 60),
        batch_seconds=seconds or (600 if near else 120),
    )


def _facts(
    name: str, key_name: str, entry: ProviderSettings, providers: Mapping[str, ProviderSettings]
) -> Provider:
    if name in PROVIDERS:
        return PROVIDERS[name]
    if entry.embedding_api is None:
        raise NotChosen(f"{key_name}: {_unknown(name, providers)}")
    wire = entry.embedding_api
    return Provider(
        wire=wire,
        model=_DEFAULT_MODELS[wire],
        address=None,
        variables=(variable(name),),
        needs_key=wire != "ollama",
        dims_key="output_dimension" if wire == "voyage" else "dimensions",
        max_texts=PROVIDERS[wire].max_texts,
        max_chars=PROVIDERS[wire].max_chars,
    )


def _unknown(name: str, providers: Mapping[str, ProviderSettings]) -> str:
    if name in providers:
        return (
            f"{name} is known for its chat models alone; set models.providers.{name}.embedding_api "
            "to openai, ollama, gemini or voyage"
        )
    usable = [one for one, entry in providers.items() if entry.embedding_api is not None]
    return f"{name!r} is not one of auto, local, none, {', '.join((*PROVIDERS, *usable))}"


def _where(key_name: str, name: str, what: str) -> str:
    if key_name == "provider":
        return f"memory.search.{what}"
    return f"models.providers.{name}.{'embedding_model' if what == 'model' else what}"


def _key(own: _Own, entry: ProviderSettings, facts: Provider, environ: Mapping[str, str]) -> SecretStr | None:
    """The key of models.providers goes to no other address than the one it was given for."""
    if own.api_key is not None:
        return own.api_key
    given = entry.api_key or next(iter(entry.api_keys), None)
    if given is not None and own.base_url in (None, entry.base_url):
        return given
    for name in facts.variables:
        if found := environ.get(name, "").strip():
            return SecretStr(found)
    return None


def _trimmed(address: str | None, wire: WireName) -> str | None:
    """Addresses as people have them from chat models, for the embeddings beside those."""
    if address is None:
        return None
    address = address.rstrip("/")
    if wire == "ollama":
        return address.removesuffix("/v1").removesuffix("/api")
    return address.removesuffix("/openai") if wire == "gemini" else address


def _types(own: _Own, wire: WireName) -> tuple[tuple[Kind, str], ...]:
    types: dict[Kind, str] = dict(_INPUT_TYPES) if wire == "voyage" else {}
    if own.query_type is not None:
        types["query"] = own.query_type
    if own.document_type is not None:
        types["document"] = own.document_type
    return tuple(types.items())
