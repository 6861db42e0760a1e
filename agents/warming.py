"""Keeping a prompt in its provider's cache while nobody writes: the last request once more, for one token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from agents.frame import CONTEXT, life_of, recorded
from agents.model.anthropic_wire import API, thinking_fields
from agents.model.prices import Price, keeping
from agents.model.provider import CacheTtl, ModelRequest
from agents.scene import ChosenModel, Scene
from sessions.entries import BranchSummary, Compacted, Custom, CustomMessage, Entry, Said
from sessions.messages import Assistant
from sessions.warmth import warmed_at, warmed_entry

KEEP_WARM = "keep_warm"

PriceOf: TypeAlias = Callable[[str, str], Price | None]
"""What a model's tokens cost, by provider and model; None when nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warmth:
    """That a provider has the prompt of a session: it began to read it no earlier than `since`, and `tokens`
    of it are in its cache."""

    since: datetime
    ttl: CacheTtl
    tokens: int

    @property
    def ends(self) -> datetime:
        """From then on the cache may be cold."""
        return self.since + life_of(self.ttl)


def warmth(entries: Sequence[Entry]) -> Warmth | None:
    """None when nothing is kept, or when the next request will not begin as the last one did."""
    frame, place = recorded(entries), _last_answer(entries)
    if frame is None or frame.request.cache_ttl is None or place is None:
        return None
    answer = _answer(entries[place])
    cached = answer.usage.cache_read + answer.usage.cache_write if answer else 0
    since = next((at for entry in reversed(entries[place:]) if (at := warmed_at(entry))), None)
    since = since or _asked_at(entries[:place])
    if not cached or since is None:
        return None
    return Warmth(since=since, ttl=frame.request.cache_ttl, tokens=cached)


async def keep_warm(scene: Scene, price_of: PriceOf, at: datetime) -> str:
    """Have the last request read once more. Says why that was not done, or is not to be done again; empty
    when all is well. Raises ModelError and OSError."""
    chosen, held = scene.chosen, warmth(scene.conversation.entries)
    if held is None or at >= held.ends:
        return "its prompt is no longer in the cache"
    request = renewing(scene)
    if request is None:
        return f"{chosen.name} cannot be asked for one token with the same prompt"
    price = price_of(chosen.provider_name, chosen.model)
    if price is None:
        return f"nobody knows what {chosen.name} costs (models.providers.{chosen.provider_name}.models)"
    costs = keeping(held.tokens, price, ttl=held.ttl)
    if not costs.worth:
        return "it would cost more than it saves"
    answer = await scene.ask(KEEP_WARM, request, of=await _alone(chosen, at), at=at)
    paid = answer.usage.cost.total if answer.usage.cost else costs.once
    await scene.conversation.append(warmed_entry(cost=paid, cold=costs.cold), at)
    return "" if answer.usage.cache_read else "the provider had not kept its prompt"


def renewing(scene: Scene) -> ModelRequest | None:
    """The last request with room for one token; None for a model whose cache is not renewed like that, for
    thinking that is spelled otherwise then, and when another model gave the last answer."""
    chosen, blank, messages = scene.chosen, scene.blank, scene.conversation.messages
    if len(messages) < 2 or isinstance(messages[-2], Assistant):
        return None
    answer, spelling = messages[-1], chosen.spelling
    if not isinstance(answer, Assistant) or spelling is None or spelling.api != API:
        return None
    if (answer.provider, answer.model) != (chosen.provider_name, chosen.model):
        return None
    limits = (1, blank.max_tokens)
    little, usual = (thinking_fields(blank.thinking, spelling.thinking, limit) for limit in limits)
    return replace(blank, messages=messages[:-1], max_tokens=1) if little == usual else None


async def _alone(chosen: ChosenModel, at: datetime) -> ChosenModel:
    """The first of the chain with the key that is asked first, once: nobody else has the prompt."""
    if not chosen.links:
        return replace(chosen, max_retries=0)
    first = chosen.links[0]
    provider = await first.open(first.keys.in_order(first.model, at)[0])
    return replace(chosen, provider=provider, max_retries=0)


def _last_answer(entries: Sequence[Entry]) -> int | None:
    """Where the last answer stands, when nothing that changes the prompt stands behind it."""
    for place in range(len(entries) - 1, -1, -1):
        body, answer = entries[place].body, _answer(entries[place])
        if answer is not None:
            return place if answer.stop in ("stop", "length") else None
        if isinstance(body, Said | CustomMessage | Compacted | BranchSummary):
            return None
        if isinstance(body, Custom) and body.kind == CONTEXT:
            return None
    return None


def _asked_at(entries: Sequence[Entry]) -> datetime | None:
    """When the last of these messages was there: a request with it went out no earlier."""
    said = (entry.at for entry in reversed(entries) if isinstance(entry.body, Said | CustomMessage))
    return next(said, None)


def _answer(entry: Entry) -> Assistant | None:
    message = entry.body.message if isinstance(entry.body, Said) else None
    return message if isinstance(message, Assistant) else None
