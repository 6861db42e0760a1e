// What the person said, and what became of it.

import { el, timeElement } from "./dom.js";

export class UserMessage {
  constructor(text, at, images = 0) {
    this.text = text;
    this._trouble = el("p", { class: "trouble", role: "alert", hidden: true });
    this.element = el(
      "article",
      { class: "user", "aria-label": "You" },
      el("div", { class: "bubble" }, text || null, images ? ` [${images} ${images === 1 ? "image" : "images"}]` : null),
      this._trouble,
      timeElement(at, { class: "message-time" }),
    );
  }

  /** `uncertain`: no answer came, so that the message may have arrived all the same. */
  fail(why, uncertain, again, edit) {
    this.uncertain = uncertain;
    this.element.classList.add("failed");
    this._trouble.hidden = false;
    this._trouble.replaceChildren(
      why,
      el("button", { type: "button", class: "link-button", onclick: again }, "Send again"),
      el("button", { type: "button", class: "link-button", onclick: edit }, "Edit"),
    );
  }

  clear() {
    this.element.classList.remove("failed");
    this._trouble.hidden = true;
    this._trouble.replaceChildren();
  }
}
