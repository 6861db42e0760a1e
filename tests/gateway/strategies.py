"""Events and deliveries of every shape, for properties."""

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import strategies as st

from channels.message import (
    Address,
    Aside,
    Attachment,
    ChatChanged,
    Choice,
    Edited,
    Inbound,
    InboundMessage,
    OutboundFile,
    Pressed,
    Quoted,
    Reaction,
    Sender,
)
from gateway.deliveries import Delivery, Part

AT = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
times = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
addresses = st.builds(
    Address,
    channel=st.sampled_from(["telegram", "discord"]),
    account=texts,
    chat=texts,
    kind=st.sampled_from(["direct", "group"]),
    thread=texts,
    parent=texts,
    space=texts,
)
senders = st.builds(
    Sender, id=texts, name=texts, is_bot=st.booleans(), aliases=st.tuples(texts), roles=st.tuples(texts)
)
attachments = st.builds(
    Attachment,
    kind=st.sampled_from(["image", "voice", "document"]),
    ref=texts,
    name=texts,
    mime=texts,
    size=st.none() | st.integers(0, 1 << 40),
    seconds=st.none() | st.floats(0, 1e6),
)
quotes = st.builds(Quoted, id=texts, sender=texts, text=texts, own=st.booleans())
asides = st.builds(Aside, label=texts, text=texts)
messages = st.builds(
    InboundMessage,
    id=texts,
    address=addresses,
    sender=senders,
    text=texts,
    at=times,
    addressed=st.booleans(),
    names_others=st.booleans(),
    attachments=st.lists(attachments, max_size=2).map(tuple),
    quoted=st.none() | quotes,
    asides=st.lists(asides, max_size=2).map(tuple),
    missed=st.booleans(),
)
events: st.SearchStrategy[Inbound] = st.one_of(
    messages,
    st.builds(Edited, id=texts, address=addresses, sender=senders, text=texts, at=times),
    st.builds(
        Reaction,
        id=texts,
        address=addresses,
        sender=senders,
        message_id=texts,
        emoji=texts,
        added=st.booleans(),
        at=times,
        own=st.booleans(),
    ),
    st.builds(Pressed, id=texts, address=addresses, sender=senders, message_id=texts, data=texts, at=times),
    st.builds(ChatChanged, id=texts, address=addresses, at=times, moved_to=texts, gone=texts),
)
files = st.builds(
    OutboundFile,
    path=st.just(Path("/m/a.png")),
    name=texts,
    kind=st.sampled_from(["image", "document"]),
    mime=texts,
)
choices = st.builds(Choice, label=texts, data=texts, style=st.sampled_from(["plain", "good", "bad"]))
parts = st.builds(
    Part,
    text=texts,
    plain=texts,
    files=st.lists(files, max_size=2).map(tuple),
    choices=st.lists(st.lists(choices, max_size=2).map(tuple), max_size=2).map(tuple),
)
deliveries = st.builds(
    Delivery,
    key=texts,
    address=addresses,
    at=times,
    parts=st.lists(parts, max_size=3).map(tuple),
    reply_to=st.none() | texts,
    sent=st.lists(texts, max_size=3).map(tuple),
    shown=st.lists(texts, max_size=3).map(tuple),
    doubtful=st.booleans(),
    said=texts,
    state=st.sampled_from(["live", "waiting", "dead"]),
    why=texts,
)


def message(number: int = 1, text: str = "hello", **more: object) -> InboundMessage:
    """A direct message of the person 42 on Telegram."""
    chosen = {
        "id": str(number),
        "address": Address(channel="telegram", account="default", chat="42", kind="direct"),
        "sender": Sender(id="42", name="Ana"),
        "text": text,
        "at": AT,
    } | more
    return InboundMessage(**chosen)  # type: ignore[arg-type]
