"""The fake model server refuses what vendors refuse, and speaks as they do."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.fakes.model_script import Call, Hang, Heard, Say, brain
from tests.fakes.modelserver import ModelServer, running_in_thread

HI = {"role": "user", "content": "hi"}
TOOL_USE = {"type": "tool_use", "id": "t1", "name": "w", "input": {}}
TOOL_RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}


def post(server: ModelServer, path: str, body: object, **headers: str) -> tuple[int, dict[str, Any]]:
    given = {
        "x-api-key": "k",
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
        **headers,
    }
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data=data, headers=given)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def claude(*messages: object, **fields: object) -> dict[str, object]:
    return {"model": "claude-sonnet-5-5", "max_tokens": 10, "messages": list(messages), **fields}


def gpt(*messages: object, **fields: object) -> dict[str, object]:
    return {"model": "local", "messages": list(messages), **fields}


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (claude(), "at least one message"),
        (claude({"role": "assistant", "content": "x"}, HI), "first message"),
        (claude(HI, HI), "alternate"),
        (claude(HI, {"role": "assistant", "content": "x"}), "prefill"),
        (claude({"role": "user", "content": [{"type": "text", "text": " "}]}), "non-whitespace"),
        (claude({"role": "user", "content": ""}), "non-empty"),
        (claude(HI, {"role": "assistant", "content": [TOOL_USE]}, HI), "tool_result"),
        (claude({"role": "user", "content": [TOOL_RESULT]}), "unexpected `tool_use_id`"),
        (claude(HI, {"role": "assistant", "content": [{**TOOL_USE, "id": "a.b"}]}, HI), "pattern"),
        (claude({"role": "user", "content": [MARKED] * 5}), "maximum of 4"),
        (claude(HI, thinking={"type": "disabled"}), "not supported"),
        (claude(HI, thinking={"type": "adaptive", "block_binding": {}}), "Extra inputs"),
        (claude(HI, colour="red"), "colour"),
        ({"model": "m", "messages": [HI]}, "max_tokens"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_anthropic_s_rules_are_kept(body: object, hint: str) -> None:
    with running_in_thread() as server:
        status, answer = post(server, "/v1/messages", body)

    assert status == 400
    assert answer["error"]["type"] == "invalid_request_error"
    assert hint in answer["error"]["message"]


CALL = {"id": "c1", "type": "function", "function": {"name": "w", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (gpt(), "too short"),
        (gpt({"role": "robot", "content": "x"}), "Invalid value"),
        (gpt(HI, {"role": "assistant", "tool_calls": [CALL]}, HI), "must be followed"),
        (gpt(HI, {"role": "tool", "tool_call_id": "c1", "content": "x"}), "preceeding message"),
        (gpt(HI, {"role": "assistant", "content": None}), "empty"),
        (gpt(HI, {"role": "assistant", "tool_calls": [{**CALL, "id": "x" * 41}]}), "Maximum length 40"),
        (gpt(HI, model="gpt-6-luna", max_tokens=5), "max_completion_tokens"),
        (gpt(HI, stream_options={"include_usage": True}), "only allowed when stream"),
        (gpt(HI, colour="red"), "colour"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_openai_s_rules_are_kept(body: object, hint: str) -> None:
    with running_in_thread() as server:
        status, answer = post(server, "/v1/chat/completions", body, authorization="Bearer k")

    assert status == 400
    assert hint in answer["error"]["message"]


def test_a_request_without_a_key_or_with_half_a_body_is_refused() -> None:
    with running_in_thread() as server:
        assert post(server, "/v1/messages", claude(HI), **{"x-api-key": ""})[0] == 401
        assert post(server, "/v1/messages", b'{"model": ')[0] == 400
        assert post(server, "/v1/elsewhere", {})[0] == 404


def test_secrets_are_not_recorded() -> None:
    with running_in_thread() as server:
        post(server, "/v1/messages", claude(HI), authorization="Bearer secret")

    assert not {"x-api-key", "authorization"} & set(server.requests[0].headers)


def test_similar_texts_have_similar_vectors() -> None:
    with running_in_thread() as server:
        texts = ["the cat sat", "the cat ran", "quarterly tax report"]
        _, answer = post(server, "/v1/embeddings", {"model": "e", "input": texts})

    one, near, far = (row["embedding"] for row in answer["data"])
    assert sum(a * a for a in one) == pytest.approx(1)
    assert sum(a * b for a, b in zip(one, near, strict=True)) > sum(
        a * b for a, b in zip(one, far, strict=True)
    )


def test_the_brain_calls_what_it_is_told_to_and_repeats_the_rest() -> None:
    def ask(text: str, *results: str) -> object:
        return brain(Heard(model="m", text=text, tools=("w",), results=results))

    assert ask("hello") == Say("You said: hello")
    assert ask('call w {"a": 1}') == Call("w", {"a": 1})
    assert ask("call w {broken}") == Say("You said: call w {broken}")
    assert ask("anything", "one", "two") == Say("Tool said: one | two")


def test_a_server_with_an_open_answer_can_be_stopped() -> None:
    server = ModelServer()
    server.script.append(Hang())

    with running_in_thread(server):
        headers = {"x-api-key": "k", "anthropic-version": "1"}
        request = urllib.request.Request(
            server.url + "/v1/messages", json.dumps(claude(HI)).encode(), headers
        )
        with pytest.raises(TimeoutError):
            urllib.request.urlopen(request, timeout=0.2)


def test_it_can_be_started_by_hand() -> None:
    command = [sys.executable, "-m", "tests.fakes.modelserver"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.terminate()

    assert "providers.anthropic.base_url: http://127.0.0.1:" in first
