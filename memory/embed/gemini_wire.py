"""Google's Gemini API: texts and media to requests, answers to raw vectors."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory.embed.embedder import Kind
from memory.embed.faults import BadAnswer
from memory.embed.media import MediaPart, sees_media
from memory.embed.wire import Ask, Json, counted, member

_TASKS: Mapping[Kind, str] = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}
# The second generation takes no task type; its guide words the task in the text.
_FORMS: Mapping[Kind, str] = {
    "query": "task: search result | query: ",
    "document": "title: none | text: ",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiWire:
    """POST /models/<model>:batchEmbedContents. `tasks` replaces the task type of a kind."""

    model: str
    dims: int | None = None
    tasks: Mapping[Kind, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model as a resource: models/<model>."""
        return f"models/{self.model.removeprefix('models/')}"

    @property
    def sees_media(self) -> bool:
        return sees_media(self.model)

    def request(self, text: str, kind: Kind) -> dict[str, Json]:
        """What embeds one text, alone or as a part of a batch."""
        prefix = _FORMS[kind] if self.sees_media else ""
        request = self._request([{"text": prefix + text}])
        if not self.sees_media:
            request["taskType"] = self.tasks.get(kind, _TASKS[kind])
        return request

    def ask(self, texts: Sequence[str], kind: Kind) -> Ask:
        return self._batch([self.request(text, kind) for text in texts])

    def ask_media(self, parts: Sequence[MediaPart]) -> Ask:
        """As `ask`: each part's label and bytes together make one vector."""
        return self._batch(
            [
                self._request(
                    [
                        {"text": part.label},
                        {
                            "inlineData": {
                                "mimeType": part.mime,
                                "data": base64.b64encode(part.data).decode("ascii"),
                            }
                        },
                    ]
                )
                for part in parts
            ]
        )

    def answer(self, body: Json, count: int) -> list[Json]:
        rows = member(body, "embeddings")
        if not isinstance(rows, list):
            raise BadAnswer("it holds no list named embeddings")
        counted(len(rows), count)
        return [member(row, "values") for row in rows]

    def _request(self, parts: list[Json]) -> dict[str, Json]:
        request: dict[str, Json] = {"model": self.name, "content": {"parts": parts}}
        if self.dims is not None:
            request["outputDimensionality"] = self.dims
        return request

    def _batch(self, requests: list[dict[str, Json]]) -> Ask:
        return Ask(path=f"/{self.name}:batchEmbedContents", body={"requests": [*requests]})
