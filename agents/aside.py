"""Questions to a model beside the conversation: summaries, and names of notes. They are recorded, so that
their requests can be rebuilt as well; nobody sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agents.frame import Frame
from agents.model.provider import ModelRequest
from agents.model.spelling import Spelling, spelling_from, spelling_json
from sessions.entries import Custom
from sessions.message_codec import count_of, message_json, message_of
from sessions.messages import Json, JsonObject, Message

ASIDE = "clawd.aside"
UNTHOUGHT = "clawd.unthought"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """`asked` stood behind the conversation in its frame (`behind`), or was all of a request in no frame.
    Without its last `short` messages the conversation was as it had been asked before."""

    origin: str
    provider: str
    model: str
    spelling: Spelling | None
    max_tokens: int
    behind: bool
    asked: tuple[Message, ...]
    short: int = 0

    def request(self, frame: Frame | None, messages: Sequence[Message]) -> ModelRequest | None:
        """The request, of the frame and the messages at that time; None when it stood in a frame that the
        transcript does not have."""
        if not self.behind:
            return ModelRequest(
                model=self.model,
                system="",
                context="",
                messages=self.asked,
                max_tokens=self.max_tokens,
                cache_ttl=None,
            )
        if frame is None:
            return None
        seen = messages[: len(messages) - self.short]
        return replace(
            frame.request, model=self.model, max_tokens=self.max_tokens, messages=(*seen, *self.asked)
        )

    def entry(self) -> Custom:
        """As it is recorded."""
        asked: list[Json] = [message_json(message) for message in self.asked]
        data: JsonObject = {
            "origin": self.origin,
            "provider": self.provider,
            "model": self.model,
            "max_tokens": self.max_tokens,
            "behind": self.behind,
            "asked": asked,
        }
        data |= {"short": self.short} if self.short else {}
        return Custom(
            kind=ASIDE, data=data | ({"spelling": spelling_json(self.spelling)} if self.spelling else {})
        )


def aside_of(body: Custom, at: datetime) -> Aside | None:
    """The inverse of `entry`; None for what is none."""
    if body.kind != ASIDE:
        return None
    match body.data:
        case {
            "origin": str(origin),
            "provider": str(provider),
            "model": str(model),
            "max_tokens": int(max_tokens),
            "behind": bool(behind),
            "asked": list(asked),
        }:
            found = [message_of(item, at) for item in asked if isinstance(item, dict)]
            return Aside(
                origin=origin,
                provider=provider,
                model=model,
                spelling=spelling_from(body.data.get("spelling")),
                max_tokens=max_tokens,
                behind=behind,
                asked=tuple(message for message in found if message is not None),
                short=count_of(body.data.get("short")),
            )
        case _:
            return None


def unthought() -> Custom:
    """That the answer behind this entry was given to a request without the thinking of earlier answers."""
    return Custom(kind=UNTHOUGHT, data={})
