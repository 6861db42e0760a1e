"""The batch APIs of OpenAI, Voyage and Gemini as a fake: jobs that take some looks, fail or expire."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes import embedding_wires as wires
from tests.fakes.embedding_wires import Bearing, Refused
from tests.fakes.http_wire import HttpRequest

_PREFIX = re.compile(r"^(?P<vendor>/voyage)?/v1/(?P<rest>(files|batches).*)$")


@dataclass(slots=True, kw_only=True)
class Batches:
    """`looks` is how often a job is asked for before it is done. `end` is how jobs end: completed, failed,
    expired; `refused` lists places whose text is refused. `missing` says that Gemini has no such API."""

    looks: int = 2
    end: str = "completed"
    refused: set[int] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)
    missing: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    cancelled: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)

    def answer(self, request: HttpRequest, bearing: Bearing) -> bytes | None:
        """None for a request that is not about batches."""
        found = _PREFIX.match(request.path)
        if found is not None:
            wires.bearer(request)
            answer = self._listed(request, found["rest"], bearing, voyage=found["vendor"] is not None)
        elif re.search(r"/v1beta/(files|batches)|:asyncBatchEmbedContent", request.path):
            wires.google_key(request)
            answer = self._google(request, bearing)
        else:
            return None
        return answer if isinstance(answer, bytes) else json.dumps(answer).encode()

    def _listed(
        self, request: HttpRequest, rest: str, bearing: Bearing, *, voyage: bool
    ) -> bytes | dict[str, Any]:
        kind, _, name = rest.partition("/")
        if request.method == "POST" and rest == "files":
            return {"id": self._keep(_form_file(request)), "object": "file", "purpose": "batch"}
        if request.method == "POST" and rest == "batches":
            return self._create(json.loads(request.body), voyage=voyage)
        if kind == "files":
            return self._file(request, name)
        if name.endswith("/cancel"):
            self.cancelled.append(name.removesuffix("/cancel"))
            return {"status": "cancelling"}
        return self._looked_at(self.jobs[name], bearing, voyage=voyage)

    def _create(self, body: dict[str, Any], *, voyage: bool) -> dict[str, Any]:
        window = "12h" if voyage else "24h"
        if body["endpoint"] != "/v1/embeddings" or body["completion_window"] != window:
            raise wires.refuse(400, "Invalid endpoint or completion_window")
        if voyage != ("request_params" in body) or body["input_file_id"] not in self.files:
            raise wires.refuse(400, "Invalid request_params or input_file_id")
        if voyage and body["request_params"].get("input_type") != "document":
            raise wires.refuse(400, "these are documents")
        name = f"batch_{len(self.jobs) + 1}"
        self.jobs[name] = {"id": name, "status": "validating", **body}
        return self.jobs[name]

    def _looked_at(self, job: dict[str, Any], bearing: Bearing, *, voyage: bool) -> dict[str, Any]:
        self.asked[job["id"]] = self.asked.get(job["id"], 0) + 1
        if self.asked[job["id"]] <= self.looks or "output_file_id" in job or "errors" in job:
            if job["status"] == "validating":
                job["status"] = "in_progress"
            return job
        job["status"] = self.end
        if self.end == "failed":
            job["errors"] = {"data": [{"message": "The file is not to our liking.", "line": 1}]}
            return job
        good, bad = [], []
        for line in self.files[job["input_file_id"]].splitlines():
            given = json.loads(line)
            place = int(given["custom_id"])
            if not voyage and (given["method"], given["url"]) != ("POST", "/v1/embeddings"):
                raise wires.refuse(400, "Invalid line")
            (text,) = given["body"]["input"]
            if place in self.refused:
                told = {"error": {"message": "This text was refused."}}
                bad.append({"custom_id": str(place), "response": {"status_code": 400, "body": told}})
            elif place not in self.lost:
                body = {"data": [{"index": 0, "embedding": wires.vector(text, bearing.dims)}]}
                good.append({"custom_id": str(place), "response": {"status_code": 200, "body": body}})
        job["output_file_id"] = self._keep(_lines(reversed(good)))
        job["error_file_id"] = self._keep(_lines(bad)) if bad else None
        return job

    def _file(self, request: HttpRequest, name: str) -> bytes | dict[str, Any]:
        if request.method == "DELETE":
            self.deleted.append(name)
            return {"id": name, "deleted": True}
        return self.files[name.removesuffix("/content")]

    def _google(self, request: HttpRequest, bearing: Bearing) -> bytes | dict[str, Any]:
        path = request.path
        if path == "/upload/v1beta/files":
            kept = self._keep(_related_file(request))
            return {"file": {"name": f"files/{kept}"}}
        if path.endswith(":asyncBatchEmbedContent"):
            if self.missing:
                raise wires.google(404, "Method not found.")
            given = json.loads(request.body)["batch"]
            name = f"batches/{len(self.jobs) + 1}"
            model = path.removeprefix("/v1beta/").partition(":")[0]
            self.jobs[name] = {"model": model, "file": given["inputConfig"]["fileName"].partition("/")[2]}
            return {"name": name, "metadata": {"state": "BATCH_STATE_PENDING"}}
        if path.startswith("/download/"):
            return self.files[path.rpartition("/")[2].removesuffix(":download")]
        if path.startswith("/v1beta/files/"):
            return self._file(request, path.rpartition("/")[2])
        if path.endswith(":cancel"):
            self.cancelled.append(path)
            return {}
        return self._google_job(path.removeprefix("/v1beta/"), bearing)

    def _google_job(self, name: str, bearing: Bearing) -> dict[str, Any]:
        job = self.jobs[name]
        self.asked[name] = self.asked.get(name, 0) + 1
        if self.asked[name] <= self.looks:
            return {"name": name, "metadata": {"state": "BATCH_STATE_RUNNING"}}
        if self.end != "completed":
            state = f"BATCH_STATE_{self.end.upper()}"
            return {"name": name, "done": True, "metadata": {"state": state}}
        if "output" not in job:
            rows = []
            for line in self.files[job["file"]].splitlines():
                given = json.loads(line)
                values = wires.gemini_one(given["request"], job["model"], bearing)
                if int(given["key"]) in self.refused:
                    rows.append({"key": given["key"], "error": {"message": "This text was refused."}})
                elif int(given["key"]) not in self.lost:
                    rows.append({"key": given["key"], "response": {"embedding": {"values": values}}})
            job["output"] = self._keep(_lines(reversed(rows)))
        output = {"responsesFile": f"files/{job['output']}"}
        state = "BATCH_STATE_SUCCEEDED"
        return {"name": name, "done": True, "metadata": {"state": state, "output": output}}

    def _keep(self, content: bytes) -> str:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return name


def _lines(rows: Iterable[object]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _parts(request: HttpRequest, kind: str) -> list[tuple[bytes, bytes]]:
    given = request.headers["content-type"]
    assert given.startswith(kind)
    boundary = b"--" + given.partition("boundary=")[2].encode()
    pieces = request.body.split(boundary)
    assert pieces[0] == b""
    assert pieces[-1] == b"--\r\n"
    return [
        (head, body.removesuffix(b"\r\n"))
        for head, _, body in (p.partition(b"\r\n\r\n") for p in pieces[1:-1])
    ]


def _form_file(request: HttpRequest) -> bytes:
    (purpose, said), (head, content) = _parts(request, "multipart/form-data")
    if b'name="purpose"' not in purpose or said != b"batch" or b"filename=" not in head:
        raise Refused(400, {"error": {"message": "purpose and file are needed"}})
    return content


def _related_file(request: HttpRequest) -> bytes:
    (_, about), (_, content) = _parts(request, "multipart/related")
    assert json.loads(about)["file"]["mimeType"] == "application/jsonl"
    return content
