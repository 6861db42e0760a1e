"""What happens in the gateway, told live to everyone who listens."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from agents.clock import Clock, system_clock
from agents.turn import TurnEvent
from gateway.http.events import event_json
from gateway.http.runs import Run, Runs
from gateway.views import ChatReply, Refused, reply_json, time_json
from sessions.key import SessionKey
from sessions.messages import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """`session` is the key that it is about, None when it is for everyone. What is `optional` may be left out
    for a listener who is slow."""

    event: str
    payload: JsonObject
    session: SessionKey | None = None
    optional: bool = False


class Listener(Protocol):
    """`hear` takes it at once and never raises; `leave` closes with a code of RFC 6455."""

    def hear(self, news: News) -> None: ...

    def leave(self, code: int, reason: str) -> None: ...


class Hub:
    """Lives on the event loop. Nobody who tells something waits for those who listen. `runs` are the turns
    under way."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._listeners: set[Listener] = set()
        self._clock = clock
        self.runs = Runs()

    def __len__(self) -> int:
        return len(self._listeners)

    def join(self, listener: Listener) -> Callable[[], None]:
        """What is to be called when the listener has gone."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    def tell(self, news: News) -> None:
        for listener in tuple(self._listeners):
            listener.hear(news)

    def begun(self, key: SessionKey, run: str, text: str) -> None:
        """A turn has been asked for, with this text of a person."""
        now = self._clock()
        self.runs.begin(Run(id=run, key=key, text=text, since=now))
        self._chat(key, run, "started", {"text": text, "since": time_json(now)})
        self.sessions_changed(key, "begun")

    def joined(self, key: SessionKey, run: str, text: str) -> None:
        """What somebody said meanwhile has joined the turn."""
        self._happened(key, run, "joined", {"text": text})

    def event(self, key: SessionKey, run: str, event: TurnEvent) -> None:
        name, data = event_json(event)
        self._happened(key, run, name, data, optional=name in ("text", "thinking"))

    def done(self, reply: ChatReply, run: str) -> None:
        """A turn has its answer."""
        self.over(run)
        told = reply_json(reply)
        self._chat(reply.key, run, "done", told)
        about: JsonObject = {"session_key": str(reply.key), "model": reply.model, "usage": told["usage"]}
        self.tell(News(event="usage", payload=about))
        self.sessions_changed(reply.key, "turn")

    def failed(self, key: SessionKey, run: str, refused: Refused) -> None:
        self.over(run)
        self._chat(key, run, "error", {"code": refused.code, "message": str(refused)})
        self.sessions_changed(key, "turn")

    def over(self, run: str) -> None:
        """The turn is under way no more, however it ended."""
        self.runs.end(run, self._clock())

    def sessions_changed(self, key: SessionKey, why: str) -> None:
        """`why`: begun, turn (it has ended), reset, compact or resume."""
        self.tell(News(event="sessions.changed", payload={"session_key": str(key), "why": why}))

    def shutting_down(self, *, reason: str, restart_ms: int) -> None:
        """Tell that the gateway stops; what runs is told to its end."""
        self.tell(News(event="shutdown", payload={"reason": reason, "restart_expected_ms": restart_ms}))

    def leave(self) -> None:
        """Close every connection: the service restarts (1012)."""
        for listener in tuple(self._listeners):
            listener.leave(1012, "the gateway stops")

    def _happened(
        self, key: SessionKey, run: str, kind: str, data: JsonObject, *, optional: bool = False
    ) -> None:
        self.runs.take(run, kind, data)
        if self._listeners:
            self._chat(key, run, kind, data, optional=optional)

    def _chat(
        self, key: SessionKey, run: str, kind: str, data: JsonObject, *, optional: bool = False
    ) -> None:
        payload: JsonObject = {**data, "session_key": str(key), "run_id": run, "kind": kind}
        self.tell(News(event="chat", payload=payload, session=key, optional=optional))
