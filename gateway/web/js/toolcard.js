// One tool call: a line that unfolds into its arguments and its result.

import { el, icon } from "./dom.js";

export class ToolCard {
  constructor(call) {
    this._state = el("span", { class: "spin", role: "img", "aria-label": "running" });
    this._inside = el("div", { class: "inside" });
    const brief = briefOf(call.arguments);
    this.element = el(
      "details",
      { class: "fold tool" },
      el("summary", {}, this._state, el("span", { class: "tool-name" }, call.name), el("span", { class: "tool-brief" }, brief)),
      this._inside,
    );
    this._inside.append(el("h3", {}, "Arguments"), el("pre", { tabindex: "0" }, JSON.stringify(call.arguments, null, 2)));
  }

  finish(result, failed, wasCut = false) {
    this._show(failed ? "cross" : "check", failed ? "bad" : "good", failed ? "failed" : "finished");
    this._inside.append(
      el("h3", {}, failed ? "Error" : "Result"),
      el("pre", { tabindex: "0" }, result || "(no output)"),
    );
    if (wasCut || result.length >= 4000) this._inside.append(el("p", { class: "muted small" }, "The rest is not shown here."));
    this.done = true;
  }

  /** The turn ended and nothing was heard of this call. */
  abandon() {
    if (this.done) return;
    this._show("cross", "bad", "interrupted");
    this.done = true;
  }

  _show(name, tone, label) {
    const sign = el("span", { class: tone, role: "img", "aria-label": label }, icon(name, 16));
    this._state.replaceWith(sign);
    this._state = sign;
  }
}

function briefOf(values) {
  const entries = Object.entries(values ?? {});
  if (!entries.length) return "";
  const shown = entries.map(([, value]) => (typeof value === "string" ? value : JSON.stringify(value)));
  return shown.join(" · ").replace(/\s+/g, " ").slice(0, 160);
}
