"""No model at all: notes what it is told, answers questions by quoting memory, and says so.

It sees only what any model sees (messages, tools) and acts only through tool calls, so that everything
around it (loop, transcript, tools) is the same with and without a model. How to connect one is said in the
first answer of a conversation.
"""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from agents.clock import Clock
from agents.model.offline_phrases import PHRASES, Phrases, intent, language
from agents.model.provider import CallStarted, Done, ModelEvent, ModelRequest, TextDelta
from sessions.messages import Assistant, Json, JsonObject, Message, Text, ToolCall, ToolResult, User, text_of

MODEL = "notes"
TITLE_WORDS, TITLE_CHARS = 5, 60


@dataclass(frozen=True, slots=True)
class Offline:
    """Implements ModelProvider; never fails and never waits."""

    clock: Clock
    name: str = "offline"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        step = _next(request.messages, {tool.name for tool in request.tools})
        if isinstance(step, ToolCall):
            yield CallStarted(call=step)
        else:
            for piece in re.findall(r"\S+\s*|\s+", step):
                yield TextDelta(text=piece)
        yield Done(
            message=Assistant(
                at=self.clock(),
                parts=(step if isinstance(step, ToolCall) else Text(text=step),),
                stop="toolUse" if isinstance(step, ToolCall) else "stop",
                provider=self.name,
                api="offline",
                model=request.model,
            )
        )

    async def aclose(self) -> None:
        """Nothing is held."""


def _next(messages: Sequence[Message], tools: set[str]) -> ToolCall | str:
    """The call to make, or the answer to give, after everything said so far."""
    start = max(index for index, message in enumerate(messages) if isinstance(message, User))
    asked = messages[start]
    said = text_of(asked.parts).strip()
    results = [message for message in messages[start + 1 :] if isinstance(message, ToolResult)]
    words = PHRASES[language(said)]
    if results:
        answer = _after(results, said, words, start)
        known = any(isinstance(message, Assistant) for message in messages[:start])
        return answer if known or isinstance(answer, ToolCall) else f"{answer}\n\n{words.connect}"
    kind, body = intent(said)
    if kind == "note" and "write" in tools and isinstance(asked, User):
        return _note(body, asked, start)
    if kind == "question" and "memory_search" in tools:
        return _call(start, 0, "memory_search", {"query": body})
    return f"{words.hello}\n\n{words.connect}"


def _note(body: str, asked: User, start: int) -> ToolCall:
    day = re.search(r"\d{4}-\d{2}-\d{2}", asked.envelope)
    time = re.search(r"\b\d{2}:\d{2}\b", asked.envelope)
    date = day.group() if day else asked.at.date().isoformat()
    hour = time.group() if time else f"{asked.at:%H:%M}"
    heading = body.strip("#-* \n").split()
    title = " ".join(heading[:TITLE_WORDS])[:TITLE_CHARS] + (" …" if len(heading) > TITLE_WORDS else "")
    content = f"## {hour} - {title}\n\n{body}\n"
    return _call(start, 0, "write", {"path": f"memory/{date}.md", "content": content, "mode": "append"})


def _after(results: list[ToolResult], said: str, words: Phrases, start: int) -> ToolCall | str:
    last = results[-1]
    if last.is_error:
        return f"{words.failed} {text_of(last.parts)}"
    if last.name == "write":
        day = re.search(r"memory/\S+?\.md", text_of(last.parts))
        return words.noted.format(path=day.group() if day else "memory/")
    found, problem, weak = _hits(text_of(last.parts))
    if problem:
        return f"{words.failed} {problem}"
    if found:
        heading = words.uncertain if weak or len(results) > 1 else words.found
        return "\n\n".join([heading, *(_quote(hit) for hit in found[:3])])
    if len(results) == 1:
        query: JsonObject = {"query": intent(said)[1], "max_results": 3, "min_score": 0}
        return _call(start, 1, "memory_search", query)
    return words.nothing


def _hits(text: str) -> tuple[list[JsonObject], str, bool]:
    """The passages, what went wrong, and whether the passages are below what counts as an answer."""
    try:
        answer: Json = json.loads(text)
    except ValueError:
        return [], text, False
    if not isinstance(answer, dict):
        return [], text, False
    if answer.get("unavailable"):
        return [], f"{answer.get('error', '')} {answer.get('action', '')}".strip(), False
    results = answer.get("results")
    hits = [hit for hit in results if isinstance(hit, dict)] if isinstance(results, list) else []
    return hits, "", bool(answer.get("relaxed"))


def _quote(hit: JsonObject) -> str:
    lines = str(hit.get("snippet", "")).strip().split("\n")
    calm = [re.sub(r"^#+ +(.+?) *$", r"**\1**", line) for line in lines]
    quoted = "\n".join(f"> {line}".rstrip() for line in calm)
    where = f"{hit.get('path')}:{hit.get('start_line')}-{hit.get('end_line')}"
    return f"{quoted}\n\n— `{where}`"


def _call(start: int, step: int, name: str, arguments: JsonObject) -> ToolCall:
    """Ids follow from the position in the conversation, so they are unique in it without randomness."""
    return ToolCall(id=f"offline_{start}_{step}", name=name, arguments=arguments)
