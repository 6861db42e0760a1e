"""The same as load.py for a given time: whether memory and lag stay as they were at its beginning."""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from rich.console import Console

from bench.load import measure, table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--delay-ms", type=int, default=500)
    parser.add_argument("--think", type=float, default=10.0)
    given = parser.parse_args()
    end = time.monotonic() + given.minutes * 60
    with tempfile.TemporaryDirectory() as folder:
        seen = asyncio.run(
            measure(
                Path(folder),
                sessions=given.sessions,
                think=given.think,
                delay_ms=given.delay_ms,
                until=lambda _: time.monotonic() > end,
            )
        )
    title = f"{given.minutes:g} minutes, {given.sessions} people, thinking {given.think:g} s"
    Console().print(table(title, seen, given.delay_ms))


if __name__ == "__main__":
    main()
