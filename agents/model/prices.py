"""What tokens cost."""

from dataclasses import dataclass, replace

from agents.model.provider import CacheTtl
from sessions.messages import Cost, Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LongPrompt:
    """Prompts of more than `above` tokens cost `prompt` times as much, and their answers `output` times."""

    above: int
    prompt: float
    output: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens. `cache_write_1h` is what a vendor asks for keeping a prompt an hour;
    None: the same as for five minutes."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float | None = None
    long: LongPrompt | None = None


def cost_of(usage: Usage, price: Price | None, *, ttl: CacheTtl | None = "5m") -> Cost | None:
    """What these tokens cost in US dollars; None when the price is unknown, which is not 0."""
    if price is None:
        return None
    prompt = answer = 1 / MILLION
    if price.long is not None and usage.prompt > price.long.above:
        prompt, answer = prompt * price.long.prompt, answer * price.long.output
    write = price.cache_write_1h if ttl == "1h" and price.cache_write_1h is not None else price.cache_write
    costs = (
        usage.input * price.input * prompt,
        usage.output * price.output * answer,
        usage.cache_read * price.cache_read * prompt,
        usage.cache_write * write * prompt,
    )
    return Cost(input=costs[0], output=costs[1], cache_read=costs[2], cache_write=costs[3], total=sum(costs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """US dollars: what it costs to have a cached prompt read once more, and to have it written anew (`cold`),
    which costs so much more than reading it then (`saved`)."""

    once: float
    cold: float
    saved: float

    @property
    def worth(self) -> bool:
        return self.saved > self.once


def keeping(tokens: int, price: Price, *, ttl: CacheTtl) -> Keeping:
    """Of a prompt of so many tokens, and one token of an answer."""

    def of(usage: Usage) -> float:
        cost = cost_of(usage, price, ttl=ttl)
        return cost.total if cost else 0.0

    cold, warm = of(Usage(cache_write=tokens)), of(Usage(cache_read=tokens))
    return Keeping(once=of(Usage(cache_read=tokens, output=1)), cold=cold, saved=cold - warm)


def priced(usage: Usage, price: Price | None, *, ttl: CacheTtl | None) -> Usage:
    """The same counts with their cost."""
    return replace(usage, cost=cost_of(usage, price, ttl=ttl))
