// Where one writes: grows with the text, sends with Enter, stops with the square.

import { $, el } from "./dom.js";

const COMMAND = navigator.userAgent.includes("Mac") ? "⌘ " : "Ctrl ";
const touch = matchMedia("(pointer: coarse)");

export class Composer {
  constructor(send, stop) {
    this._input = $("input");
    this._send = send;
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

  focus() {
    this._input.focus();
  }

  /** `closed` is a sentence why one cannot write here, or null. */
  show({ busy, closed }) {
    this._busy = busy;
    this._input.disabled = Boolean(closed);
    this._input.placeholder = closed ? "Reading only" : "Message clawd";
    $("stop").hidden = !busy;
    $("send").hidden = busy;
    this._hint(closed ?? null, busy);
    this._fit();
  }

  _submit() {
    const text = this.text;
    if (this._busy || !text.trim()) return;
    this.text = "";
    this._send(text);
  }

  _key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || touch.matches) return;
    event.preventDefault();
    this._submit();
  }

  _fit() {
    this._input.style.height = "auto";
    this._input.style.height = `${this._input.scrollHeight}px`;
    $("send").disabled = !this.text.trim() || this._input.disabled;
  }

  _hint(closed, busy) {
    const key = (name) => el("kbd", {}, name);
    $("hint").classList.toggle("important", Boolean(closed));
    if (closed) $("hint").replaceChildren(closed);
    else if (busy) $("hint").replaceChildren(key("Esc"), " stops the answer");
    else $("hint").replaceChildren(key("Enter"), " sends · ", key("Shift Enter"), " new line · ", key(`${COMMAND}K`), " conversations · ", key(`${COMMAND}/`), " memory");
  }
}
