// Waiting for an answer that comes by no stream: the session is read again and again.

const SECONDS = 2;
const ASKS_AFTER_RETURN = 5;

/**
 * `ask` gives the messages or null when the gateway does not answer; `show` shows them; `stopped` says that nobody
 * waits any more. True when the last message is an answer. A gateway that was gone in between gives up soon.
 */
export async function follow({ asks, ask, show, stopped }) {
  let left = asks;
  let gone = false;
  while (left > 0) {
    const told = await ask();
    if (told) show(told);
    if (told && isAnswered(told.messages)) return true;
    if (stopped()) return true;
    if (told && gone) left = Math.min(left, ASKS_AFTER_RETURN);
    gone = !told;
    left -= 1;
    await new Promise((resolve) => { setTimeout(resolve, SECONDS * 1000); });
  }
  return false;
}

export function isAnswered(messages) {
  const last = messages.at(-1);
  return !last || (last.role === "assistant" && !last.tool_calls);
}
