"""What each address answers."""

import httpx
import pytest

from agents.model.catalog import ModelStatus
from agents.turn import OnEvent
from gateway.views import Refused
from sessions.key import SessionKey
from tests.fakes.gateway import OFFLINE, FakeGateway

MAIN = SessionKey(agent="main", kind="main")


@pytest.mark.parametrize(
    ("ready", "draining", "status"), [(True, False, 200), (False, False, 503), (True, True, 503)]
)
async def test_readyz_is_200_only_while_turns_are_taken(
    anyone: httpx.AsyncClient,
    gateway: FakeGateway,
    ready: bool,
    draining: bool,
    status: int,
) -> None:
    gateway.ready, gateway.draining = ready, draining

    answers = [await anyone.get("/healthz"), await anyone.get("/readyz")]

    assert [answer.status_code for answer in answers] == [200, status]
    assert [answer.content for answer in answers] == [b"", b""]


async def test_chat_answers_the_reply_s_json(owner: httpx.AsyncClient) -> None:
    answer = await owner.post("/api/chat", json={"text": "hello", "agent": "work", "session": "Trip: A"})

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {
        "reply": "you said: hello",
        "session_key": "agent:work:api:Trip%3A A",
        "session_id": "s-1",
        "model": "offline/notes",
        "usage": {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0, "total": 0, "cost_usd": None},
        "tool_calls": [],
    }


@pytest.mark.parametrize("stream", [False, True])
async def test_an_unknown_agent_is_404_and_names_the_known_ones(
    owner: httpx.AsyncClient, stream: bool
) -> None:
    answer = await owner.post("/api/chat", json={"text": "hi", "agent": "nobody", "stream": stream})

    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "There is no agent 'nobody'. The agents are: main, work."


@pytest.mark.parametrize("code", ["starting", "shutting_down"])
@pytest.mark.parametrize("stream", [False, True])
async def test_nothing_is_taken_while_starting_or_draining(
    owner: httpx.AsyncClient, gateway: FakeGateway, code: str, stream: bool
) -> None:
    gateway.ready, gateway.draining = code != "starting", code == "shutting_down"

    answer = await owner.post("/api/chat", json={"text": "hi", "stream": stream})

    assert (answer.status_code, answer.json()["error"]["code"]) == (503, code)
    assert int(answer.headers["retry-after"]) > 0
    assert gateway.finished == []


async def test_a_body_that_is_no_json_names_its_position(owner: httpx.AsyncClient) -> None:
    answer = await owner.post("/api/chat", content=b'{"text": }')

    assert answer.status_code == 400
    assert "line 1, column 10" in answer.json()["error"]["message"]


async def test_a_text_over_the_limit_is_413(owner: httpx.AsyncClient) -> None:
    answer = await owner.post("/api/chat", json={"text": "x" * 501})

    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "text_too_long")


async def test_sessions_are_listed_and_read_by_their_encoded_key(owner: httpx.AsyncClient) -> None:
    await owner.post("/api/chat", json={"text": "hello", "session": "a/b: 100%"})
    listed = (await owner.get("/api/sessions")).json()["sessions"]
    key = listed[0]["key"]

    answer = await owner.get(f"/api/sessions/{_encoded(key)}")

    assert key == "agent:main:api:a/b%3A 100%25"
    assert [(one["role"], one["text"]) for one in answer.json()["messages"]] == [
        ("user", "hello"),
        ("assistant", "you said: hello"),
    ]
    assert answer.json()["session"] == listed[0]


def _encoded(key: str) -> str:
    return "".join(char if char.isalnum() else f"%{ord(char):02X}" for char in key)


async def test_the_newest_messages_are_shown_when_there_is_a_limit(owner: httpx.AsyncClient) -> None:
    for text in ("one", "two"):
        await owner.post("/api/chat", json={"text": text})

    shown = (await owner.get("/api/sessions/agent:main:main?limit=2")).json()

    assert [one["text"] for one in shown["messages"]] == ["two", "you said: two"]
    assert shown["earlier"] == 2


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/sessions/agent%3Amain%3Aapi%3Anone", 404, "unknown_session"),
        ("/api/sessions/nonsense", 404, "bad_session_key"),
        ("/api/sessions/", 404, "bad_session_key"),
        ("/api/sessions/agent:main:main?limit=0", 400, "bad_request"),
        ("/api/memory/search", 400, "bad_request"),
        ("/api/memory/search?q=x&agent=nobody", 404, "unknown_agent"),
        ("/api/memory/file?path=../secrets", 400, "bad_path"),
        ("/api/memory/file?path=MEMORY.md&lines=none", 400, "bad_request"),
        ("/api/models?x=1", 400, "bad_request"),
        ("/api", 404, "not_found"),
        ("/docs", 404, "not_found"),
        ("/../pyproject.toml", 404, "not_found"),
        ("/js/%2e%2e/%2e%2e/http/app.py", 404, "not_found"),
        ("/api/chat", 405, "wrong_method"),
    ],
)
async def test_what_cannot_be_answered_says_why(
    owner: httpx.AsyncClient, path: str, status: int, code: str
) -> None:
    answer = await owner.get(path)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"]["message"].endswith(".")


async def test_a_wrong_method_names_the_right_one(owner: httpx.AsyncClient) -> None:
    answer = await owner.delete("/api/chat")

    assert answer.headers["allow"] == "POST"
    assert "use POST" in answer.json()["error"]["message"]


async def test_a_session_is_stopped_by_its_key(owner: httpx.AsyncClient, gateway: FakeGateway) -> None:
    answer = await owner.post("/api/sessions/agent%3Amain%3Amain/stop")

    assert (answer.status_code, answer.json()) == (200, {"stopped": False})
    assert gateway.stopped == [MAIN]


async def test_memory_is_searched_with_the_caller_s_limits(
    owner: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.notes["memory/2026-11-29.md"] = "# 2026-11-29\n\nDentist on Friday"

    answer = await owner.get("/api/memory/search?q=dentist&agent=main&max_results=3&min_score=0.5")

    assert gateway.searches == [("dentist", "main", 3, 0.5)]
    assert answer.json()["results"] == [
        {
            "path": "memory/2026-11-29.md",
            "start_line": 3,
            "end_line": 3,
            "score": 0.5123,
            "vector_score": 0.0,
            "text_score": 0.5123,
            "snippet": "Dentist on Friday",
            "source": "memory",
        }
    ]


async def test_lines_of_a_note_are_read(owner: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.notes["MEMORY.md"] = "one\ntwo\nthree"

    answer = await owner.get("/api/memory/file?path=MEMORY.md&from_line=2&lines=1")

    assert answer.json() == {
        "path": "MEMORY.md",
        "from_line": 2,
        "end_line": 2,
        "text": "two",
        "next_from": 3,
    }


async def test_memory_models_and_agents_are_told(owner: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.model_list = (
        OFFLINE,
        ModelStatus(provider="openai", model="x", usable=False, reason="no key", is_default=False),
    )

    synced = await owner.post("/api/memory/sync")
    models = (await owner.get("/api/models")).json()["models"]

    assert synced.json() == {
        "files": 2,
        "chunks": 7,
        "waiting": 0,
        "indexed": 1,
        "removed": 0,
        "embedded": 3,
        "failed": [{"path": "memory/big.md", "reason": "is too large"}],
        "warnings": [],
    }
    assert [(one["name"], one["reason"]) for one in models] == [
        ("offline/notes", None),
        ("openai/x", "no key"),
    ]
    assert (await owner.get("/api/agents")).json() == {"agents": ["main", "work"], "default": "main"}


async def test_a_failure_nobody_foresaw_is_told_as_such_and_keeps_the_headers(
    owner: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    async def break_down(text: str, on_event: OnEvent) -> str:
        raise RuntimeError("secret detail")

    gateway.answer = break_down

    answer = await owner.post("/api/chat", json={"text": "hi"})

    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "secret detail" not in answer.text
    assert "content-security-policy" in answer.headers


async def test_a_refusal_of_the_gateway_keeps_its_status(
    owner: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    async def refuse(text: str, on_event: OnEvent) -> str:
        raise Refused("The key was refused. Check it.", code="model_auth", status=502)

    gateway.answer = refuse

    answer = await owner.post("/api/chat", json={"text": "hi"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "model_auth")


async def test_what_was_said_is_searched_as_the_command_does(owner: httpx.AsyncClient) -> None:
    answer = await owner.get("/api/sessions/search", params={"q": "kestrel", "agent": "work", "limit": 5})

    assert answer.status_code == 200
    assert answer.json() == {
        "results": [
            {
                "session_key": "agent:main:main",
                "session_id": "s-1",
                "at": "2026-11-29T12:00:00.000Z",
                "role": "user",
                "line": 4,
                "snippet": "somebody said kestrel",
            }
        ],
        "partial": False,
    }


@pytest.mark.parametrize("query", ["", "?q=", "?q=x&limit=0", "?q=x&limit=201", "?q=x&more=1"])
async def test_a_wrong_search_through_what_was_said_is_400(owner: httpx.AsyncClient, query: str) -> None:
    assert (await owner.get(f"/api/sessions/search{query}")).status_code == 400
