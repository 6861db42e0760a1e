// The list of conversations: filter, arrows, choice.

import { $, el, timeElement } from "./dom.js";
import { parse } from "./keys.js";

export class SessionList {
  constructor(choose) {
    this._choose = choose;
    this._records = [];
    this._busy = () => false;
    this._asks = () => false;
    $("filter").addEventListener("input", () => this.draw());
    $("filter").addEventListener("keydown", (event) => this._fromFilter(event));
    $("session-list").addEventListener("keydown", (event) => this._fromList(event));
  }

  /** `records` as /api/sessions gives them; `current` a parsed key; `busy` says which are being answered, `asks` which
   * wait for an approval. */
  set(records, current, busy, asks) {
    this._asks = asks;
    this._records = records.map((record) => ({ ...record, ...parse(record.key) }));
    this._current = current;
    this._busy = busy;
    const mine = this._records.some((one) => one.key === current.key);
    if (!mine) this._records.unshift({ ...current, last_seen_at: null });
    this.draw();
  }

  draw() {
    const wanted = $("filter").value.trim().toLowerCase();
    const shown = this._records.filter((one) => `${one.title} ${one.place ?? ""} ${one.agent}`.toLowerCase().includes(wanted));
    const focused = document.activeElement?.dataset?.key;
    $("session-list").replaceChildren(...shown.map((one) => this._row(one)));
    if (!shown.length) $("session-list").append(el("li", { class: "none" }, wanted ? "Nothing by that name." : "Nothing yet."));
    if (focused) this._buttons().find((button) => button.dataset.key === focused)?.focus();
  }

  _row(one) {
    const when = this._when(one);
    const name = [one.place, one.title].filter(Boolean).join(": ");
    const button = el(
      "button",
      {
        type: "button",
        class: "session",
        "data-key": one.key,
        "aria-current": one.key === this._current.key ? "true" : null,
        onclick: () => this._choose(one),
      },
      el("span", { class: "name", title: name }, el("bdi", {}, name)),
      when,
    );
    return el("li", {}, button);
  }

  _when(one) {
    if (this._asks(one.key)) return el("span", { class: "when asks" }, "approve?");
    if (this._busy(one.key)) return el("span", { class: "when busy" }, "answering");
    return one.last_seen_at ? timeElement(one.last_seen_at, { class: "when" }) : el("span", { class: "when" }, "new");
  }

  _buttons() {
    return [...$("session-list").querySelectorAll("button")];
  }

  _fromFilter(event) {
    const [first] = this._buttons();
    if (event.key === "ArrowDown") first?.focus();
    else if (event.key === "Enter") first?.click();
    else return;
    event.preventDefault();
  }

  _fromList(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const buttons = this._buttons();
    const next = buttons.indexOf(document.activeElement) + step;
    (next < 0 ? $("filter") : buttons[next])?.focus();
    event.preventDefault();
  }
}
