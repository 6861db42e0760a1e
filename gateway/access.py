"""Who may speak to whom: settings, pairings and what was overheard, asked once for every message."""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import timedelta

from agents.conversation import in_thread
from agents.turn import Trust
from channels.access import People, Standing, Verdict, admits, authorise, main_name
from channels.account import AccountSettings
from channels.history import GroupHistory, Notes, Overheard
from channels.loops import LoopGuard
from channels.mentions import Mentions, mentions_of
from channels.message import Address, ChatChanged, Edited, InboundMessage, Reaction, Sender
from channels.peer import canonical_peer
from channels.settings import ChannelsSettings
from gateway.admission import Admission
from gateway.envelope import beside, label_of
from gateway.mailbox import QueueSettings
from gateway.pairing import PairingStore
from gateway.routing import Route, Routes, route

DEFAULT_ACK = "👀"
MAX_COMPILED = 64
OWN_CHATS = ("telegram", "whatsapp")

_TRUST: Mapping[Standing, Trust] = {"owner": "owner", "known": "known", "group": "group", "unknown": "guest"}

logger = logging.getLogger("clawd.access")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRules:
    """What the configuration says. `names` gives the names that an agent is called by, as they are now."""

    channels: ChannelsSettings
    routes: Routes
    time_zone: str
    names: Callable[[str], Sequence[str]]


class Access:
    """The gateway's door. `command` is what a person types before `pairing approve`. It is asked on the
    event loop; what writes to disk runs in `executor`."""

    def __init__(
        self, rules: AccessRules, store: PairingStore, *, executor: Executor, command: str = "clawd"
    ) -> None:
        self.store = store
        self._executor = executor
        self._command = command
        self._history = GroupHistory()
        self._notes = Notes()
        self._loops = LoopGuard()
        self._own: dict[tuple[str, str], frozenset[str]] = {}
        self._mentions: dict[tuple[tuple[str, ...], tuple[str, ...]], Mentions] = {}
        self._warned: set[str] = set()
        self._rules = rules
        self.change(rules)

    def change(self, rules: AccessRules) -> None:
        """Other settings hold from now on. Entries that match nobody are told once."""
        self._rules = rules
        self._mentions.clear()
        for stray in rules.channels.strays():
            self._warn(stray)

    def introduce(self, channel: str, account: str, ids: Sequence[str]) -> None:
        """The ids that an account has itself, as its channel found out."""
        self._own[channel, account] = frozenset(canonical_peer(channel, one) for one in ids)

    def judge(self, message: InboundMessage, *, command: bool) -> Admission:
        """What becomes of a message. One of a group that is not meant for us is kept as context."""
        settings = self._account(message.address)
        if settings is None:
            return self._unknown_account(message)
        people = self._people(message.address)
        first = authorise(message.address, message.sender, settings, people)
        where = self._route(message.address, message.sender, first)
        mentioned = self._mentioned(message, settings, where.agent) if first.kind == "admitted" else False
        verdict = admits(message, settings, people, mentioned=mentioned, command=command)
        if verdict.observe:
            self._history.note(message, limit=verdict.history_limit)
        kind, rule = verdict.kind, verdict.rule
        if kind == "admitted" and message.sender.is_bot and not self._bears(message):
            kind, rule = "ignored", "the guard against loops of bots (20 messages in 60 s)"
        meant = message.addressed or mentioned or command
        logger.debug("%s of %s: %s by %s", kind, message.address.channel, verdict.said, rule)
        return Admission(
            kind=kind,
            rule=rule,
            key=where.key,
            trust=_TRUST[verdict.standing],
            label="" if where.key.private else label_of(message.sender.name, message.sender.id),
            ack=_ack(message.address, settings, meant=meant),
            ack_goes=settings.ack_reaction.remove_after_reply,
            typing=settings.typing if meant or settings.typing == "never" else "message",
            live_view=settings.live_view,
            queue=self._queue(settings),
        )

    def _queue(self, settings: AccountSettings) -> QueueSettings:
        queue = self._rules.channels.queue
        debounce = timedelta(milliseconds=settings.debounce_ms)
        return QueueSettings(mode=queue.mode, cap=queue.cap, drop=queue.drop, debounce=debounce)

    def knows(self, address: Address, sender: Sender) -> Trust | None:
        """How far somebody is trusted who pressed, edited or reacted; None when they may not."""
        settings = self._account(address)
        if settings is None:
            return None
        verdict = authorise(address, sender, settings, self._people(address))
        return _TRUST[verdict.standing] if verdict.kind == "admitted" else None

    def is_owner(self, address: Address, sender: Sender) -> bool:
        """Whether that person speaks there as an owner."""
        return self.knows(address, sender) == "owner"

    def hears(self, reaction: Reaction) -> bool:
        """Whether an agent is to know of this reaction."""
        settings = self._account(reaction.address)
        if (
            settings is None
            or settings.reactions == "off"
            or not self.knows(reaction.address, reaction.sender)
        ):
            return False
        return settings.reactions == "all" or reaction.own

    def verdict(self, address: Address, sender: Sender) -> Verdict | None:
        """Who this is, before what they say; None when there is no such account."""
        settings = self._account(address)
        return None if settings is None else authorise(address, sender, settings, self._people(address))

    def context(self, message: InboundMessage) -> str:
        """What was said beside the conversation and belongs in front of the message; it is used up."""
        verdict = self.verdict(message.address, message.sender)
        others = verdict is not None and verdict.quotes
        quoted = message.quoted if message.quoted is not None and (others or message.quoted.own) else None
        return beside(
            time_zone=self._rules.time_zone,
            overheard=self._overheard(message),
            events=self._notes.take(message.address),
            asides=message.asides if others else (),
            quoted=quoted,
        )

    def _overheard(self, message: InboundMessage) -> list[Overheard]:
        """A thread that begins under this message knows what was said above it, and so does the next one."""
        address = message.address
        begins = address.parent and address.thread == message.id
        above = replace(address, chat=address.parent, thread="", parent="")
        return [*(self._history.look(above) if begins else ()), *self._history.take(address)]

    def system_prompt(self, address: Address, sender: Sender) -> str | None:
        """What the settings of a group or topic tell the agent."""
        verdict = self.verdict(address, sender)
        return verdict.system_prompt if verdict is not None else None

    def note(self, address: Address, text: str) -> None:
        """Something that happened in a chat and is told with its next message."""
        self._notes.note(address, text)

    def corrected(self, event: Edited) -> None:
        """A person changed a message; where it is kept as context, its new text stands."""
        self._history.correct(event)

    async def invite(self, message: InboundMessage) -> str | None:
        """What a stranger is told; None when they have been told already, or too many wait."""
        address, sender = message.address, message.sender
        who = main_name(address.channel, sender)
        code = await in_thread(
            self._executor, lambda: self.store.request(address.channel, address.account, who, sender.name)
        )
        return None if code is None else invitation(who, code, self._command)

    def announcements(self, message: InboundMessage) -> list[tuple[Address, str]]:
        """What the owners are told of a stranger who was invited, and where: without the code, on the same
        account, on platforms where a person's id is the address of their direct chat."""
        address, who = message.address, main_name(message.address.channel, message.sender)
        waiting = [one for one in self.store.pending() if (one.channel, one.sender) == (address.channel, who)]
        if not waiting or address.channel not in OWN_CHATS:
            return []
        text = announcement(
            label_of(message.sender.name, who), address.channel, waiting[-1].id, self._command
        )
        account = (address.channel, address.account)
        return [(one, text) for one in self.owner_chats() if (one.channel, one.account) == account]

    def owner_chats(self) -> list[Address]:
        """Where the owners can be written to unasked: on platforms where a person's id is the address of
        their direct chat."""
        owners = sorted(frozenset(self._rules.channels.owners) | self.store.owners())
        people = [owner.split(":", 1) for owner in owners]
        return [
            Address(channel=channel, account=account, chat=person, kind="direct")
            for channel, account in self._rules.channels.accounts
            for platform, person in people
            if platform == channel and channel in OWN_CHATS
        ]

    async def moved(self, event: ChatChanged) -> None:
        """A group has a new id; its settings, bindings and session stay. Raises Refused, OSError."""
        if event.moved_to:
            place, new = event.address, event.moved_to
            await in_thread(
                self._executor,
                lambda: self.store.chat_moved(place.channel, place.account, old=place.chat, new=new),
            )

    def _account(self, address: Address) -> AccountSettings | None:
        return self._rules.channels.accounts.get((address.channel, address.account))

    def _people(self, address: Address) -> People:
        channel, account = address.channel, address.account
        return People(
            paired=self.store.paired(channel, account),
            owners=frozenset(self._rules.channels.owners) | self.store.owners(),
            own=self._own.get((channel, account), frozenset()),
            moved=self.store.moved(channel, account),
        )

    def _route(self, address: Address, sender: Sender, verdict: Verdict) -> Route:
        moved = self.store.moved(address.channel, address.account)
        return route(address, sender, verdict, self._rules.routes, moved)

    def _unknown_account(self, message: InboundMessage) -> Admission:
        address = message.address
        nobody = Verdict(kind="ignored", standing="unknown", rule="", said="")
        rule = f"channels.{address.channel}.accounts.{address.account} (there is no such account)"
        return Admission(kind="ignored", rule=rule, key=self._route(address, message.sender, nobody).key)

    def _mentioned(self, message: InboundMessage, settings: AccountSettings, agent: str) -> bool:
        if message.address.kind == "direct" or message.addressed:
            return False
        wanted = (settings.mention_patterns, tuple(self._rules.names(agent)))
        mentions = self._mentions.get(wanted)
        if mentions is None:
            if len(self._mentions) >= MAX_COMPILED:
                self._mentions.clear()
            mentions = self._mentions[wanted] = mentions_of(*wanted)
            for problem in mentions.problems:
                self._warn(
                    f"channels.{message.address.channel}.accounts.{message.address.account}: {problem}"
                )
        return mentions.matches(message.text)

    def _bears(self, message: InboundMessage) -> bool:
        pair = (message.address.channel, message.address.account, message.sender.id)
        return self._loops.allows(pair, message.at)

    def _warn(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            logger.warning("%s", text)


def invitation(sender: str, code: str, command: str) -> str:
    """What a stranger is told once."""
    return (
        "I do not know you yet, so I did not read this message. Whoever runs me can let you in with:\n\n"
        f"{command} pairing approve {code}\n\n"
        f"The code holds for one hour. Your id here is {sender}."
    )


def announcement(who: str, channel: str, request: str, command: str) -> str:
    """What an owner is told of a stranger."""
    return (
        f"{who} asks on {channel} to be let in, and was given a code. If you know them, ask them for it and "
        f"run `{command} pairing approve CODE`; if not, `{command} pairing deny {request}`, or do nothing."
    )


def _ack(address: Address, settings: AccountSettings, *, meant: bool) -> str | None:
    scope = settings.ack_reaction.scope
    if address.kind == "direct":
        wanted = scope in ("direct", "all")
    else:
        wanted = scope in ("group_all", "all") or (scope == "group_mentions" and meant)
    return (settings.ack_reaction.emoji or DEFAULT_ACK) if wanted else None
