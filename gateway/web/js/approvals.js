// What waits for the owner's word: cards above the composer, a badge in the list, gone when decided anywhere.

import * as api from "./api.js";
import { $, announce, el } from "./dom.js";

const ENDS = {
  once: "Approved.", always: "Approved, and kept for good.", deny: "Denied.",
  timeout: "Nobody answered in time, so it was denied.", gone: "The question has gone with its turn.",
};
const POLL_MS = 4000;

export class Approvals {
  /** `page`: current() is the key of the session that is shown, name(key) is what a person calls it, show(key) opens it,
   * changed() draws the list, withdraw(key, text) takes the question out of an answer. */
  constructor(page) {
    this._page = page;
    this._waiting = new Map();
    this._cards = new Map();
  }

  set(pending) {
    const known = new Set(pending.map((one) => one.id));
    [...this._waiting.keys()].filter((id) => !known.has(id)).forEach((id) => this._forget(id));
    pending.forEach((one) => this._keep(one));
    this._changed();
  }

  add(one) {
    if (this._keep(one)) announce(`clawd asks for approval: ${one.tool}.`);
    this._changed();
  }

  over({ id, decision }) {
    if (!this._waiting.has(id)) return;
    const card = this._cards.get(id);
    const hadFocus = card && (card.dataset.here || card.contains(document.activeElement));
    this._forget(id);
    announce(ENDS[decision] ?? "");
    this._changed();
    if (hadFocus) ($("asks").querySelector("button") ?? $("input")).focus();
  }

  has(key) {
    return [...this._waiting.values()].some((one) => one.session_key === key);
  }

  /** Whether a piece of an answer is such a question, which has a card of its own. */
  isQuestion(text) {
    const trimmed = text.trim();
    return [...this._waiting.values()].some((one) => one.text === trimmed);
  }

  /** Where nothing is told live, the questions are asked for while a turn runs. */
  poll(on) {
    if (on === Boolean(this._polling)) return;
    clearInterval(this._polling);
    this._polling = on ? setInterval(() => this._ask(), POLL_MS) : 0;
    if (!on) this._ask();
  }

  /** Shows the cards of the session that is open, and a line about those elsewhere. */
  draw() {
    const here = this._page.current();
    const all = [...this._waiting.values()];
    const cards = all.filter((one) => one.session_key === here).map((one) => this._card(one));
    const other = all.find((one) => one.session_key !== here);
    if (other) cards.push(this._elsewhere(other));
    const shown = [...$("asks").children];
    if (shown.length !== cards.length || cards.some((card, at) => card !== shown[at])) $("asks").replaceChildren(...cards);
    $("asks").hidden = !cards.length;
    clearInterval(this._clock);
    if (cards.length) this._clock = setInterval(() => this._tick(), 1000);
    this._tick();
  }

  async _ask() {
    try {
      this.set((await api.approvals()).pending);
    } catch {
      // The connection's banner says what is wrong.
    }
  }

  _keep(one) {
    if (this._waiting.has(one.id)) return false;
    this._waiting.set(one.id, { ...one, ends: Date.now() + one.seconds_left * 1000 });
    this._page.withdraw(one.session_key, one.text);
    return true;
  }

  _forget(id) {
    this._waiting.delete(id);
    this._cards.delete(id);
  }

  _changed() {
    this.draw();
    this._page.changed();
  }

  _tick() {
    for (const time of $("asks").querySelectorAll("[data-ends]")) {
      const left = Math.max(0, Math.ceil((Number(time.dataset.ends) - Date.now()) / 1000));
      time.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    }
  }

  _elsewhere(one) {
    const text = `${one.tool} needs your approval in ${this._page.name(one.session_key)}. `;
    const known = $("asks").querySelector(".elsewhere");
    if (known?.dataset.id === one.id) return known;
    const go = el("button", { type: "button", class: "link-button", onclick: () => this._page.show(one.session_key) }, "Show");
    return el("p", { class: "ask elsewhere", role: "status", "data-id": one.id }, text, go);
  }

  _card(one) {
    const known = this._cards.get(one.id);
    if (known) return known;
    const trouble = el("p", { class: "error-text", role: "alert", hidden: true });
    const buttons = [this._button("Approve", "primary", one, api.approve, trouble)];
    if (one.always) buttons.push(this._button("Always", "secondary", one, (id) => api.approve(id, true), trouble));
    buttons.push(this._button("Deny", "secondary deny", one, api.deny, trouble));
    const card = el("article", { class: "ask", role: "group", "aria-label": `Approval of ${one.tool}` },
      el("header", {},
        el("h2", {}, el("code", {}, one.tool), " needs your approval"),
        el("span", { class: "left", title: "Then it is denied", "data-ends": one.ends, "aria-hidden": "true" })),
      el("div", { class: "matter" },
        el("pre", { tabindex: "0", "aria-label": "What would be done" }, one.what),
        el("p", {}, el("bdi", {}, one.why)),
        el("p", { class: "muted small" }, facts(one)),
        one.always ? el("p", { class: "muted small" }, el("bdi", {}, `Always: ${one.always}.`)) : null),
      el("div", { class: "choices" }, ...buttons),
      trouble);
    this._cards.set(one.id, card);
    return card;
  }

  _button(label, looks, one, act, trouble) {
    const button = el("button", { type: "button", class: looks }, label);
    button.addEventListener("click", async () => {
      const card = button.closest(".ask");
      const all = button.parentElement.querySelectorAll("button");
      all.forEach((other) => { other.disabled = true; });
      card.dataset.here = "yes";
      try {
        await act(one.id);
        this.over({ id: one.id, decision: { Approve: "once", Always: "always" }[label] ?? "deny" });
      } catch (error) {
        if (error.status === 404) return this.over({ id: one.id, decision: "timeout" });
        trouble.hidden = false;
        trouble.textContent = error.message;
        all.forEach((other) => { other.disabled = false; });
        button.focus();
      }
    });
    return button;
  }
}

function facts(one) {
  const variables = one.env.length ? `with the variables ${one.env.join(", ")}` : null;
  const where = one.cwd ? `in ${one.cwd}` : null;
  return `${[where, one.sandbox ? "in the sandbox" : null, variables].filter(Boolean).concat(`asked by ${one.sender}`).join(" · ")}`;
}
