"""What a month of use costs with Anthropic's prompt cache: python bench/economy.py [--seed N] [--keep-warm N]

The whole agent runs (AgentRuntime, real transcripts, tools and workspace files in a temporary folder); only
the model is scripted, and an exact count of the vendor's cache stands behind it. All rows live the same month
and differ in one behaviour. Costs are in millions of base-input tokens: a cache write costs 1.25 (5 minutes)
or 2 (1 hour), a read 0.1, an answer 5. Every request of a turn that begins with a warm cache must extend the
one before it byte for byte, unless the transcript has a reason (the owner's edit, a compaction): else it ends
with an error. Beside the share of warm turns stands what could be cached at most, the rest being new; "sent
before" is the share read of those tokens in warm turns that the request before had as well.
"""

import argparse
import asyncio
import logging
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))

from agents.frame import CONTEXT
from agents.model.prices import Price
from agents.model.provider import CacheTtl
from agents.prompt import project_context
from agents.runtime import AgentRuntime
from agents.settings import AgentSettings
from agents.tools.tool import Arguments, Tool, ToolOutput, TypedTool
from agents.turn import Turn
from agents.warming import warmth
from agents.workspace import Workspace
from bench.agent import ZONE, agent
from bench.month import BEGIN, Asked, Month
from bench.vendor import WIRE, Lived, Vendor, Way
from sessions.entries import Compacted, Custom, Entry
from sessions.key import SessionKey
from sessions.messages import Text, User
from sessions.reset import is_stale, rule_for
from sessions.settings import NoteEvent, SessionsSettings

MAIN = SessionKey(agent="main", kind="main")
BEFORE = timedelta(seconds=45)
PRICE = Price(input=1, output=5, cache_read=0.1, cache_write=1.25, cache_write_1h=2)
TTLS: tuple[CacheTtl, ...] = ("5m", "1h")
REFERENCE = Way(name="the reference's behaviour", pruning=False, alike=True)
WAYS = (
    Way(name="clawd", checked=True),
    Way(name="clawd, pruning.aged off", aged=False, checked=True),
    Way(name="clawd, and pruning.gate on", gate=True, aged=False, checked=True),
    REFERENCE,
    Way(name="no pruning", pruning=False),
    Way(name="no caching", cached=False),
)


class Page(Arguments):
    page: str
    chars: int


@dataclass(slots=True)
class Life:
    """One agent through the month."""

    vendor: Vendor
    runtime: AgentRuntime
    workspace: Workspace
    daily: bool = True
    session: int = 1
    began: datetime = BEGIN
    turns: int = 0
    seen: int = 0
    compactions: int = 0
    refreshed: dict[str, int] = field(default_factory=dict)

    async def live(self) -> None:
        rule = rule_for(self.runtime.sessions.reset, MAIN, time_zone=ZONE)
        for asked in self.vendor.month.asked:
            vendor, night = self.vendor, vendor_night(self.vendor.now)
            until = max(vendor.now + asked.pause, asked.earliest)
            await self.wait(min(until, night) if self.daily else until)
            vendor.now = until
            if self.daily and self.turns and is_stale(self.began, None, vendor.now, rule):
                await self.end("daily", night)
            elif asked.new and self.turns:
                await self.end("new", vendor.now)
            if asked.owner_edit:
                with (self.workspace.root / "USER.md").open("a", encoding="utf-8") as file:
                    file.write(vendor.month.text(f"- owner {asked.number}", 100) + "\n")
                vendor.may_change = True
            await self.turn(asked)

    async def wait(self, until: datetime) -> None:
        """A pause, in which the cache may be renewed, as gateway/warmer.py does."""
        vendor, session = self.vendor, f"s{self.session}"
        for _ in range(vendor.way.kept_warm):
            held = warmth(await self.runtime.conversations.entries(session))
            due = held.ends - BEFORE if held else until
            if held is None or due >= until or held.ends <= vendor.now:
                return
            vendor.now = max(vendor.now, due)
            vendor.look()
            if await self.runtime.keep_warm(self._turn(vendor.now), lambda _provider, _model: PRICE):
                return

    async def turn(self, asked: Asked) -> None:
        vendor = self.vendor
        vendor.begin(asked)
        turn, text = self._turn(vendor.now), vendor.month.text(f"question {asked.number}", asked.chars)
        said = User(
            at=turn.at,
            parts=(Text(text=text),),
            envelope=f"[owner, {vendor.now:%A %Y-%m-%d %H:%M}] ",
        )
        outcome = await self.runtime.respond(turn, said, on_event=lambda _: None)
        if outcome.due:
            await self.runtime.maintain(turn)
        await self._look()
        self.turns += 1

    async def end(self, event: NoteEvent, at: datetime) -> None:
        now, self.vendor.now = self.vendor.now, at
        self.vendor.look()
        await self.runtime.end(self._turn(at), event)
        self.vendor.now = max(now, self.vendor.now)
        self.session, self.began, self.seen = self.session + 1, self.vendor.now, 0
        self.vendor.forget()

    async def _look(self) -> None:
        """What the transcript says of the turn."""
        entries = await self.runtime.conversations.entries(f"s{self.session}")
        for entry in entries[self.seen :]:
            self._take(entry)
        self.seen = len(entries)

    def _take(self, entry: Entry) -> None:
        if isinstance(entry.body, Compacted):
            self.compactions += 1
            self.vendor.may_change = True
        elif isinstance(entry.body, Custom) and entry.body.kind == CONTEXT:
            reason = str(entry.body.data["reason"]).split(":")[0]
            self.refreshed[reason] = self.refreshed.get(reason, 0) + 1

    def _turn(self, at: datetime) -> Turn:
        return Turn(
            key=MAIN, session_id=f"s{self.session}", sender="owner", trust="owner", at=at, time_zone=ZONE
        )


def vendor_night(after: datetime) -> datetime:
    """The next 04:00 of the owner's."""
    local = after.astimezone(ZoneInfo(ZONE))
    four = local.replace(hour=4, minute=0, second=0, microsecond=0)
    return four if four > local else four + timedelta(days=1)


def fetching(month: Month) -> Tool:
    """A tool that answers as many characters as it is asked for."""

    async def fetched(call: Page, _turn: Turn) -> ToolOutput:
        return ToolOutput.of(month.text(f"{call.page}.", call.chars))

    return TypedTool(name="fetch", description="Fetch a page.", arguments=Page, action=fetched)


def made(way: Way, ttl: CacheTtl | None, month: Month, place: Path, executor: ThreadPoolExecutor) -> Life:
    workspace = Workspace(place / "workspace")
    workspace.ensure(BEGIN.date())
    for name, chars in (("MEMORY.md", 6_000), ("USER.md", 2_000)):
        (workspace.root / name).write_text(month.text(name, chars) + "\n", encoding="utf-8")
    sizes = AgentSettings(id="main")

    def context() -> str:
        files = workspace.bootstrap(
            private=True,
            max_chars=sizes.bootstrap_max_chars,
            total_max_chars=sizes.bootstrap_total_max_chars,
        )
        return project_context(files)

    vendor = Vendor(month=month, way=way, ttl=ttl, fresh_context=context)
    mode = "cache_ttl" if way.pruning else "off"
    runtime = agent(
        vendor,
        workspace,
        executor,
        clock=vendor.clock,
        tools=[fetching(month)],
        sessions=SessionsSettings.model_validate(
            {"pruning": {"mode": mode, "gate": way.gate, "aged": {"enabled": way.aged}}}
        ),
        ttl=ttl,
        spelling=WIRE,
    )
    return Life(vendor=vendor, runtime=runtime, workspace=workspace)


def lived(way: Way, ttl: CacheTtl | None, month: Month, daily: bool) -> Lived:  # noqa: FBT001 (a process)
    logging.disable()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
        life = made(way, ttl if way.cached else None, month, Path(folder), executor)
        life.daily = daily
        asyncio.run(life.live())
        life.runtime.conversations.close()
    vendor = life.vendor
    return Lived(
        way=way,
        ttl=vendor.ttl,
        bill=vendor.bill,
        turns=life.turns,
        compactions=life.compactions,
        refreshed=life.refreshed,
        breaks=vendor.breaks,
    )


def table(ttl: CacheTtl, lives: Sequence[Lived], how: str) -> Table:
    table = Table(title=f"what a month costs, cache kept {ttl}, {how}")
    columns = ("", "prompts", "against ref.", "with answers", "against ref.", "cached: all", "warm turns")
    for column in (*columns, "sent before", "tokens/turn", "compactions"):
        table.add_column(column, justify="left" if not column else "right")
    reference = next(one for one in lives if one.way == REFERENCE)
    for one in lives:
        whole, other = one.cost + one.answers, reference.cost + reference.answers
        table.add_row(
            one.way.name,
            f"{one.cost / 1e6:.2f} M",
            f"{one.cost / reference.cost - 1:+.0%}",
            f"{whole / 1e6:.2f} M",
            f"{whole / other - 1:+.0%}",
            f"{one.share(warm=False):.1%}",
            f"{one.share(warm=True):.1%} of {one.most:.1%}" if one.way.cached else "-",
            f"{one.again:.1%}" if one.way.cached else "-",
            f"{one.tokens / one.turns:,.0f}",
            str(one.compactions),
        )
    return table


def details(console: Console, one: Lived) -> None:
    """Where the prompts' cost of a month lies."""
    origins = {asking.origin for asking in one.bill}
    parts = [
        f"{origin} {sum(a.origin == origin for a in one.bill):,} requests "
        f"{replace(one, bill=[a for a in one.bill if a.origin == origin]).cost / 1e6:.2f} M"
        for origin in sorted(origins)
    ]
    warm = replace(one, bill=[a for a in one.bill if a.warm and a.origin == "turn"]).cost / 1e6
    console.print(
        f"{one.way.name}, {one.ttl}: {one.turns:,} turns; {'; '.join(parts)}; warm turns {warm:.2f} M; "
        f"frames: {one.refreshed}; "
        + (f"warm requests that did not extend the last: {one.breaks}" if one.way.checked else "")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--no-daily", action="store_true", help="no daily reset: sessions end with /new only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep-warm", type=int, metavar="TIMES", help="only clawd, with and without it")
    parser.add_argument("--ttl", choices=TTLS, help="only this life of the cache")
    chosen = parser.parse_args()
    ways: Sequence[Way] = WAYS
    ttls: Sequence[CacheTtl] = (chosen.ttl,) if chosen.ttl else TTLS
    if chosen.keep_warm:
        ways = (WAYS[0], Way(name="clawd, kept warm", checked=True, kept_warm=chosen.keep_warm), REFERENCE)
    console, month = Console(width=160), Month(chosen.seed, chosen.days)
    with ProcessPoolExecutor(chosen.jobs) as pool:
        running = {
            (way, ttl): pool.submit(lived, way, ttl, month, not chosen.no_daily)
            for ttl in ttls
            for way in ways
            if way.cached or ttl == ttls[0]
        }
        lives = {key: future.result() for key, future in running.items()}
    how = f"{chosen.days} days, seed {chosen.seed}, " + (
        "no daily reset" if chosen.no_daily else "daily reset at 04:00"
    )
    for ttl in ttls:
        console.print(table(ttl, [lives.get((way, ttl), lives[way, ttls[0]]) for way in ways], how))
    for one in lives.values():
        details(console, one)
    console.print("Aims: at least 45 % under the reference's behaviour; at least 97 % cached on warm turns.")
    broken = sum(one.breaks for one in lives.values())
    if broken:
        sys.exit(f"{broken} warm requests did not extend the one before them")


if __name__ == "__main__":
    main()
