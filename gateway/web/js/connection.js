// Whether the gateway is there, told as it is. While it tells things live, nobody has to ask.

import * as api from "./api.js";
import { $ } from "./dom.js";

const CALM_SECONDS = 20;
const WORRIED_SECONDS = 2;
const GRACE_MS = 30_000;
const TEXTS = {
  gone: "The gateway does not answer. Trying again …",
  busy: "The gateway is starting or stopping. A message can be sent in a moment.",
  restart: "clawd is restarting. This page goes on by itself.",
  stop: "clawd is being stopped. This page goes on when it runs again.",
};

/** Calls `back()` whenever the gateway has come back. */
export class Connection {
  constructor(back) {
    this._back = back;
    this._state = "ready";
    this._live = false;
    document.addEventListener("visibilitychange", () => document.hidden || this.look());
    window.addEventListener("online", () => this.look());
    api.whenGone(() => this._state === "ready" && this.look());
  }

  /** The gateway says itself that it stops. */
  stops({ reason, restart_expected_ms }) {
    this._reason = reason;
    this._expected = Date.now() + restart_expected_ms + GRACE_MS;
    this._show();
  }

  /** Whether the live connection stands. */
  live(on) {
    this._live = on;
    if (on) this._reason = null;
    this.look();
  }

  async look() {
    clearTimeout(this._timer);
    const before = this._state;
    this._state = this._live ? "ready" : await api.state();
    if (this._state === "ready" && !this._live && before !== "ready") this._reason = null;
    this._show();
    clearTimeout(this._timer);
    if (!this._live) this._timer = setTimeout(() => this.look(), this._wait() * 1000);
    if (before !== "ready" && this._state === "ready") this._back();
  }

  _wait() {
    return document.hidden || this._state === "ready" ? CALM_SECONDS : WORRIED_SECONDS;
  }

  _show() {
    const told = this._reason && Date.now() < this._expected ? this._reason : null;
    const text = TEXTS[told] ?? TEXTS[this._state] ?? "";
    $("connection").hidden = !text;
    $("connection").classList.toggle("calm", Boolean(told) || this._state === "busy");
    if ($("connection").textContent !== text) $("connection").textContent = text;
  }
}
