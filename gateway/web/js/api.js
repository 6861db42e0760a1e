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
  throw failure(answer.status, await answer.json().catch(() => null));
}

function failure(status, told) {
  const { message, code } = told?.error ?? { message: `The gateway answered ${status}.`, code: "unknown" };
  if (status === 401) onUnauthorized(message);
  return new ApiError(message, status, code);
}

/** The token is wrong, whoever found it out. */
export const unauthorized = (message) => onUnauthorized(message);

const JSON_BODY = { "content-type": "application/json" };
const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value != null)).toString();
const post = (path, body) => json(path, { method: "POST", headers: JSON_BODY, body: JSON.stringify(body ?? {}) });
const json = async (path, options) => (await ask(path, options)).json();

export const agents = () => json("/api/agents");
export const models = () => json("/api/models");
export const sessions = () => json("/api/sessions");
export const session = (key, limit) => json(`/api/sessions/${encodeURIComponent(key)}?${query({ limit })}`);
export const stop = (key) => json(`/api/sessions/${encodeURIComponent(key)}/stop`, { method: "POST" });
export const search = (q, agent, signal) => json(`/api/memory/search?${query({ q, agent, max_results: 12 })}`, { signal });
export const file = (path, agent, from_line, lines) => json(`/api/memory/file?${query({ path, agent, from_line, lines })}`);

export const approvals = () => json("/api/approvals");
export const approve = (id, always = false) => post(`/api/approvals/${encodeURIComponent(id)}/approve`, { always });
export const deny = (id) => post(`/api/approvals/${encodeURIComponent(id)}/deny`);
export const forget = (id) => post(`/api/approvals/${encodeURIComponent(id)}/forget`);
export const status = () => json("/api/status");
export const channels = () => json("/api/channels");
export const restart = (channel, account) => post("/api/channels/restart", { channel, account });
export const outbox = () => json("/api/outbox");
export const retry = (key) => post("/api/outbox/retry", { key });

/** A file that the agent sent, as a Blob. */
export const sent = async (key, ref) =>
  (await ask(`/api/sessions/${encodeURIComponent(key)}/files/${encodeURIComponent(ref)}`)).blob();

/** Sends a message; `run` names the turn, `events` gives [name, data] pairs until it has ended or the connection is lost.
 * `progress` is told how much of the files has gone. */
export async function chat(agent, session, text, files = [], progress = () => {}) {
  const body = { agent, ...(session === null ? {} : { session }), text, stream: true, takes_files: true };
  if (files.length) return chatWith(body, files, progress);
  const answer = await ask("/api/chat", { method: "POST", headers: JSON_BODY, body: JSON.stringify(body) });
  return { run: answer.headers.get("x-clawd-run"), events: events(answer.body.pipeThrough(new TextDecoderStream())) };
}

async function chatWith(body, files, progress) {
  const { send } = await import("./upload.js");
  const form = new FormData();
  Object.entries(body).forEach(([name, value]) => form.append(name, String(value)));
  files.forEach((file) => form.append("file", file, file.name));
  let answer;
  try {
    answer = await send("/api/chat", { authorization: `Bearer ${token.current() ?? ""}` }, form, progress);
  } catch {
    onGone();
    throw new ApiError("The connection broke while the files were sent.", 0, "unreachable");
  }
  if (answer.status === 200) return { run: answer.header("x-clawd-run"), events: events(answer.text) };
  let told = "";
  for await (const piece of answer.text) told += piece;
  throw failure(answer.status, parsed(told));
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
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
