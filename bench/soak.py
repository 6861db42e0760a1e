"""The same as load.py for a given time: whether memory and lag stay as they were at its beginning."""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from rich.console import Console

from bench.load import Seen, measure, percentile, table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--delay-ms", type=int, default=500)
    parser.add_argument("--think", type=float, default=35.0, help="with 200 people, 20,000 turns an hour")
    given = parser.parse_args()
    console, told = Console(), 0

    def tell(seen: Seen) -> None:
        nonlocal told
        over = [wait * 1000 - given.delay_ms for wait in seen.waits[told:]]
        told = len(seen.waits)
        console.print(
            f"{len(seen.memory) // 60:>3} min  {told:>7,} turns  overhead of this minute: "
            f"p50 {percentile(over, 0.5):.0f} ms, p95 {percentile(over, 0.95):.0f} ms  "
            f"memory {seen.memory[-1]:.0f} MB"
        )

    end = time.monotonic() + given.minutes * 60
    with tempfile.TemporaryDirectory() as folder:
        seen = asyncio.run(
            measure(
                Path(folder),
                sessions=given.sessions,
                think=given.think,
                delay_ms=given.delay_ms,
                until=lambda _: time.monotonic() > end,
                every_minute=tell,
            )
        )
    title = f"{given.minutes:g} minutes, {given.sessions} people, thinking {given.think:g} s"
    console.print(table(title, seen, given.delay_ms))


if __name__ == "__main__":
    main()
