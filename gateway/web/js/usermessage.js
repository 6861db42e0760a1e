// What the person said, and what became of it.

import { fileChip } from "./attachments.js";
import { el, picture, timeElement } from "./dom.js";

export class UserMessage {
  /** `files` are those of this page; of those that were sent before, only the number of `images` is known. */
  constructor(text, at, images = 0, files = []) {
    this.text = text;
    this.files = files;
    this._sending = el("progress", { max: "1", "aria-label": "Sending the files", hidden: true });
    this._trouble = el("p", { class: "trouble", role: "alert", hidden: true });
    this.element = el(
      "article",
      { class: "user", "aria-label": "You" },
      text || !files.length ? el("div", { class: "bubble", dir: "auto" }, text || null, images ? ` [${images} ${images === 1 ? "image" : "images"}]` : null) : null,
      files.length ? el("div", { class: "with-files" }, ...files.map(shown)) : null,
      this._sending,
      this._trouble,
      timeElement(at, { class: "message-time" }),
    );
  }

  /** `uncertain`: no answer came, so that the message may have arrived all the same. */
  fail(why, uncertain, again, edit) {
    this.uncertain = uncertain;
    this.element.classList.add("failed");
    this._sending.hidden = true;
    this._trouble.hidden = false;
    this._trouble.replaceChildren(
      why,
      el("button", { type: "button", class: "link-button", onclick: again }, "Send again"),
      el("button", { type: "button", class: "link-button", onclick: edit }, "Edit"),
    );
  }

  /** How much of the files has gone, from 0 to 1. */
  progress(share) {
    this._sending.hidden = share >= 1;
    this._sending.value = share;
  }

  clear() {
    this.element.classList.remove("failed");
    this._trouble.hidden = true;
    this._trouble.replaceChildren();
  }
}

/** A picture as such, any other file by its name. */
function shown(file) {
  const place = fileChip(file, null, "div");
  if (/^image\/(?!svg)/.test(file.type)) picture(file, file.name, 240).then((found) => found && place.replaceWith(found));
  return place;
}
