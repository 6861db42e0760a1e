"""How a turn looks in a terminal: text as it streams, finished paragraphs as Markdown, a line a tool."""

import json
import re
from contextlib import suppress
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.spinner import Spinner
from rich.text import Text

from agents.model.provider import TextDelta, ThinkingDelta
from agents.turn import Retrying, ToolFinished, ToolStarted, TurnEvent
from channels.settings import ConsoleSettings
from gateway.cli.output import clean
from sessions.messages import ToolCall, text_of

_PASSAGE = re.compile(r'"path":\s?"([^"\\]+)",\s?"start_line":\s?(\d+),\s?"end_line":\s?(\d+)')
_FENCE = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)
MOST_PASSAGES = 4


class Screen:
    """Shows the events of one turn. What is finished stays; only the last paragraph is drawn again.

    Use as a context manager around the turn; `end` says what the whole answer was.
    """

    def __init__(self, console: Console, settings: ConsoleSettings) -> None:
        self._console = console
        self._settings = settings
        self._open = ""
        self._shown = ""
        self._live = Live(console=console, transient=True, refresh_per_second=12, auto_refresh=True)

    def __enter__(self) -> Self:
        self._live.start()
        self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._live.stop()

    def on_event(self, event: TurnEvent) -> None:
        match event:
            case TextDelta():
                self._open += clean(event.text)
                self._settle(whole=False)
            case ToolStarted():
                self._settle(whole=True)
                if self._settings.show_tools:
                    self._line(called(event.call))
            case ToolFinished():
                self._found(event)
            case Retrying():
                self._open = ""
                wait = f" Trying again in {event.seconds:.0f} s." if event.seconds else ""
                self._line(f"{clean(event.reason)}{wait}")
            case ThinkingDelta():
                pass
        self._draw()

    def end(self, reply: str) -> None:
        """Print what is left of the answer, and all of it when it did not come as a stream."""
        self._live.stop()
        self._settle(whole=True)
        reply = clean(reply).strip()
        if reply and not _same(reply, self._shown):
            self._print(reply)

    def _found(self, event: ToolFinished) -> None:
        text = text_of(event.result.parts)
        if event.result.is_error:
            first = clean(text).strip().splitlines()[:1]
            self._line(f"  did not work: {first[0][:120] if first else 'no reason given'}")
        elif event.call.name == "memory_search":
            for passage in passages(text):
                self._line(f"  {passage}")

    def _settle(self, *, whole: bool) -> None:
        """Print finished paragraphs for good; a code block is finished when its fence is closed."""
        cut = len(self._open) if whole else _finished(self._open)
        done, self._open = self._open[:cut], self._open[cut:]
        if done.strip():
            self._print(done.strip("\n"))
            self._shown += done

    def _print(self, text: str) -> None:
        self._console.print(self._rendered(text))
        self._console.print()

    def _rendered(self, text: str) -> Markdown | Text:
        return Markdown(text) if self._settings.markdown else Text(text)

    def _line(self, text: str) -> None:
        self._console.print(Text(text, style="dim"), no_wrap=True, overflow="ellipsis")

    def _draw(self) -> None:
        waiting = Spinner("dots", style="dim")
        self._live.update(self._rendered(self._open) if self._open.strip() else waiting)


def called(call: ToolCall) -> str:
    """One line about a call: its name and its arguments, short."""
    values = [value if isinstance(value, str) else json.dumps(value) for value in call.arguments.values()]
    shown = " ".join(" ".join(value.split())[:80] for value in values)
    return clean(f"· {call.name} {shown}").rstrip()


def passages(result: str) -> list[str]:
    """Where a memory search found something, as path:first-last; the best few."""
    found = [f"{path}:{start}-{end}" for path, start, end in _PASSAGE.findall(clean(result))]
    more = len(found) - MOST_PASSAGES
    return [*found[:MOST_PASSAGES], *([f"and {more} more"] if more > 0 else [])]


def _finished(text: str) -> int:
    """How much of `text` ends with a blank line outside of any code block."""
    cut = 0
    for match in re.finditer(r"\n[ \t]*\n", text):
        if len(_FENCE.findall(text[: match.end()])) % 2 == 0:
            cut = match.end()
    return cut


def _same(reply: str, shown: str) -> bool:
    """Whether `shown` ends with the reply, blanks aside."""
    return "".join(shown.split()).endswith("".join(reply.split()))
