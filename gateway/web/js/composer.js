// Where one writes: grows with the text, sends with Enter, stops with the square.

import { Attachments } from "./attachments.js";
import { $, el } from "./dom.js";

const COMMAND = navigator.userAgent.includes("Mac") ? "⌘ " : "Ctrl ";
const touch = matchMedia("(pointer: coarse)");

export class Composer {
  /** `send(text, files)`; `limits()` gives what one message may bring along. */
  constructor(send, stop, limits) {
    this._input = $("input");
    this._send = send;
    this._attachments = new Attachments(limits, () => this._fit());
    this._busy = false;
    $("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this._submit();
    });
    $("stop").addEventListener("click", stop);
    this._input.addEventListener("input", () => this._fit());
    this._input.addEventListener("keydown", (event) => this._key(event));
    $("composer").addEventListener("click", (event) => event.target.closest("button") || this._input.focus());
  }

  get text() {
    return this._input.value;
  }

  set text(value) {
    this._input.value = value;
    this._fit();
  }

  get files() {
    return this._attachments.files;
  }

  set files(files) {
    this._attachments.files = files;
  }

  focus() {
    this._input.focus();
  }

  /** `busy`: this page waits for an answer; `running`: a turn began elsewhere. `closed` is a sentence why one cannot
   * write here, or null. */
  show({ busy, running, closed }) {
    this._busy = busy;
    this._input.disabled = Boolean(closed);
    $("attach").disabled = Boolean(closed);
    this._input.placeholder = closed ? "Reading only" : "Message clawd";
    $("stop").hidden = !busy && !running;
    $("send").hidden = busy;
    this._hint(closed ?? null, busy || running);
    this._fit();
  }

  _submit() {
    const { text, files } = this;
    if (this._busy || !(text.trim() || files.length)) return;
    this.text = "";
    this.files = [];
    this._send(text, files);
  }

  _key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || touch.matches) return;
    event.preventDefault();
    this._submit();
  }

  _fit() {
    this._input.style.height = "auto";
    this._input.style.height = `${this._input.scrollHeight}px`;
    $("send").disabled = !(this.text.trim() || this.files.length) || this._input.disabled;
  }

  _hint(closed, busy) {
    const key = (name) => el("kbd", {}, name);
    $("hint").classList.toggle("important", Boolean(closed));
    if (closed) $("hint").replaceChildren(closed);
    else if (busy) $("hint").replaceChildren(key("Esc"), " stops the answer");
    else $("hint").replaceChildren(key("Enter"), " sends · ", key("Shift Enter"), " new line · ", key(`${COMMAND}K`), " conversations · ", key(`${COMMAND}/`), " memory");
  }
}
