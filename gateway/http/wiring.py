"""What the HTTP surface is given beside the gateway; whatever is missing is refused with a clear text."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Protocol, TypeAlias

from agents.clock import Clock
from agents.tools.framing import framed
from gateway.approvals import Approvals
from gateway.channel_view import ChannelDesk
from gateway.deliveries import Delivery
from gateway.errands import Errands
from gateway.http.hub import Hub
from gateway.media.serving import SentFiles
from gateway.pairing import PairingStore
from sessions.messages import JsonObject

Frame: TypeAlias = Callable[[str, str, str], str]
"""A text from outside so framed that a model takes it for data: its source, the text, and a word that nobody
outside can know."""

Wake: TypeAlias = Callable[[str, bool], Awaitable[None]]
"""Give the main session a text to look at: now, or with the next heartbeat. Raises Refused."""


class Attachments(Protocol):
    async def store(self, name: str, mime: str, data: bytes) -> str:
        """A reference to the stored file, as channels.message.Attachment holds one. `name` and `mime` are
        what the caller says. Raises Refused."""


class OutboxView(Protocol):
    """gateway.outbox.Outbox."""

    def waiting(self) -> list[Delivery]: ...

    def dead_letters(self) -> list[Delivery]: ...


class Reviver(Protocol):
    """gateway.postman.Postman."""

    async def revive(self, key: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDesk:
    """What waits for the owner's word; `clock` says how long it still waits."""

    approvals: Approvals
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRules:
    """`token` None: there are no webhooks. `agents` empty: all of them may be asked."""

    token: str | None = None
    agents: Sequence[str] = ()
    per_minute: int = 60


NO_HOOKS = HookRules()


def outside(source: str, text: str, mark: str) -> str:
    """As agents/tools/framing frames it."""
    return framed(text, f"webhook {source}", boundary=mark)


def _numbers() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"run-{next(numbers)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """`hooks` is asked at every request, so that other rules hold at once. `facts` go into the status:
    version, running turns, channels, the state of the configuration."""

    hub: Hub = field(default_factory=Hub)
    new_id: Callable[[], str] = field(default_factory=_numbers)
    hooks: Callable[[], HookRules] = lambda: NO_HOOKS
    openai_api: bool = False
    attachments: Attachments | None = None
    outbox: OutboxView | None = None
    postman: Reviver | None = None
    frame: Frame = outside
    wake: Wake | None = None
    errands: Errands | None = None
    replay_age: timedelta = timedelta(hours=1)
    facts: Callable[[], JsonObject] = dict
    channels: ChannelDesk | None = None
    approvals: ApprovalDesk | None = None
    sent: SentFiles | None = None
    pairing: PairingStore | None = None
