// Asking the gateway. Every failure becomes an ApiError whose message a person can read.

import { events } from "./sse.js";
import * as token from "./token.js";

/** `status` 0: no answer came at all. */
export class ApiError extends Error {
  constructor(message, status, code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

let onUnauthorized = () => {};
let onGone = () => {};
export const whenUnauthorized = (action) => { onUnauthorized = action; };
export const whenGone = (action) => { onGone = action; };

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      ...options,
      cache: "no-store",
      headers: { authorization: `Bearer ${token.current() ?? ""}`, ...options.headers },
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    onGone();
    throw new ApiError("The gateway does not answer. Is it running?", 0, "unreachable");
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => null);
  const { message, code } = told?.error ?? { message: `The gateway answered ${answer.status}.`, code: "unknown" };
  if (answer.status === 401) onUnauthorized(message);
  throw new ApiError(message, answer.status, code);
}

const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value != null)).toString();
const json = async (path, options) => (await ask(path, options)).json();

export const agents = () => json("/api/agents");
export const models = () => json("/api/models");
export const sessions = () => json("/api/sessions");
export const session = (key, limit) => json(`/api/sessions/${encodeURIComponent(key)}?${query({ limit })}`);
export const stop = (key) => json(`/api/sessions/${encodeURIComponent(key)}/stop`, { method: "POST" });
export const search = (q, agent, signal) => json(`/api/memory/search?${query({ q, agent, max_results: 12 })}`, { signal });
export const file = (path, agent, from_line, lines) => json(`/api/memory/file?${query({ path, agent, from_line, lines })}`);

/** Sends a message; gives [event name, data] pairs until the turn has ended or the connection is lost. */
export async function chat(agent, session, text) {
  const answer = await ask("/api/chat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent, ...(session === null ? {} : { session }), text, stream: true }),
  });
  return events(answer.body);
}

/** Tells whoever watches the connection that it broke in the middle of an answer. */
export const broke = () => onGone();

/** "ready", "busy" (starting or stopping) or "gone". */
export async function state() {
  try {
    const answer = await fetch("/readyz", { cache: "no-store", signal: AbortSignal.timeout(5000) });
    return answer.ok ? "ready" : "busy";
  } catch {
    return "gone";
  }
}
