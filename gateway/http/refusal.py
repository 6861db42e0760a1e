"""How a refusal is told over HTTP: in our own form, and in OpenAI's below /v1."""

from gateway.http.answers import SECURITY_HEADERS, JsonAnswer
from gateway.http.door import Locked
from gateway.views import Refused, error_json
from sessions.messages import JsonObject

_KINDS = {
    401: "authentication_error",
    402: "insufficient_quota",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def refusal_json(refused: Refused, path: str) -> JsonObject:
    """Below /v1, `{"error": {"message", "type", "param", "code"}}`."""
    if not path.startswith("/v1/"):
        return error_json(refused.code, str(refused))
    kind = "server_error" if refused.status >= 500 else "invalid_request_error"
    inner: JsonObject = {
        "message": str(refused),
        "type": _KINDS.get(refused.status, kind),
        "param": None,
        "code": refused.code,
    }
    return {"error": inner}


def refusal_answer(refused: Refused, path: str, *, secured: bool = False) -> JsonAnswer:
    """With the headers that its status asks for. `secured`: it brings the door's own headers itself."""
    answer = JsonAnswer(refusal_json(refused, path), status_code=refused.status)
    if secured:
        answer.raw_headers.extend(SECURITY_HEADERS)
    if refused.status == 401:
        answer.headers["www-authenticate"] = 'Bearer realm="clawd"'
    if refused.status == 413:
        answer.headers["connection"] = "close"
    if isinstance(refused, Locked):
        answer.headers["retry-after"] = str(refused.seconds)
    elif refused.status in (429, 503):
        answer.headers["retry-after"] = "5"
    return answer
