// Recorded messages as elements: an answer with all its tool calls is one element, as it was when live.

import { Answer } from "./answer.js";
import { UserMessage } from "./usermessage.js";

const still = (act) => act();

/** `key` is the session's; `later` is called around what makes the page longer afterwards. */
export function replay(messages, open, key, later) {
  const nodes = [];
  let answer = null;
  let last = null;
  const end = () => {
    if (!answer) return;
    answer.finish({ model: last?.model, usage: last?.usage });
    answer = null;
  };
  for (const message of messages) {
    if (message.role === "user") {
      end();
      nodes.push(new UserMessage(message.text, message.at, message.images).element);
      continue;
    }
    if (!answer) {
      answer = new Answer(open, still, key, later);
      nodes.push(answer.element);
    }
    if (message.role === "tool") {
      answer.finishCall(message.tool.call_id, message.text, message.tool.is_error, message.cut, message.file);
      continue;
    }
    last = message;
    if (message.thinking) answer.addThinking(message.thinking);
    if (message.text.trim()) answer.addText(message.text);
    for (const call of message.tool_calls ?? []) answer.startCall(call);
    if (message.error) {
      answer.fail(message.error);
      answer = null;
    }
  }
  end();
  return nodes;
}
