// Whether the gateway is there, told as it is.

import * as api from "./api.js";
import { $ } from "./dom.js";

const CALM_SECONDS = 20;
const WORRIED_SECONDS = 2;
const TEXTS = {
  gone: "The gateway does not answer. Trying again …",
  busy: "The gateway is starting or stopping. A message can be sent in a moment.",
};

/** Calls `back()` whenever the gateway has come back. */
export class Connection {
  constructor(back) {
    this._back = back;
    this._state = "ready";
    document.addEventListener("visibilitychange", () => document.hidden || this.look());
    window.addEventListener("online", () => this.look());
    api.whenGone(() => this._state === "ready" && this.look());
    this.look();
  }

  async look() {
    clearTimeout(this._timer);
    const before = this._state;
    this._state = await api.state();
    $("connection").hidden = this._state === "ready";
    $("connection").classList.toggle("calm", this._state === "busy");
    $("connection").textContent = TEXTS[this._state] ?? "";
    const wait = document.hidden || this._state === "ready" ? CALM_SECONDS : WORRIED_SECONDS;
    clearTimeout(this._timer);
    this._timer = setTimeout(() => this.look(), wait * 1000);
    if (before !== "ready" && this._state === "ready") this._back();
  }
}
