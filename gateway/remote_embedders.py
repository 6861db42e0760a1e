"""From a plan to an embedder that asks a server."""

import asyncio
from collections.abc import Awaitable, Callable

from gateway.embedding import Plan
from memory.embed.batch_api import BatchApi, Jobs
from memory.embed.batch_jobs import FileJobs, GeminiJobs
from memory.embed.batching import Limits, Sender
from memory.embed.explain import Asked
from memory.embed.faults import Refused
from memory.embed.gemini import GeminiEmbedder
from memory.embed.gemini_wire import GeminiWire
from memory.embed.link import Link
from memory.embed.providers import PROVIDERS
from memory.embed.remote import Identity, RemoteEmbedder
from memory.embed.senders import COPILOT_HEADERS, CopilotSender, HttpSender
from memory.embed.wire import OllamaWire, OpenAIWire, Wire
from memory.settings import BatchApiSettings


def remote_embedder(chosen: Plan, bulk: BatchApiSettings, *, query_cache_seconds: float) -> RemoteEmbedder:
    """Asks nobody yet; what its connection needs is imported at its first use."""
    limits = Limits(
        max_texts=chosen.max_texts,
        max_chars=chosen.max_chars,
        concurrency=chosen.concurrency,
        query_seconds=chosen.query_seconds,
        batch_seconds=chosen.batch_seconds,
    )
    kind = GeminiEmbedder if chosen.wire == "gemini" else RemoteEmbedder
    return kind(
        Identity(
            provider=chosen.name,
            model=chosen.model,
            version=chosen.version,
            dims=chosen.known_dims,
            floor=chosen.floor,
            ceiling=chosen.ceiling,
        ),
        connect=_connecting(chosen),
        limits=limits,
        asked=_asked(chosen),
        has_key=_has_key(chosen),
        bulk=_batch_api(chosen, bulk, limits),
        query_cache_seconds=query_cache_seconds,
    )


def _has_key(chosen: Plan) -> bool:
    own = {name for name, _ in chosen.headers} & {"authorization", "x-goog-api-key", "api-key"}
    return chosen.key is not None or not chosen.needs_key or bool(own)


def _asked(chosen: Plan) -> Asked:
    fetch = f"ollama pull {chosen.model}" if chosen.wire == "ollama" else ""
    return Asked(
        provider=chosen.name,
        model=chosen.model,
        address=chosen.address or {"bedrock": "AWS", "copilot": "GitHub"}.get(chosen.wire, "its address"),
        section=chosen.section,
        variables=chosen.variables,
        key_place="AWS_REGION and AWS's credentials (aws configure)" if chosen.wire == "bedrock" else "",
        start=chosen.start or ("ollama serve" if chosen.wire == "ollama" else ""),
        fetch=fetch,
    )


def _connecting(chosen: Plan) -> Callable[[], Awaitable[Sender]]:
    async def connect() -> Sender:
        return await asyncio.to_thread(_sender, chosen)

    return connect


def _sender(chosen: Plan) -> Sender:
    """Takes up to a second: certificates, and for Bedrock a whole SDK. Raises Fault."""
    if chosen.wire == "bedrock":
        return _bedrock(chosen)
    link = Link(
        chosen.address or "",
        headers=_headers(chosen),
        secrets=chosen.secrets,
        proxied=not chosen.near,
    )
    if chosen.wire == "copilot":
        token = chosen.key.get_secret_value() if chosen.key else ""
        return CopilotSender(link, _wire(chosen), github_token=token, address=chosen.address)
    return HttpSender(link, _wire(chosen))


def _bedrock(chosen: Plan) -> Sender:
    try:
        from memory.embed.bedrock import BedrockSender  # noqa: PLC0415 (a large SDK, only when it is used)
    except ImportError as error:
        raise Refused(
            "needs boto3, which is not installed. Install it: python -m pip install 'clawd[bedrock]'",
            cause="request",
        ) from error
    return BedrockSender(
        model=chosen.model, dims=chosen.dims, address=chosen.address, read_seconds=chosen.batch_seconds
    )


def _headers(chosen: Plan) -> dict[str, str]:
    headers: dict[str, str] = {}
    key = chosen.key.get_secret_value() if chosen.key else ""
    if chosen.wire == "copilot":
        headers = {name.lower(): value for name, value in COPILOT_HEADERS.items()}
    elif key and chosen.wire == "gemini":
        headers["x-goog-api-key"] = key
    elif key:
        headers["authorization"] = f"Bearer {key}"
    return headers | {name: value.get_secret_value() for name, value in chosen.headers}


def _wire(chosen: Plan) -> Wire:
    if chosen.wire == "gemini":
        return GeminiWire(model=chosen.model, dims=chosen.dims, tasks=dict(chosen.types))
    if chosen.wire == "ollama":
        return OllamaWire(model=chosen.model, dims=chosen.dims, prefixes=dict(chosen.prefixes))
    return _openai_wire(chosen)


def _openai_wire(chosen: Plan) -> OpenAIWire:
    return OpenAIWire(
        model=chosen.model,
        dims=chosen.dims,
        dims_key=chosen.dims_key,
        input_types=dict(chosen.types),
        extra={"truncation": True} if chosen.wire == "voyage" else {},
        packed=chosen.name == "openai" and chosen.address == PROVIDERS["openai"].address,
    )


def _batch_api(chosen: Plan, settings: BatchApiSettings, limits: Limits) -> BatchApi | None:
    jobs = _jobs(chosen)
    if not settings.enabled or jobs is None:
        return None
    return BatchApi(
        jobs,
        limits=limits,
        min_texts=settings.min_texts,
        concurrency=settings.concurrency,
        poll_seconds=settings.poll_seconds,
        job_seconds=settings.timeout_minutes * 60,
    )


def _jobs(chosen: Plan) -> Jobs | None:
    if chosen.wire == "gemini":
        return GeminiJobs(wire=GeminiWire(model=chosen.model, dims=chosen.dims, tasks=dict(chosen.types)))
    if chosen.wire == "voyage":
        return FileJobs(wire=_openai_wire(chosen), window="12h", shared=True)
    return FileJobs(wire=_openai_wire(chosen)) if chosen.name == "openai" else None
