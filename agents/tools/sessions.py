"""sessions_search and sessions_history: how a model finds the very words of earlier conversations."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

from pydantic import Field

from agents.archive import Archive, ArchiveRefused, History
from agents.paths import problem
from agents.recollection import Piece, shortened
from agents.tools.tool import Arguments, Tool, ToolError, ToolOutput, TypedTool
from agents.turn import Turn
from agents.visibility import Caller
from memory.embed.embedder import MemoryUnavailable
from memory.sessions_tables import Found
from sessions.messages import Json, JsonObject

HISTORY_CHARS = 12_000
PIECE_CHARS = 2_000


class SearchArguments(Arguments):
    query: str = Field(min_length=1, description='words; "in quotes" as they stand')
    session: str | None = Field(None, description="key or id; default: all")
    limit: int = Field(10, ge=1, le=25)


class HistoryArguments(Arguments):
    session: str = Field(description="key or id")
    line: int | None = Field(None, ge=1, description="around this line; default: the end")
    limit: int = Field(20, ge=1, le=100)
    tools: bool = Field(False, description="with calls and results")


def sessions_tools(archive: Archive) -> list[Tool]:
    """Both see what the turn's session may see."""

    async def search(call: SearchArguments, turn: Turn) -> ToolOutput:
        try:
            result = await archive.search(
                call.query, caller=Caller.of(turn), limit=call.limit, session=call.session
            )
        except (ArchiveRefused, MemoryUnavailable) as error:
            raise ToolError(str(error)) from error
        found: list[Json] = [_hit(archive, one, turn.time_zone) for one in result.found]
        body: JsonObject = {"results": found}
        if result.partial:
            body["partial"] = "nothing has all the words; these have some"
        if result.warning:
            body["warning"] = result.warning
        return ToolOutput.of(json.dumps(body, ensure_ascii=False, separators=(",", ":")))

    async def history(call: HistoryArguments, turn: Turn) -> ToolOutput:
        try:
            found = await archive.history(
                call.session, caller=Caller.of(turn), limit=call.limit, line=call.line, tools=call.tools
            )
        except ArchiveRefused as error:
            raise ToolError(str(error)) from error
        except OSError as error:
            raise ToolError(f"The session cannot be read: {problem(error)}.") from error
        return ToolOutput.of(present(found, time_zone=turn.time_zone, around=call.line))

    return [
        TypedTool(
            name="sessions_search",
            description="Find the exact words of earlier conversations, which notes may not hold.",
            arguments=SearchArguments,
            action=search,
        ),
        TypedTool(
            name="sessions_history",
            description="Read what was said in a conversation, such as around a line that was found.",
            arguments=HistoryArguments,
            action=history,
        ),
    ]


def present(history: History, *, time_zone: str, around: int | None, most: int = HISTORY_CHARS) -> str:
    """A line for each piece under one that says what it is; what is too much goes from the far end, which is
    the older one, unless they stand around a line."""
    rows = [(piece.line, _row(piece, time_zone)) for piece in history.pieces]
    earlier, later = history.earlier, history.later
    while len(rows) > 1 and sum(len(row) + 1 for _, row in rows) > most:
        if around is None or around - rows[0][0] >= rows[-1][0] - around:
            rows, earlier = rows[1:], earlier + 1
        else:
            rows, later = rows[:-1], later + 1
    name = f"{history.key}, {history.session}" if history.key else history.session
    more = "".join(f"; {count} {word}" for count, word in ((earlier, "earlier"), (later, "later")) if count)
    if not rows:
        return f"[{name}: nothing was said]"
    return "\n".join([f"[{name}: lines {rows[0][0]}-{rows[-1][0]}{more}]", *(row for _, row in rows)])


def _row(piece: Piece, time_zone: str) -> str:
    text = shortened(piece.text, PIECE_CHARS)
    return f"{piece.line} {_local(piece.at, time_zone)} {piece.role}: {text}"


def _hit(archive: Archive, one: Found, time_zone: str) -> JsonObject:
    key = archive.key_of(one.session)
    return {
        **({"session": str(key)} if key else {}),
        "id": one.session,
        "at": _local(datetime.fromtimestamp(one.at, ZoneInfo("UTC")), time_zone),
        "role": one.role,
        "line": one.line,
        "snippet": one.snippet,
    }


def _local(at: datetime, time_zone: str) -> str:
    return at.astimezone(ZoneInfo(time_zone)).strftime("%Y-%m-%d %H:%M")
