"""Random values for property tests: JSON, messages, entries, and conversations that need repair."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from sessions.entries import (
    Body,
    BranchSummary,
    Compacted,
    Custom,
    CustomMessage,
    Entry,
    ModelChanged,
    Said,
    Unknown,
)
from sessions.messages import (
    Assistant,
    Cost,
    Image,
    Json,
    JsonObject,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    User,
)
from sessions.strict import strict_entry
from tests.sessions.making import AT, chain

STOPS: list[StopReason] = ["stop", "length", "toolUse", "error", "aborted"]

texts = st.text(max_size=12)
signatures = st.none() | texts
jsons: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects: st.SearchStrategy[JsonObject] = st.dictionaries(texts, jsons, max_size=3)
times = st.integers(0, 4_000_000_000_000).map(
    lambda ms: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
)
counts = st.integers(0, 10**9)
dollars = st.floats(0, 1e6)

text_parts = st.builds(Text, text=texts, signature=signatures)
images = st.builds(Image, data=texts, mime_type=texts)
thinkings = st.builds(Thinking, text=texts, signature=signatures, redacted=st.booleans())
calls = st.builds(ToolCall, id=texts, name=texts, arguments=objects, signature=signatures)
costs = st.builds(Cost, input=dollars, output=dollars, cache_read=dollars, cache_write=dollars, total=dollars)
usages = st.builds(
    Usage,
    input=counts,
    output=counts,
    cache_read=counts,
    cache_write=counts,
    cost=st.none() | costs,
)
seen_parts = st.lists(text_parts | images, max_size=3).map(tuple)
messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(User, at=times, parts=seen_parts, envelope=texts),
    st.builds(
        Assistant,
        at=times,
        parts=st.lists(text_parts | thinkings | calls, max_size=4).map(tuple),
        stop=st.sampled_from(STOPS),
        provider=texts,
        api=texts,
        model=texts,
        usage=usages,
        error=st.none() | texts,
    ),
    st.builds(
        ToolResult,
        at=times,
        call_id=texts,
        name=texts,
        parts=seen_parts,
        is_error=st.booleans(),
        details=st.none() | objects,
    ),
)
unknowns = st.builds(
    lambda raw, kind: Unknown(
        raw={**{k: v for k, v in raw.items() if k not in ("id", "parentId", "timestamp")}, "type": kind}
    ),
    objects,
    st.sampled_from(["label", "session_info", "thinking_level_change", "kind_of_2031"]),
)
bodies: st.SearchStrategy[Body] = st.one_of(
    st.builds(Said, message=messages),
    st.builds(
        Compacted, summary=texts, first_kept_id=texts, tokens_before=counts, details=st.none() | objects
    ),
    st.builds(BranchSummary, from_id=texts, summary=texts),
    st.builds(ModelChanged, provider=texts, model=texts),
    st.builds(
        CustomMessage, kind=texts, parts=seen_parts, display=st.booleans(), details=st.none() | objects
    ),
    st.builds(Custom, kind=texts, data=objects),
    unknowns,
)
entries = st.builds(Entry, id=texts, parent_id=st.none() | texts, at=times, body=bodies)

# Few ids and many blanks, so that calls and results meet, repeat and miss each other.
_few_ids = st.sampled_from(["A", "B", "C"])
_few_texts = st.sampled_from(["", " ", "\n\t", "yes", "no"])
_few_parts = st.builds(Text, text=_few_texts)
_few_calls = st.builds(ToolCall, id=_few_ids, name=st.just("read"), arguments=st.just({}))
conversations: st.SearchStrategy[list[Message]] = st.lists(
    st.one_of(
        st.builds(User, at=st.just(AT), parts=st.lists(_few_parts, max_size=2).map(tuple)),
        st.builds(
            Assistant,
            at=st.just(AT),
            parts=st.lists(_few_parts | _few_calls | st.builds(Thinking, text=_few_texts), max_size=4).map(
                tuple
            ),
            stop=st.sampled_from(STOPS),
            provider=st.just("fake"),
            api=st.just("fake"),
            model=st.just("fake-1"),
        ),
        st.builds(
            ToolResult,
            at=st.just(AT),
            call_id=_few_ids,
            name=st.just("read"),
            parts=st.lists(_few_parts, max_size=2).map(tuple),
        ),
    ),
    max_size=14,
)
_steps: st.SearchStrategy[Body] = st.one_of(
    conversations.filter(bool).map(lambda messages: Said(message=messages[0])),
    st.builds(
        Compacted,
        summary=_few_texts,
        first_kept_id=st.integers(0, 12).map(lambda number: f"{number:08x}"),
        tokens_before=st.just(9),
    ),
    st.builds(BranchSummary, from_id=st.just("root"), summary=_few_texts),
    st.builds(
        CustomMessage,
        kind=st.just("note"),
        parts=st.lists(_few_parts, max_size=2).map(tuple),
        display=st.just(True),
    ),
    st.builds(Custom, kind=st.just("clawd.x"), data=st.just({})),
    st.builds(strict_entry, everything=st.booleans()),
)
histories: st.SearchStrategy[list[Entry]] = st.lists(_steps, max_size=12).map(chain)
