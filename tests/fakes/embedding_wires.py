"""The embedding wires as their vendors speak them: what is refused, and how answers are spelled."""

import base64
import hashlib
import json
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from tests.fakes.http_wire import HttpRequest

KEY = "sk-test-0123456789"
GITHUB_TOKEN = "ghu_test0123456789"
COPILOT_TOKEN = "tid=1;exp=2;st=dotcom"


class Refused(Exception):
    """What the vendor says no to; `body` is in its own shape."""

    def __init__(self, status: int, body: object, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(str(body))
        self.status = status
        self.body = body
        self.headers = headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearing:
    """What a server takes at the most, and how long its own vectors are."""

    texts: int = 2048
    chars: int = 1_000_000
    dims: int = 64


def refuse(status: int, message: str, code: str | None = None) -> Refused:
    return Refused(status, {"error": {"message": message, "type": "invalid_request_error", "code": code}})


def vector(text: str, dims: int) -> list[float]:
    """Hashed words: texts that share words are near; not of length 1, as raw vectors need not be."""
    values = [0.0] * dims
    for word in re.findall(r"\w+", text.casefold()) or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        values[int.from_bytes(digest[:4], "big") % dims] += 2.0
    return values


def unit(text: str, dims: int) -> list[float]:
    values = vector(text, dims)
    norm = math.hypot(*values)
    return [value / norm for value in values]


def openai(request: HttpRequest, bearing: Bearing) -> dict[str, Any]:
    """OpenAI and who speaks its wire; `dimensions`, `encoding_format` and `input_type` are known."""
    bearer(request)
    body = _body(request)
    known = {"model", "input", "encoding_format", "dimensions", "input_type", "user"}
    _only(body, known)
    texts = _texts(body, bearing)
    dims = body.get("dimensions", bearing.dims)
    rows = []
    for index, text in enumerate(texts):
        raw: object = vector(text, dims)
        if body.get("encoding_format") == "base64":
            raw = base64.b64encode(struct.pack(f"<{dims}f", *vector(text, dims))).decode()
        rows.append({"object": "embedding", "index": index, "embedding": raw})
    rows.reverse()  # the vendor promises numbers, not an order
    return {"object": "list", "data": rows, "model": body["model"], "usage": {"total_tokens": 1}}


def mistral(request: HttpRequest, bearing: Bearing) -> dict[str, Any]:
    bearer(request)
    body = _body(request)
    _only(body, {"model", "input", "output_dimension", "output_dtype", "encoding_format"})
    return _listed(_texts(body, bearing), body.get("output_dimension", bearing.dims))


def voyage(request: HttpRequest, bearing: Bearing) -> dict[str, Any]:
    bearer(request)
    body = _body(request)
    _only(body, {"model", "input", "input_type", "truncation", "output_dimension", "output_dtype"})
    if body.get("input_type") not in ("query", "document", None):
        raise Refused(400, {"detail": "input_type must be query, document or null"})
    return _listed(_texts(body, bearing), body.get("output_dimension", bearing.dims))


def ollama(request: HttpRequest, bearing: Bearing) -> dict[str, Any]:
    body = _body(request)
    _only(body, {"model", "input", "truncate", "options", "keep_alive", "dimensions"})
    if body["model"].startswith("no-such"):
        raise Refused(404, {"error": f'model "{body["model"]}" not found, try pulling it first'})
    dims = body.get("dimensions", bearing.dims)
    return {"model": body["model"], "embeddings": [unit(text, dims) for text in _texts(body, bearing)]}


def gemini(request: HttpRequest, bearing: Bearing) -> dict[str, Any]:
    google_key(request)
    found = re.fullmatch(r"/v1beta/(models/[\w.-]+):batchEmbedContents", request.path)
    requests = _body(request).get("requests")
    if found is None or not isinstance(requests, list) or not requests:
        raise google(400, "Invalid JSON payload received.")
    if len(requests) > min(bearing.texts, 100):
        raise google(400, "* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch")
    return {"embeddings": [{"values": gemini_one(one, found[1], bearing)} for one in requests]}


def gemini_one(one: Mapping[str, Any], model: str, bearing: Bearing) -> list[float]:
    _only(one, {"model", "content", "taskType", "title", "outputDimensionality"})
    parts = one["content"]["parts"]
    second = model.startswith("models/gemini-embedding-2")
    if one["model"] != model or ("taskType" in one) == second:
        raise google(400, "model and task type must fit")
    if not second and one["taskType"] not in ("RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT", "QUESTION_ANSWERING"):
        raise google(400, "Invalid value at 'task_type'")
    words = []
    for part in parts:
        if "inlineData" in part:
            data = part["inlineData"]
            if not second or set(data) != {"mimeType", "data"}:
                raise google(400, "inline data is not supported")
            words.append(hashlib.sha256(base64.b64decode(data["data"], validate=True)).hexdigest())
        else:
            words.append(part["text"])
    return vector(" ".join(words), one.get("outputDimensionality", bearing.dims))


def copilot(request: HttpRequest, bearing: Bearing, token: str) -> dict[str, Any]:
    if request.headers.get("authorization") != f"Bearer {token}":
        raise Refused(401, {"error": {"message": "unauthorized: token expired", "code": "unauthorized"}})
    if "editor-version" not in request.headers or "copilot-integration-id" not in request.headers:
        raise Refused(400, {"error": {"message": "missing Editor-Version header for IDE auth"}})
    body = _body(request)
    _only(body, {"model", "input", "dimensions"})
    return _listed(_texts(body, bearing), body.get("dimensions", bearing.dims))


def bedrock(request: HttpRequest, bearing: Bearing) -> dict[str, Any]:
    if not request.headers.get("authorization", "").startswith("AWS4-HMAC-SHA256 Credential=AKIATEST/"):
        raise Refused(403, {"message": "The security token included in the request is invalid."})
    model = unquote(unquote(request.path.split("/")[2]))
    body = _body(request)
    if model.startswith("cohere."):
        _only(body, {"texts", "input_type", "truncate", "embedding_types"})
        if body["input_type"] not in ("search_query", "search_document"):
            raise Refused(400, {"message": "invalid input_type"})
        return {"embeddings": {"float": [vector(text, bearing.dims) for text in body["texts"]]}}
    if not model.startswith("amazon.titan-embed-text-v2"):
        raise Refused(400, {"message": "The provided model identifier is invalid."})
    _only(body, {"inputText", "dimensions", "normalize", "embeddingTypes"})
    return {"embedding": vector(body["inputText"], body.get("dimensions", bearing.dims))}


def bearer(request: HttpRequest) -> None:
    given = request.headers.get("authorization", "")
    if given != f"Bearer {KEY}":
        echoed = given.removeprefix("Bearer ")
        raise refuse(401, f"Incorrect API key provided: {echoed}.", "invalid_api_key")


def google_key(request: HttpRequest) -> None:
    if request.headers.get("x-goog-api-key") != KEY:
        raise google(400, "API key not valid. Please pass a valid API key.")


def google(status: int, message: str) -> Refused:
    return Refused(status, {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}})


def _body(request: HttpRequest) -> dict[str, Any]:
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise refuse(415, "Content-Type must be application/json")
    try:
        found = json.loads(request.body)
    except ValueError as error:
        raise refuse(400, "We could not parse the JSON body of your request.") from error
    if not isinstance(found, dict):
        raise refuse(400, "an object is needed")
    return found


def _only(body: Mapping[str, Any], known: set[str]) -> None:
    if unknown := body.keys() - known:
        raise refuse(400, f"Unrecognized request arguments: {', '.join(sorted(unknown))}")
    if str(body.get("model", "")).startswith("no-such"):
        raise refuse(404, f"The model `{body['model']}` does not exist.", "model_not_found")


def _texts(body: Mapping[str, Any], bearing: Bearing) -> list[str]:
    texts = body.get("input")
    if not isinstance(texts, list) or not texts or not all(isinstance(one, str) and one for one in texts):
        raise refuse(400, "'$.input' is invalid.")
    if len(texts) > bearing.texts:
        raise refuse(400, f"array too long: '$.input' must have at most {bearing.texts} items.")
    if sum(map(len, texts)) > bearing.chars:
        raise refuse(400, f"This model's maximum context length is {bearing.chars} tokens.")
    return texts


def _listed(texts: list[str], dims: int) -> dict[str, Any]:
    rows = [{"object": "embedding", "index": n, "embedding": unit(t, dims)} for n, t in enumerate(texts)]
    return {"object": "list", "data": rows}
