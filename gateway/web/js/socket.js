// The page's one WebSocket: it asks, it is told, and it opens itself again when it breaks.

import { ApiError } from "./api.js";
import * as token from "./token.js";

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
const SILENT_MS = 75_000; // a gateway says something every 30 seconds
const STALE_MS = 35_000;

export class Socket {
  /** `on`: opened(health), event(name, payload), gap(), closed(), refused(error). */
  constructor(on) {
    this._on = on;
    this._asked = new Map();
    this._number = 0;
    this._failures = 0;
    this.up = false;
    document.addEventListener("visibilitychange", () => document.hidden || this.wake());
    window.addEventListener("online", () => this.wake());
  }

  open() {
    this._forget();
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws`);
    this._socket = socket;
    this._heard = Date.now();
    const ours = (act) => (event) => socket === this._socket && act(event);
    socket.onopen = ours(() => this._hello());
    socket.onmessage = ours(({ data }) => this._take(JSON.parse(data)));
    socket.onclose = ours(() => this._closed());
    this._watch = setInterval(() => Date.now() - this._heard > SILENT_MS && this._closed(), 15_000);
  }

  /** Somebody looks at the page again, or the network is back. */
  wake() {
    if (!this._socket && !this._timer) return;
    if (!this.up || Date.now() - this._heard > STALE_MS) this.open();
  }

  /** The payload of the answer. Throws ApiError; its status is 0 when no answer came. */
  ask(method, params = {}) {
    if (!this.up && method !== "connect") return Promise.reject(gone());
    this._number += 1;
    const id = String(this._number);
    this._socket.send(JSON.stringify({ type: "req", id, method, params }));
    return new Promise((resolve, reject) => { this._asked.set(id, { resolve, reject }); });
  }

  async _hello() {
    try {
      const { health } = await this.ask("connect", { auth: { token: token.current() ?? "" } });
      this.up = true;
      this._failures = 0;
      this._seq = 0;
      this._on.opened(health);
    } catch (error) {
      if (error.code === "unauthorized") this._refused(error);
    }
  }

  _refused(error) {
    this._forget();
    this._on.refused(error);
  }

  _take(frame) {
    this._heard = Date.now();
    if (frame.type === "res") {
      const { resolve, reject } = this._asked.get(frame.id) ?? {};
      this._asked.delete(frame.id);
      if (frame.ok) resolve?.(frame.payload);
      else reject?.(new ApiError(frame.error.message, 400, frame.error.code));
      return;
    }
    const missed = frame.seq !== this._seq + 1;
    this._seq = frame.seq;
    this._on.event(frame.event, frame.payload);
    if (missed) this._on.gap();
  }

  _closed() {
    this._forget();
    this._failures += 1;
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (this._failures - 1));
    this._timer = setTimeout(() => this.open(), wait * (0.75 + Math.random() / 2));
    this._on.closed();
  }

  _forget() {
    clearTimeout(this._timer);
    clearInterval(this._watch);
    this._timer = null;
    this.up = false;
    const old = this._socket;
    this._socket = null;
    old?.close();
    this._asked.forEach(({ reject }) => reject(gone()));
    this._asked.clear();
  }
}

const gone = () => new ApiError("The live connection is not there just now.", 0, "unreachable");
