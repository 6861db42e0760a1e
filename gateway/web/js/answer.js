// One answer: text, thinking and tool calls in the order in which they came, live or from history.

import { announce, copyButton, el } from "./dom.js";
import { render } from "./markdown.js";
import { ToolCard } from "./toolcard.js";

const NUMBER = new Intl.NumberFormat();

export class Answer {
  /** `open` opens a citation; `changed` is called around every change, so that the page can stay at the bottom, and
   * `later` around those that come by themselves afterwards. `key` is the session's. */
  constructor(open, changed, key, later = changed) {
    this._open = open;
    this._changed = changed;
    this._key = key;
    this._later = later;
    this._cards = new Map();
    this._segments = [];
    this._working = el("div", { class: "working", role: "img", "aria-label": "clawd is working" }, el("i"), el("i"), el("i"));
    this._notice = el("p", { class: "notice-line", hidden: true });
    this.element = el("article", { class: "answer", "aria-label": "clawd" }, this._notice, this._working);
  }

  get text() {
    return this._segments.filter((part) => part.kind === "text").map((part) => part.raw).join("\n\n");
  }

  addText(delta) {
    this._add("text", delta);
  }

  addThinking(delta) {
    this._add("thinking", delta);
  }

  startCall(call) {
    this._close();
    const card = new ToolCard(call);
    this._cards.set(call.id, card);
    this._segments.push({ kind: "tool", element: card.element, kept: true });
    this._place(card.element);
  }

  finishCall(id, result, failed, wasCut, file = null) {
    this._changed(() => this._cards.get(id)?.finish(result, failed, wasCut));
    this._segments.forEach((part) => { part.kept = true; });
    if (file) this._addFile(file);
  }

  /** Takes a piece of the text out again. */
  drop(text) {
    const part = this._segments.find((one) => one.kind === "text" && one.raw.includes(text));
    if (!part) return;
    part.raw = part.raw.replace(text, "");
    this._draw(part);
  }

  /** The end of this piece; the answer goes on below what somebody said meanwhile. */
  pause() {
    this._end();
    if (!this._segments.length) this._changed(() => this.element.remove());
  }

  /** What was shown since the last tool result is void. */
  retry(reason, seconds) {
    this._close();
    this._changed(() => {
      this._segments.filter((part) => !part.kept).forEach((part) => part.element.remove());
      this._segments = this._segments.filter((part) => part.kept);
      this._note(seconds ? `${reason} Trying again in ${Math.max(1, Math.round(seconds))} s.` : reason);
    });
  }

  /** The end. `reply` is shown when nothing of it was streamed. */
  finish({ reply = "", model, usage, spoken = false } = {}) {
    if (reply && !this._segments.some((part) => part.kind === "text" && part.raw.trim())) this.addText(reply);
    this._end();
    if (this.text.trim()) this._changed(() => this.element.append(this._footer(model, usage)));
    if (spoken) announce(reply || this.text);
  }

  /** The end without an answer; `again` tries once more. */
  fail(message, again = null) {
    this._end();
    const button = again && el("button", { type: "button", class: "link-button" }, "Try again");
    button?.addEventListener("click", () => { button.remove(); again(); });
    this._changed(() => this.element.append(el("p", { class: "failure", role: "alert" }, message, " ", button)));
  }

  /** The end that the person wished for. */
  stopped() {
    this._end();
    this._changed(() => this.element.append(el("p", { class: "notice-line" }, "Stopped.")));
    announce("Stopped.");
  }

  /** Waiting for news that come by another way than this stream. */
  note(text) {
    this._changed(() => this._note(text));
  }

  _add(kind, delta) {
    let last = this._segments.at(-1);
    if (last?.kind !== kind || last.closed) {
      this._close();
      last = { kind, raw: "", wait: 0, timer: 0, ...frames[kind]() };
      this._segments.push(last);
      this._place(last.element);
    }
    last.raw += delta;
    this._note("");
    last.timer ||= setTimeout(() => this._draw(last), last.wait);
  }

  /** Drawing long Markdown takes time, so that the next drawing waits four times as long as the last took. */
  _draw(part) {
    part.timer = 0;
    const began = performance.now();
    this._changed(() => {
      if (part.kind === "text") part.target.replaceChildren(render(part.raw, this._open));
      else part.target.textContent = part.raw;
    });
    part.wait = Math.max(40, 4 * (performance.now() - began));
  }

  async _addFile(file) {
    this._close();
    const place = el("div");
    this._segments.push({ kind: "file", element: place, kept: true });
    this._place(place);
    const { sentFile } = await import("./sentfile.js");
    this._later(() => place.replaceChildren(sentFile(this._key, file, this._later)));
  }

  _close() {
    const last = this._segments.at(-1);
    if (!last || !("raw" in last)) return;
    last.closed = true;
    clearTimeout(last.timer);
    this._draw(last);
  }

  _end() {
    this._close();
    this._note("");
    this._cards.forEach((card) => card.abandon());
    this._working.remove();
  }

  _place(element) {
    this._changed(() => this.element.insertBefore(element, this._notice));
  }

  _note(text) {
    this._notice.hidden = !text;
    this._notice.textContent = text;
  }

  _footer(model, usage) {
    const tokens = usage?.total ? `${NUMBER.format(usage.total)} tokens` : null;
    const cost = usage?.cost_usd ? `$${usage.cost_usd.toFixed(4)}` : null;
    const facts = [model, tokens, cost].filter(Boolean).join(" · ");
    return el("footer", {}, el("span", {}, facts), copyButton(() => this.text, "Copy answer"));
  }
}

const frames = {
  text() {
    const element = el("div", { class: "md" });
    return { element, target: element };
  },
  thinking() {
    const target = el("div", { class: "inside" });
    return { element: el("details", { class: "fold thinking" }, el("summary", {}, "Thinking"), target), target };
  },
};
