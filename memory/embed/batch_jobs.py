"""The batch APIs of OpenAI, Voyage and Gemini: files of lines up, files of lines down."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.embed.batch_api import JobFailed, by_place
from memory.embed.faults import BadAnswer, Fault, message_in
from memory.embed.gemini_wire import GeminiWire
from memory.embed.link import Link, as_json
from memory.embed.wire import Json, OpenAIWire, member

_BOUNDARY = "clawd-9f2c6d1e7b3a4850"
_PURPOSE = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
_FILE = (
    f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="notes.jsonl"\r\n'
    "Content-Type: application/jsonl\r\n\r\n"
)
_END = f"\r\n--{_BOUNDARY}--\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileJobs:
    """Implements Jobs: POST /files, POST /batches, and what belongs to them, as OpenAI and Voyage speak it.

    `shared` goes once into the job (Voyage's request_params) and not into its lines; without it each line
    is a whole request.
    """

    wire: OpenAIWire
    window: str = "24h"
    shared: bool = False

    async def submit(self, link: Link, texts: Sequence[str]) -> str:
        body = "\n".join(json.dumps(self._line(place, text)) for place, text in enumerate(texts))
        content = f"{_PURPOSE}{_FILE}{body}{_END}".encode()
        headers = {"content-type": f"multipart/form-data; boundary={_BOUNDARY}"}
        file = _text(await as_json(await link.send("POST", "/files", content=content, headers=headers)), "id")
        job: dict[str, Json] = {
            "input_file_id": file,
            "endpoint": "/v1/embeddings",
            "completion_window": self.window,
            "metadata": {"made_by": "clawd"},
        }
        if self.shared:
            job["request_params"] = self._params()
        return _text(await link.post("/batches", job), "id")

    async def is_done(self, link: Link, job: str) -> bool:
        body = await link.get(f"/batches/{job}")
        status = member(body, "status")
        if status in ("failed", "expired", "cancelled", "cancelling"):
            raise JobFailed(f"has {status} its batch job{await self._why(link, body)}")
        return status == "completed"

    async def results(self, link: Link, job: str) -> dict[int, Json]:
        body = await link.get(f"/batches/{job}")
        output = member(body, "output_file_id")
        if member(body, "error_file_id") or not isinstance(output, str):
            raise JobFailed(f"refused texts of its batch job{await self._why(link, body)}")
        return by_place(await link.send("GET", f"/files/{output}/content"), self._read)

    async def forget(self, link: Link, job: str) -> None:
        body = await link.get(f"/batches/{job}")
        if member(body, "status") in ("validating", "in_progress", "finalizing"):
            await link.post(f"/batches/{job}/cancel", {})
        for name in ("input_file_id", "output_file_id", "error_file_id"):
            file = member(body, name)
            if isinstance(file, str) and file:
                await link.send("DELETE", f"/files/{file}")

    def _params(self) -> dict[str, Json]:
        body = self.wire.ask([], "document").body
        return {name: value for name, value in body.items() if name not in ("input", "encoding_format")}

    def _line(self, place: int, text: str) -> dict[str, Json]:
        if self.shared:
            return {"custom_id": str(place), "body": {"input": [text]}}
        body: dict[str, Json] = {**self._params(), "input": [text]}
        return {"custom_id": str(place), "method": "POST", "url": "/v1/embeddings", "body": body}

    def _read(self, line: Json) -> tuple[str, Json]:
        response = member(line, "response")
        if member(line, "error") or member(response, "status_code") != 200:
            raise JobFailed(f"refused a text of its batch job: {message_in(json.dumps(line))}")
        return _text(line, "custom_id"), self.wire.answer(member(response, "body"), 1)[0]

    async def _why(self, link: Link, body: Json) -> str:
        """The first reason that there is, as the end of a sentence."""
        errors = member(member(body, "errors"), "data")
        if isinstance(errors, list) and errors:
            return f": {message_in(json.dumps(errors[0]))}"
        file = member(body, "error_file_id")
        if not isinstance(file, str) or not file:
            return ""
        try:
            first = (await link.send("GET", f"/files/{file}/content")).splitlines()[:1]
            line: Json = json.loads(first[0]) if first else None
        except (Fault, ValueError, RecursionError):
            return ""
        told = member(member(line, "response"), "body") or line
        return f": {message_in(json.dumps(told))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiJobs:
    """Implements Jobs: an uploaded file, models/<model>:asyncBatchEmbedContent, and the file that it makes.

    `inputs` remembers the upload of each job.
    """

    wire: GeminiWire
    inputs: dict[str, str] = field(default_factory=dict)

    async def submit(self, link: Link, texts: Sequence[str]) -> str:
        lines = "\n".join(
            json.dumps({"key": str(place), "request": self.wire.request(text, "document")})
            for place, text in enumerate(texts)
        )
        about = json.dumps({"file": {"displayName": "clawd notes", "mimeType": "application/jsonl"}})
        content = (
            f"--{_BOUNDARY}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{about}\r\n"
            f"--{_BOUNDARY}\r\nContent-Type: application/jsonl\r\n\r\n{lines}{_END}"
        ).encode()
        headers = {
            "content-type": f"multipart/related; boundary={_BOUNDARY}",
            "x-goog-upload-protocol": "multipart",
        }
        address = f"{_beside(link.address, 'upload')}/files?uploadType=multipart"
        sent = await as_json(await link.send("POST", address, content=content, headers=headers))
        file = _text(member(sent, "file") or sent, "name")
        body: Json = {"batch": {"displayName": "clawd notes", "inputConfig": {"fileName": file}}}
        job = _text(await link.post(f"/{self.wire.name}:asyncBatchEmbedContent", body), "name")
        self.inputs[job] = file
        return job

    async def is_done(self, link: Link, job: str) -> bool:
        body = await link.get(f"/{job}")
        state = _state(body)
        if state in ("FAILED", "CANCELLED", "EXPIRED") or member(body, "error"):
            why = message_in(json.dumps(member(body, "error") or {}))
            raise JobFailed(f"has {state.lower() or 'failed'} its batch job{f': {why}' if why else ''}")
        return state in ("SUCCEEDED", "COMPLETED", "DONE") or member(body, "done") is True

    async def results(self, link: Link, job: str) -> dict[int, Json]:
        output = _output(await link.get(f"/{job}"))
        if output is None:
            raise JobFailed("ended its batch job without a file of results")
        address = f"{_beside(link.address, 'download')}/{output}:download?alt=media"
        return by_place(await link.send("GET", address), _read_gemini)

    async def forget(self, link: Link, job: str) -> None:
        body = await link.get(f"/{job}")
        if _state(body) in ("PENDING", "RUNNING"):
            await link.post(f"/{job}:cancel", {})
        for file in (self.inputs.pop(job, None), _output(body)):
            if file:
                await link.send("DELETE", f"/{file}")


def _beside(address: str, part: str) -> str:
    """https://host/v1beta as https://host/upload/v1beta."""
    head, slash, version = address.rpartition("/")
    return f"{head}/{part}{slash}{version}"


def _state(body: Json) -> str:
    state = member(member(body, "metadata"), "state") or member(body, "state")
    return state.rpartition("_STATE_")[2] if isinstance(state, str) else ""


def _output(body: Json) -> str | None:
    for place in (member(body, "response"), member(member(body, "metadata"), "output")):
        file = member(place, "responsesFile")
        if isinstance(file, str) and file:
            return file
    return None


def _read_gemini(line: Json) -> tuple[str, Json]:
    response = member(line, "response")
    refused = member(line, "error") or member(response, "error")
    if refused:
        raise JobFailed(f"refused a text of its batch job: {message_in(json.dumps(refused))}")
    return _text(line, "key"), member(member(response, "embedding"), "values")


def _text(body: Json, name: str) -> str:
    found = member(body, name)
    if not isinstance(found, str) or not found:
        raise BadAnswer(f"it names no {name}")
    return found
