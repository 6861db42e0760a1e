"""How long a Telegram channel waits for what."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """All in seconds. A poll that finds nothing lasts `poll`; when none has completed for `silence`, the
    connections are replaced, and their end is waited for no longer than `teardown`. After a failure the
    waits grow from `first_wait` by `growth` to `longest_wait`. `album`: how long the next part of an album
    may take, while which polls come every `hurried`. How the bot stands in groups is asked every `look`, and
    after `look_again` where that was not answered."""

    poll: int = 30
    silence: float = 120
    teardown: float = 15
    first_wait: float = 2
    longest_wait: float = 30
    growth: float = 1.8
    album: float = 0.5
    hurried: float = 0.1
    answer: float = 20
    connect: float = 10
    webhook_check: float = 300
    look: float = 86_400
    look_again: float = 300

    def wait(self, failures: int) -> float:
        """After so many failures in a row, the first being 0."""
        return min(self.first_wait * self.growth ** min(failures, 50), self.longest_wait)
