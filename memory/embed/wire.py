"""What is asked of an embedding server, and what its answers mean: one class a wire, no I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from memory.embed.embedder import Kind
from memory.embed.faults import BadAnswer

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A request: `path` goes behind the server's address."""

    path: str
    body: dict[str, Json]


class Wire(Protocol):
    """`ask` gives one request for all texts, `answer` as many raw vectors in their order.

    `answer` raises BadAnswer for what is no such answer.
    """

    def ask(self, texts: Sequence[str], kind: Kind) -> Ask: ...

    def answer(self, body: Json, count: int) -> list[Json]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIWire:
    """POST /embeddings as OpenAI defined it and many servers speak it.

    `dims_key` is how the server spells the wanted number of dimensions; `extra` is sent as it stands;
    `input_types` is what `input_type` says of a kind, where the server knows it. `packed` asks for base64,
    a quarter of the bytes, of servers that can.
    """

    model: str
    dims: int | None = None
    dims_key: str = "dimensions"
    input_types: Mapping[Kind, str] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)
    packed: bool = False

    def ask(self, texts: Sequence[str], kind: Kind) -> Ask:
        body: dict[str, Json] = {"model": self.model, "input": list(texts), **self.extra}
        if self.packed:
            body["encoding_format"] = "base64"
        if self.dims is not None:
            body[self.dims_key] = self.dims
        if kind in self.input_types:
            body["input_type"] = self.input_types[kind]
        return Ask(path="/embeddings", body=body)

    def answer(self, body: Json, count: int) -> list[Json]:
        rows = member(body, "data")
        if not isinstance(rows, list):
            raise BadAnswer("it holds no list named data")
        placed: dict[int, Json] = {}
        for place, row in enumerate(rows):
            index = row.get("index", place) if isinstance(row, dict) else None
            if not isinstance(row, dict) or not isinstance(index, int) or index in placed:
                raise BadAnswer("its rows are not numbered")
            placed[index] = row.get("embedding")
        counted(len(rows), count)
        if placed.keys() != set(range(count)):
            raise BadAnswer("its rows are not numbered")
        return [placed[index] for index in range(count)]


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaWire:
    """POST /api/embed. `prefixes` stand before every text of a kind."""

    model: str
    dims: int | None = None
    prefixes: Mapping[Kind, str] = field(default_factory=dict)

    def ask(self, texts: Sequence[str], kind: Kind) -> Ask:
        prefix = self.prefixes.get(kind, "")
        body: dict[str, Json] = {"model": self.model, "input": [prefix + text for text in texts]}
        body["truncate"] = True
        if self.dims is not None:
            body["dimensions"] = self.dims
        return Ask(path="/api/embed", body=body)

    def answer(self, body: Json, count: int) -> list[Json]:
        rows = member(body, "embeddings")
        if not isinstance(rows, list):
            raise BadAnswer("it holds no list named embeddings")
        counted(len(rows), count)
        return rows


def member(body: Json, name: str) -> Json:
    return body.get(name) if isinstance(body, dict) else None


def counted(found: int, wanted: int) -> None:
    """Raises BadAnswer unless there are as many vectors as texts: a shift by one would be silent nonsense."""
    if found != wanted:
        raise BadAnswer(f"it gave {found} vectors for {wanted} texts")
