"""The work of clawd models and clawd sessions: what lies on disk, read without any lock."""

import asyncio
from datetime import datetime

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from gateway.build import opened
from gateway.cli.backend import running
from gateway.cli.output import clean, console, print_json
from gateway.cli.place import Place
from gateway.cli.remembering import marked
from gateway.cli.screen import called, passages
from gateway.http.answers import conversation_json, models_json
from gateway.views import Conversation, SaidResult, said_json, sessions_json
from sessions.key import SessionKey
from sessions.messages import Assistant, JsonObject, Message, ToolResult, User, text_of


def models(place: Place, *, as_json: bool) -> None:
    """Of the running gateway, which alone knows what rests after a failure; else of the configuration.
    Raises ConfigError, HomeError, Refused."""

    async def work() -> None:
        found = await _models(place)
        if as_json:
            print_json(found)
            return
        table = _table("model", "usable", "why not")
        rows = found.get("models")
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                table.add_row(*_model_row(row), style=None if row.get("usable") else "dim")
        console(color=place.color).print(table)

    asyncio.run(work())


async def _models(place: Place) -> JsonObject:
    config = place.config()
    client = await running(place.home, config)
    if client is not None:
        async with client:
            return await client.models()
    async with opened(config, place.home, write=False) as gateway:
        return models_json(gateway.models())


def _model_row(row: JsonObject) -> tuple[str, str, str]:
    until = row.get("rests_until")
    usable = "yes" if row.get("usable") else "no"
    if isinstance(until, str):
        usable = f"from {datetime.fromisoformat(until).astimezone():%H:%M:%S}"
    marks = [word for word in ("default", "fallback") if row.get(f"is_{word}")]
    name = clean(str(row.get("name")))
    return f"{name} ({', '.join(marks)})" if marks else name, usable, clean(str(row.get("reason") or ""))


def sessions(place: Place, *, as_json: bool) -> None:
    """Raises ConfigError, HomeError."""

    async def work() -> None:
        async with opened(place.config(), place.home, write=False) as gateway:
            records = gateway.sessions()
        if as_json:
            print_json(sessions_json(records))
            return
        screen = console(color=place.color)
        if not records:
            screen.print("No conversation yet. `clawd chat` begins one.")
            return
        table = _table("key", "last seen", "messages")
        for record in records:
            table.add_row(clean(str(record.key)), _local(record.last_seen_at), f"{record.messages:,}")
        screen.print(table)

    asyncio.run(work())


def session(place: Place, key: str, *, limit: int, as_json: bool) -> None:
    """Raises BadSessionKey, Refused, ConfigError, HomeError."""
    wanted = SessionKey.parse(key)

    async def work() -> Conversation:
        async with opened(place.config(), place.home, write=False) as gateway:
            return await gateway.session(wanted)

    conversation = asyncio.run(work())
    if as_json:
        print_json(conversation_json(conversation, limit=limit))
        return
    screen = console(color=place.color)
    if (earlier := len(conversation.messages) - limit) > 0:
        screen.print(f"{earlier:,} earlier messages are left out (--limit).", style="dim")
    for message in conversation.messages[-limit:]:
        _message(screen, message)


def said(place: Place, text: str, *, limit: int, agent: str | None, as_json: bool) -> None:
    """Raises Refused, ConfigError, HomeError."""

    async def work() -> SaidResult:
        async with opened(place.config(), place.home, write=False) as gateway:
            return await gateway.sessions_search(text, agent=agent, limit=limit)

    result = asyncio.run(work())
    if as_json:
        print_json(said_json(result))
        return
    screen, aside = console(color=place.color), console(color=place.color, stderr=True)
    if result.warning:
        aside.print(clean(result.warning), style="yellow", soft_wrap=True)
    if result.partial:
        aside.print("Nothing has all of the words; these have some.", style="yellow")
    if not result.hits:
        screen.print("Nothing found. Other words may help; `clawd memory search` looks through the notes.")
    for hit in result.hits:
        name = clean(str(hit.key or hit.session_id))
        head = Text(f"{name}, line {hit.line}, {hit.role}, {_local(hit.at)}", style="bold")
        screen.print(head, soft_wrap=True)
        screen.print(marked(hit.snippet, text))
        screen.print()


def _message(screen: Console, message: Message) -> None:
    match message:
        case User():
            screen.print(Text(f"you, {_local(message.at)}", style="bold cyan"))
            screen.print(Text(clean(text_of(message.parts))))
            screen.print()
        case Assistant():
            if message.text.strip():
                screen.print(
                    Text(f"{message.provider}/{message.model}, {_local(message.at)}", style="bold green")
                )
                text = clean(message.text)
                screen.print(Markdown(text) if screen.is_terminal else Text(text))
                screen.print()
            for call in message.calls:
                screen.print(Text(called(call), style="dim"), no_wrap=True, overflow="ellipsis")
            if message.error:
                screen.print(Text(f"({message.stop}: {clean(message.error)})", style="red"))
        case ToolResult():
            for line in _result(message):
                screen.print(Text(f"  {line}", style="dim"), no_wrap=True, overflow="ellipsis")


def _result(message: ToolResult) -> list[str]:
    """Where a search found something; of any other result the first line."""
    text = text_of(message.parts)
    if message.name == "memory_search" and (found := passages(text)):
        return found
    first = clean(text).strip().splitlines()[:1] or ["(nothing)"]
    return [f"failed: {first[0]}" if message.is_error else first[0]]


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(columns):
        table.add_column(name, overflow="fold", no_wrap=place == 1)
    return table


def _local(at: datetime) -> str:
    """To the minute, in this machine's time zone."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M")
