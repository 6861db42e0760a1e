"""Why vectors are missing, in a sentence for a person: what happened, where, what mends it."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from memory.embed.batching import TooSlow
from memory.embed.embedder import Kind, MemoryUnavailable
from memory.embed.faults import BadAnswer, Fault, Passing, Refused, TooLarge

AGAIN = "then run `clawd memory index`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who was asked and which settings lead there; none of it is secret.

    `section` is where model, base_url and api_key are set. `variables` may hold the key as well;
    `key_place` names another place for it. `start` says
    how the server is started, `fetch` how it gets the model, where the owner can do that.
    """

    provider: str
    model: str
    address: str
    section: str = "memory.search"
    variables: tuple[str, ...] = ()
    key_place: str = ""
    start: str = ""
    fetch: str = ""


def unavailable(fault: Fault, asked: Asked, kind: Kind) -> MemoryUnavailable:
    """The whole message. `kind` says which time limit was in force."""
    who = _who(asked)
    if isinstance(fault, BadAnswer):
        return MemoryUnavailable(
            f"{who} answered with something else than embeddings: {fault}. {_odd(fault)}"
        )
    return MemoryUnavailable(f"{who} {fault}. {_advice(fault, asked, kind)}")


def job_unavailable(fault: Fault, asked: Asked) -> MemoryUnavailable:
    """The same of a batch job, in place of which passages can be embedded in the ordinary way."""
    if isinstance(fault, Refused):
        return unavailable(fault, asked, "document")
    return MemoryUnavailable(f"{_who(asked)} {str(fault).rstrip('.')}.")


def _who(asked: Asked) -> str:
    return f"The embedding provider {asked.provider} ({asked.model} at {shown(asked.address)})"


def no_key(asked: Asked) -> MemoryUnavailable:
    places = " or ".join((*asked.variables[:1], f"{asked.section}.api_key"))
    return MemoryUnavailable(
        f"There is no key for the embedding provider {asked.provider}. Set {places}, {AGAIN}. "
        "memory.search.provider: local needs no key."
    )


def shown(address: str) -> str:
    """An address without user, password and query."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "its address"
    if not host:
        return address if "://" not in address and "@" not in address else "its address"
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def _advice(fault: Fault, asked: Asked, kind: Kind) -> str:
    if isinstance(fault, Refused):
        return _after_refusal(fault, asked)
    if isinstance(fault, TooSlow):
        limit = "query_timeout_seconds" if kind == "query" else "sync.embedding_batch_timeout_seconds"
        return f"Raise memory.search.{limit} or see why the server is slow, {AGAIN}."
    if isinstance(fault, TooLarge):
        return f"Lower memory.search.batch.max_chars or memory.chunking.tokens, {AGAIN}."
    if isinstance(fault, Passing) and fault.busy:
        return f"Wait a while (memory.search.batch.concurrency: 1 asks more gently), {AGAIN}."
    if asked.start:
        return f"Start it ({asked.start}) or correct {asked.section}.base_url, {AGAIN}."
    return f"Check the network and {asked.section}.base_url, {AGAIN}."


def _after_refusal(fault: Refused, asked: Asked) -> str:
    if fault.cause == "key":
        places = asked.key_place or " or ".join((*asked.variables[:1], f"{asked.section}.api_key"))
        return f"Check {places}, {AGAIN}."
    if fault.cause == "quota":
        return f"Add credit there or choose another memory.search.provider, {AGAIN}."
    if fault.cause == "model":
        fetch = f"Fetch it ({asked.fetch}) or set" if asked.fetch else "Set"
        return f"{fetch} memory.search.model to one that it has, {AGAIN}."
    if fault.cause == "address":
        return f"Correct {asked.section}.base_url, {AGAIN}."
    return f"Check memory.search.model and memory.search.dimensions, {AGAIN}."


def _odd(fault: BadAnswer) -> str:
    if fault.dims:
        return f"Set memory.search.dimensions to {fault.dims} (or another model), {AGAIN}."
    return f"Check memory.search.base_url and memory.search.model, {AGAIN}."
