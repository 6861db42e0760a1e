"""Requests in the form of OpenAI's chat completions, and what of them is a message to an agent."""

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway.http.requests import Whole
from gateway.views import Refused
from sessions.messages import Image

MOST_IMAGES = 10
MOST_MESSAGES = 2_000
RESERVED = ("agent:", "main", "hook-", "subagent:", "cron:", "acp:", "ending ")
"""How no session may be called that an OpenAI client names."""

_DATA_URL = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,(.*)", re.DOTALL)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ImageUrl(_Part):
    url: str


class ContentPart(_Part):
    """`text`, or `image_url` with a data URL."""

    type: str
    text: Whole | None = None
    image_url: ImageUrl | None = None


class ChatMessage(_Part):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Whole | list[ContentPart] | None = None


class StreamOptions(_Part):
    include_usage: bool = False


class CompletionBody(BaseModel):
    """The body of POST /v1/chat/completions. What is not named here (temperature, max_tokens, …) is the
    agent's own affair and passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    model: Annotated[str, Field(min_length=1, max_length=200)]
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    user: Annotated[str, Field(max_length=200)] | None = None
    n: int | None = 1
    tools: list[dict[str, object]] | None = None
    functions: list[dict[str, object]] | None = None

    @property
    def with_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """`session` None: a session of this request alone."""

    agent: str
    session: str | None
    text: str
    context: str
    images: tuple[Image, ...]


def wanted(body: CompletionBody, agents: Sequence[str], default: str, header: str) -> Wanted:
    """The last message of the user, and everything else as what stands before it. Raises Refused.

    With a session (`header`, else `user`) the gateway knows what was said, and only system messages go
    along; without one, the earlier messages do.
    """
    _check_limits(body)
    session = _session(header or body.user)
    place = max((at for at, one in enumerate(body.messages) if one.role == "user"), default=None)
    if place is None or place != len(body.messages) - 1:
        raise _wrong("messages must end with one of the role user.")
    earlier = body.messages[:place]
    rules = [text for one in earlier if one.role in ("system", "developer") if (text := _text(one))]
    talk = [] if session else [one for one in earlier if one.role in ("user", "assistant")]
    last = body.messages[place]
    images = tuple(_image(part) for part in _parts(last) if part.type == "image_url")
    if len(images) > MOST_IMAGES:
        raise _wrong(f"messages hold {len(images)} images; at most {MOST_IMAGES} are taken.")
    text = _text(last)
    if not text.strip() and not images:
        raise _wrong("the last message is empty.")
    return Wanted(
        agent=agent_of(body.model, agents, default),
        session=session,
        text=text if text.strip() else "(an image, without a text)",
        context=_context(rules, talk),
        images=images,
    )


def agent_of(model: str, agents: Sequence[str], default: str) -> str:
    """`clawd` is the default agent, `clawd/<id>`, `clawd:<id>` and `<id>` are that one. Raises Refused."""
    name = re.sub(r"^clawd[/:]", "", model)
    if name == "clawd" and "clawd" not in agents:
        return default
    if name in agents:
        return name
    known = ", ".join(f"clawd/{one}" for one in agents)
    raise Refused(
        f"There is no model {model[:60]!r} here: models are this gateway's agents ({known}).",
        code="model_not_found",
        status=404,
    )


def _check_limits(body: CompletionBody) -> None:
    if body.n not in (None, 1):
        raise _wrong("n must be 1: an agent gives one answer.")
    if body.tools or body.functions:
        raise _wrong("tools are not taken: an agent has its own and uses them itself.")


def _session(name: str | None) -> str | None:
    """Raises Refused."""
    if not name:
        return None
    if name.startswith(RESERVED):
        raise _wrong(f"A session may not be called {name[:40]!r}: names like it are kept for clawd itself.")
    return f"openai-{name}"


def _parts(message: ChatMessage) -> list[ContentPart]:
    if isinstance(message.content, str):
        return [ContentPart(type="text", text=message.content)]
    return message.content or []


def _text(message: ChatMessage) -> str:
    """Raises Refused for a part that is neither text nor image."""
    texts = []
    for part in _parts(message):
        if part.type not in ("text", "image_url"):
            raise _wrong(f"a part of the type {part.type[:40]!r} is not taken; text and image_url are.")
        if part.type == "text":
            texts.append(part.text or "")
    return "\n".join(texts)


def _image(part: ContentPart) -> Image:
    """Raises Refused. Nothing is fetched: an address could name what only this machine may see."""
    url = part.image_url.url if part.image_url else ""
    found = _DATA_URL.fullmatch(url)
    if found is None:
        what = "a data URL of another kind" if url.startswith("data:") else "an address"
        raise _wrong(
            f"image_url holds {what}, and images are not fetched here. Send the image itself, as "
            "data:image/png;base64,… (png, jpeg, gif or webp)."
        )
    try:
        base64.b64decode(found[2], validate=True)
    except (binascii.Error, ValueError) as error:
        raise _wrong("image_url holds a data URL that is not Base64.") from error
    return Image(data=found[2], mime_type=found[1])


def _context(rules: Sequence[str], talk: Sequence[ChatMessage]) -> str:
    """What stands before the text, labelled."""
    blocks = []
    if rules:
        blocks.append("[The calling program says about this conversation:]\n" + "\n\n".join(rules))
    if talk:
        lines = [f"{one.role}: {_text(one)}" for one in talk]
        blocks.append("[What was said before, as the calling program tells it:]\n" + "\n".join(lines))
    return "\n\n".join(blocks)


def _wrong(text: str) -> Refused:
    return Refused(text, code="bad_request", status=400)
