// What an empty conversation shows.

import { el } from "./dom.js";

const IDEAS = ["What do you know about me?", "Remember that …", "What did we decide last week?"];

/** `named` is null for a session that has its name already, else it takes one; `idea` fills the composer. */
export function welcome(named, idea) {
  const box = el(
    "section",
    { class: "welcome" },
    el("h2", {}, "What is on your mind?"),
    el("p", {}, "What you ask clawd to remember goes into notes that you can read, and answers come with the place they were found."),
    el("div", { class: "ideas" }, ...IDEAS.map((text) => el("button", { type: "button", class: "chip", onclick: () => idea(text.replace("…", "")) }, text))),
  );
  if (named) {
    const field = el("input", { id: "session-name", class: "field", maxlength: "60", autocomplete: "off", placeholder: "optional", oninput: () => named(field.value.trim()) });
    box.append(el("label", { for: "session-name" }, "Name of this conversation"), field);
  }
  return box;
}
