"""How long a Discord channel waits for what."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """All in seconds. `hello`: until the gateway greets; `ready`: until it has let us in; `silence`: without
    any word of it, after which the connection counts as dead. One that held for `steady` is taken up again
    at once; after a failure the waits grow from `first_wait` by `growth` to `longest_wait`. `identify`:
    before a session is begun anew; `guilds`: between two servers that are told at the start. `answer` is for
    a request, `look` for one that a message waits for, `teardown` for an orderly end. `missed_age` is how old
    a missed message may be. `saved`: how often what was seen is written down. `thinking`: how long a slash
    command may be shown as being worked on."""

    hello: float = 30
    ready: float = 30
    silence: float = 60
    steady: float = 10
    identify: float = 5
    guilds: float = 2
    first_wait: float = 1
    longest_wait: float = 30
    growth: float = 1.8
    answer: float = 90
    look: float = 5
    teardown: float = 5
    missed_age: float = 86_400
    saved: float = 2
    thinking: float = 25

    def wait(self, failures: int) -> float:
        """After so many failures in a row, the first being 0."""
        return min(self.first_wait * self.growth ** min(failures, 50), self.longest_wait)
