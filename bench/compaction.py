"""What ten compactions leave of 200 facts in 3,000 turns: python bench/compaction.py [--turns N]

The whole agent runs; only its model is scripted, once as one that writes nothing down and knows nothing, once
as one that notes and summarises part of it. A fact is found when all of its words that matter stand in one
passage of what the model sees at the end (summary and kept part) or of a memory note. Facts are names, paths,
rules, decisions and tasks, said by the person or the model, or found by a tool and told by the model.
"""

import argparse
import asyncio
import logging
import random
import re
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))

from agents.framing import overhead_of
from agents.model.provider import ContextOverflow, Done, ModelEvent, ModelRequest
from agents.tools.tool import Arguments, ToolOutput, TypedTool
from agents.turn import Turn
from agents.workspace import Workspace
from bench.agent import WINDOW, ZONE, agent
from bench.month import BEGIN, Month
from sessions.context import ContextView
from sessions.entries import Compacted
from sessions.key import SessionKey
from sessions.limits import tokens_of
from sessions.messages import Assistant, Message, Text, ToolCall, Usage, User, text_of
from sessions.settings import SessionsSettings
from sessions.silence import NO_REPLY
from sessions.summary import HEADINGS, IDENTIFIERS

FACTS, MAIN = 200, SessionKey(agent="main", kind="main")
MODELS = (("notes nothing, summarises nothing", 0.0), ("half of it", 0.5), ("nearly all", 0.95))
SAID = {
    "name": "The spare part for boat {n} has the number PX-{n:04}-{k}.",
    "path": "The plan of deck {n} lies at plans/deck-{n}/{k}/sheet-{n}.pdf.",
    "rule": "Never call the keeper of lock {n} before nine without asking {who}.",
    "decision": "We decided that boat {n} gets {wood} planks instead of pine.",
    "task": "Remind me to send the {wood} invoice for berth {n} to {who}.",
}
WHO = ("Ana Prates", "Bo Lindqvist", "Carla Neves", "Dirk Maas", "Eve Okafor", "Femi Balogun", "Gil Serra")
WOOD = ("larch", "oak", "teak", "cedar", "ash", "elm", "walnut", "cherry")


@dataclass(frozen=True, slots=True)
class Fact:
    """`said` by the person, the model or a tool in its turn; `words` are what must be found of it, in one
    passage."""

    number: int
    turn: int
    kind: str
    by: str
    said: str
    words: tuple[str, ...]

    def is_in(self, passages: Iterable[str]) -> bool:
        return any(all(word in passage for word in self.words) for passage in passages)


def planted(turns: int) -> list[Fact]:
    draw = random.Random(4)  # noqa: S311 (the same facts each time)
    facts = []
    for number in range(FACTS):
        kind = tuple(SAID)[number % len(SAID)]
        facts_of: dict[str, str | int] = {
            "n": 300 + number * 3,
            "k": draw.randrange(16**4, 16**5),
            "who": draw.choice(WHO),
            "wood": draw.choice(WOOD),
        }
        used = [str(value) for name, value in facts_of.items() if "{" + name in SAID[kind]]
        by = draw.choice(("person", "model", "tool")) if kind in ("name", "path") else "person"
        turn = number * turns // FACTS + draw.randrange(turns // FACTS)
        facts.append(Fact(number, turn, kind, by, SAID[kind].format(**facts_of), tuple(used)))
    return facts


@dataclass(slots=True)
class Keeper:
    """Implements ModelProvider: it talks, and keeps `share` of the facts that it can see when it is asked to
    save or to summarise."""

    month: Month
    facts: dict[int, Fact]
    share: float
    now: datetime = BEGIN
    name: str = "scripted"
    turn: int = 0
    asked: int = 0
    sizes: dict[int, int] = field(default_factory=dict)

    def clock(self) -> datetime:
        return self.now

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asked += 1
        self.now += timedelta(seconds=3)
        prompt = overhead_of(request) + sum(map(self._size, request.messages))
        if prompt > WINDOW:
            raise ContextOverflow(f"{prompt} tokens are more than {WINDOW}")
        part = self._answer(request)
        yield Done(
            message=Assistant(
                at=self.now,
                parts=(part,),
                stop="toolUse" if isinstance(part, ToolCall) else "stop",
                provider=self.name,
                api="scripted",
                model=request.model,
                usage=Usage(input=prompt, output=400),
            )
        )

    async def aclose(self) -> None:
        """Nothing is held."""

    def _size(self, message: Message) -> int:
        """As `tokens_of`, counted once for each message."""
        if id(message) not in self.sizes:
            self.sizes[id(message)] = tokens_of(message)
        return self.sizes[id(message)]

    def _answer(self, request: ModelRequest) -> Text | ToolCall:
        newest = request.messages[-1]
        words = text_of(newest.parts) if isinstance(newest, User) else ""
        if "Use exactly these headings" in words or words.startswith("The summary is not complete"):
            kept = "\n".join(f"- {said}" for said in self._kept(request)) or "- we talked of boats"
            return Text(
                text="\n\n".join(f"## {h}\n{kept if h == IDENTIFIERS else '(nothing)'}" for h in HEADINGS)
            )
        if f"answer {NO_REPLY}" in words:
            path = re.search(r"memory/\d{4}-\d\d-\d\d\.md", words)
            saved = "\n".join(self._kept(request))
            if path and saved:
                note = {"path": path[0], "mode": "append", "content": saved}
                return ToolCall(id=f"c{self.asked}", name="write", arguments={**note})
            return Text(text=NO_REPLY)
        fact = self.facts.get(self.turn)
        if isinstance(newest, User) and (self.turn % 7 == 0 or (fact and fact.by == "tool")):
            return ToolCall(id=f"c{self.asked}", name="look", arguments={"turn": self.turn})
        said = fact.said if fact and fact.by != "person" else ""
        return Text(text=self.month.text(f"{said} In answer {self.turn}.", 1_400))

    def _kept(self, request: ModelRequest) -> list[str]:
        seen = "\n".join(text_of(message.parts) for message in request.messages)
        draw = random.Random(self.asked)  # noqa: S311 (the same each time)
        return [fact.said for fact in self.facts.values() if fact.said in seen and draw.random() < self.share]


class Look(Arguments):
    turn: int


@dataclass(frozen=True, slots=True)
class Kept:
    """At the end of a conversation: lines that the model sees, those that result_get gives it back, and those
    of its notes."""

    compactions: int
    seen: tuple[str, ...]
    fetched: tuple[str, ...]
    notes: tuple[str, ...]
    tokens: int


def lines_of(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        yield from text_of(message.parts).splitlines()


async def talk(keeper: Keeper, turns: int, place: Path, executor: ThreadPoolExecutor) -> Kept:
    workspace = Workspace(place / "workspace")
    workspace.ensure(BEGIN.date())

    async def look(call: Look, _turn: Turn) -> ToolOutput:
        fact = keeper.facts.get(call.turn)
        said = f"Found: {fact.said}\n" if fact and fact.by == "tool" else ""
        listed = "\n".join(f"files/{call.turn}/note-{n}.txt" for n in range(5))
        return ToolOutput.of(f"{said}{listed}\n{keeper.month.text(f'page {call.turn}', 4_000)}")

    runtime = agent(
        keeper,
        workspace,
        executor,
        clock=keeper.clock,
        tools=[TypedTool(name="look", description="Look.", arguments=Look, action=look)],
        sessions=SessionsSettings.model_validate({"start_notes": {"enabled": False}}),
    )
    for number in range(turns):
        keeper.turn = number
        keeper.now += timedelta(seconds=600 if number % 40 == 0 else 40)
        turn = Turn(key=MAIN, session_id="s1", sender="owner", trust="owner", at=keeper.now, time_zone=ZONE)
        fact = keeper.facts.get(number)
        said = fact.said if fact and fact.by == "person" else ""
        text = keeper.month.text(f"{said} This is message {number}.", 500)
        asked = User(at=turn.at, parts=(Text(text=text),), envelope="[owner] ")
        outcome = await runtime.respond(turn, asked, on_event=lambda _: None)
        if outcome.due:
            await runtime.maintain(turn)
    entries = await runtime.conversations.entries("s1")
    runtime.conversations.close()
    view = ContextView(entries)
    notes = (path.read_text(encoding="utf-8") for path in (workspace.root / "memory").glob("*.md"))
    return Kept(
        compactions=sum(isinstance(entry.body, Compacted) for entry in entries),
        seen=tuple(lines_of(view.messages)),
        fetched=tuple(lines_of(view.untrimmed)),
        notes=tuple(line for note in notes for line in note.splitlines()),
        tokens=sum(map(tokens_of, view.messages)),
    )


def row(name: str, share: float, turns: int) -> tuple[str, ...]:
    begun = time.perf_counter()
    logging.disable()
    facts = planted(turns)
    keeper = Keeper(Month(4, days=1), {fact.turn: fact for fact in facts}, share)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
        kept = asyncio.run(talk(keeper, turns, Path(folder), executor))
    left, counts = list(facts), []
    for passages in (kept.seen, kept.fetched, kept.notes):
        missing = [fact for fact in left if not fact.is_in(passages)]
        counts.append(len(left) - len(missing))
        left = missing
    lost = [f"{fact.kind} by {fact.by}" for fact in left]
    told = ", ".join(f"{lost.count(kind)} {kind}" for kind in sorted(set(lost))) or "none"
    found, seconds = f"{FACTS - len(lost)} of {FACTS}", f"{time.perf_counter() - begun:.0f}"
    return (name, str(kept.compactions), f"{kept.tokens:,}", *map(str, counts), found, told, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3_000)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    table = Table(title=f"{FACTS} facts in {chosen.turns:,} turns, window {WINDOW:,}")
    columns = ("the model", "compactions", "tokens", "seen", "by result_get", "in notes", "found", "lost")
    for column in (*columns, "seconds"):
        table.add_column(column, justify="left" if column in ("the model", "lost") else "right")
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for one in [pool.submit(row, name, share, chosen.turns) for name, share in MODELS]:
            table.add_row(*one.result())
    Console(width=130).print(table)
    print("Aims: 10 compactions or more, 200 of 200 found.")


if __name__ == "__main__":
    main()
