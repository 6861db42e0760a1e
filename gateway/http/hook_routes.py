"""Webhooks: other programs give the agent something to do, with a token that opens nothing else."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Literal

from fastapi import FastAPI, Request, Response
from pydantic import ConfigDict, StringConstraints

from gateway.http.answers import JsonAnswer
from gateway.http.docs import described
from gateway.http.requests import Form, Name, NoQuery, Whole, body_of, check_text, query_of
from gateway.http.rules import HttpRules
from gateway.http.talk import Talk
from gateway.http.wiring import HookRules, Wiring
from gateway.views import Refused

MAX_BODY = 256 * 1024

HookName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


class AgentHook(Form):
    """The body of POST /hooks/agent."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    message: Whole
    name: HookName = "default"
    agent: Name | None = None


class WakeHook(Form):
    """The body of POST /hooks/wake."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    text: Whole
    mode: Literal["now", "next-heartbeat"] = "now"


@dataclass(slots=True)
class Pace:
    """At most so many within a minute; the times of earlier ones are seconds of a clock that goes forward."""

    times: deque[float] = field(default_factory=deque)

    def take(self, most: int, now: float) -> None:
        """Raises Refused."""
        while self.times and now - self.times[0] >= 60:
            self.times.popleft()
        if len(self.times) >= most:
            raise Refused(
                f"More than {most} webhooks came within a minute (gateway.hooks.per_minute). Send it again "
                "later.",
                code="too_many_hooks",
                status=429,
            )
        self.times.append(now)


def add_hook_routes(
    app: FastAPI, talk: Talk, wiring: Wiring, rules: HttpRules, *, now: Callable[[], float] = time.monotonic
) -> None:
    """The door has asked for the token of the hooks already. They are there while the settings say so."""
    pace = Pace()

    def open_rules() -> HookRules:
        hooks = wiring.hooks()
        if hooks.token is None:
            raise Refused(
                "Webhooks are off. Set gateway.hooks.enabled and gateway.hooks.token to use them.",
                code="not_found",
                status=404,
            )
        pace.take(hooks.per_minute, now())
        return hooks

    @app.post("/hooks/agent", **described("hooks_agent", body=AgentHook, status=202))
    async def agent(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        hooks = open_rules()
        hook = body_of(AgentHook, await request.body(), like='{"message": "The build failed.", "name": "ci"}')
        check_text(hook.message, rules)
        return await _begun(talk, wiring, hooks, hook, once=request.headers.get("idempotency-key", "")[:200])

    @app.post("/hooks/wake", **described("hooks_wake", body=WakeHook))
    async def wake(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        open_rules()
        hook = body_of(WakeHook, await request.body(), like='{"text": "The parcel has come."}')
        check_text(hook.text, rules)
        talk.check_open()
        if wiring.wake is None:
            raise Refused(
                "This gateway has no heartbeat that could be woken. Use /hooks/agent.",
                code="unsupported",
                status=501,
            )
        await wiring.wake(wiring.frame("wake", hook.text, wiring.new_id()), hook.mode == "now")
        return JsonAnswer({"woken": hook.mode})


async def _begun(talk: Talk, wiring: Wiring, hooks: HookRules, hook: AgentHook, *, once: str) -> Response:
    """Raises Refused."""
    agent = talk.key_of(hook.agent, None).agent
    if hooks.agents and agent not in hooks.agents:
        raise Refused(
            f"Webhooks may not ask the agent {agent!r}; gateway.hooks.agents says which ones they may.",
            code="agent_refused",
            status=403,
        )
    begun = await talk.begin(
        agent=agent,
        session=f"hook-{hook.name}",
        text=wiring.frame(hook.name, hook.message, wiring.new_id()),
        sender=f"webhook {hook.name}",
        trust="known",
        source=f"webhook {hook.name}",
        once=once and f"hook {hook.name} {once}",
    )
    return JsonAnswer({"run_id": begun.run, "session_key": str(begun.key)}, status_code=202)
