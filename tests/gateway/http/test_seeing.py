"""GET /api/usage and GET /api/sessions/{key}/context."""

from urllib.parse import quote

import httpx
import pytest

MAIN = "agent:main:main"


async def test_usage_is_summed_as_asked(owner: httpx.AsyncClient) -> None:
    by_day = (await owner.get("/api/usage")).json()
    by_model = (await owner.get("/api/usage?by=model&since=2026-11-01")).json()
    later = (await owner.get("/api/usage?since=2026-12-01")).json()

    assert by_day["rows"][0]["day"] == "2026-11-29"
    assert by_model == {
        "by": "model",
        "since": "2026-11-01",
        "rows": [{"model": "offline/notes", **by_model["total"]}],
        "total": {
            "answers": 1,
            "input": 10,
            "output": 5,
            "cache_read": 30,
            "cache_write": 0,
            "total": 45,
            "cache_share": 0.75,
            "cost_usd": 0.5,
            "known_cost_usd": 0.5,
            "unpriced": 0,
        },
    }
    assert later["rows"] == []


@pytest.mark.parametrize(
    "query", ["by=week", "since=yesterday", "since=2026-13-01", "until=2026-01-01"], ids=str
)
async def test_a_wrong_question_is_400_and_says_what_is_wrong(owner: httpx.AsyncClient, query: str) -> None:
    answer = await owner.get(f"/api/usage?{query}")

    assert answer.status_code == 400
    assert query.split("=", maxsplit=1)[0] in answer.json()["error"]["message"]


@pytest.mark.parametrize("form", [MAIN, quote(MAIN, safe="")], ids=["plain", "encoded"])
async def test_the_context_of_a_session_is_told(owner: httpx.AsyncClient, form: str) -> None:
    await owner.post("/api/chat", json={"text": "hello"})

    answer = await owner.get(f"/api/sessions/{form}/context")

    assert answer.status_code == 200
    assert answer.json()["files"] == [
        {"name": "SOUL.md", "raw_chars": 30, "injected_chars": 20, "truncated": True}
    ]
    assert answer.json()["share"] == 0.01


async def test_the_context_of_no_session_is_404(owner: httpx.AsyncClient) -> None:
    assert (await owner.get(f"/api/sessions/{MAIN}/context")).status_code == 404
    assert (await owner.get("/api/sessions/nonsense/context")).json()["error"]["code"] == "bad_session_key"


@pytest.mark.parametrize("path", ["/api/usage", f"/api/sessions/{MAIN}/context"], ids=str)
async def test_neither_is_for_strangers(anyone: httpx.AsyncClient, path: str) -> None:
    assert (await anyone.get(path)).status_code == 401
