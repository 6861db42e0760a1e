"""What is told of a turn while it runs, as JSON: the same for every way of listening."""

from agents.model.provider import TextDelta, ThinkingDelta
from agents.turn import Retrying, ToolFinished, ToolStarted, TurnEvent
from gateway.http.answers import cut, sent_json
from sessions.messages import JsonObject, ToolCall, text_of


def event_json(event: TurnEvent) -> tuple[str, JsonObject]:
    """Its name (text, thinking, tool or retry) and its data; results of tools are cut."""
    match event:
        case TextDelta():
            return "text", {"delta": event.text}
        case ThinkingDelta():
            return "thinking", {"delta": event.text}
        case ToolStarted():
            return "tool", _call(event.call) | {"state": "started"}
        case ToolFinished():
            outcome: JsonObject = {
                "state": "finished",
                "is_error": event.result.is_error,
                "result": cut(text_of(event.result.parts)),
                **sent_json(event.result),
            }
            return "tool", _call(event.call) | outcome
        case Retrying():
            return "retry", {"reason": event.reason, "seconds": event.seconds}


def _call(call: ToolCall) -> JsonObject:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}
