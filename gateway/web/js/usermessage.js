// What the person said, and what became of it.

import { fileChip } from "./attachments.js";
import { el, picture, timeElement } from "./dom.js";

const FILE = /^\[file "([^"\n]*)": [^\n]*, stored as [^\n]*\]$/gm; // as gateway/media/taking.py writes it
const WORDLESS = "(files, without a text)";

/** What a person wrote, without what the gateway added of files; and the names of those. */
export function wordsOf(text) {
  const found = [...text.matchAll(FILE)];
  if (!found.length) return { words: text, names: [], rest: "" };
  const words = text.slice(0, found[0].index).trim();
  return { words: words === WORDLESS ? "" : words, names: found.map((one) => one[1]), rest: text.slice(found[0].index) };
}

export class UserMessage {
  /** `files` are those of this page; of those that were sent before, only the number of `images` is known. */
  constructor(text, at, images = 0, files = []) {
    this.text = text;
    this.files = files;
    const { words, names, rest } = wordsOf(text);
    const named = names.length > 0;
    const seen = images ? ` [${images} ${images === 1 ? "image" : "images"}]` : "";
    this._sending = el("progress", { max: "1", "aria-label": "Sending the files", hidden: true });
    this._trouble = el("p", { class: "trouble", role: "alert", hidden: true });
    this.element = el(
      "article",
      { class: "user", "aria-label": "You" },
      words || !(files.length || names.length) ? el("div", { class: "bubble", dir: "auto" }, words || null, named ? null : seen) : null,
      named ? folded(names, seen, rest) : null,
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

/** Files of before by their names; what the model was given of them is inside. */
function folded(names, seen, rest) {
  const summary = el("summary", {}, el("span", { class: "file-name" }, el("bdi", {}, names.join(", "))), seen);
  return el("details", { class: "fold files" }, summary, el("div", { class: "inside" }, el("pre", { tabindex: "0", dir: "auto" }, rest)));
}

/** A picture as such, any other file by its name. */
function shown(file) {
  const place = fileChip(file, null, "div");
  if (/^image\/(?!svg)/.test(file.type)) picture(file, file.name, 240).then((found) => found && place.replaceWith(found));
  return place;
}
