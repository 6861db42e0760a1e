// Places in memory, such as memory/2026-11-29.md:3-5, made clickable.

import { el } from "./dom.js";

const PLACE = /(?<![\w/.-])((?:memory\/[\p{L}\p{N}_./-]+|MEMORY)\.md)(?::(\d+)(?:[-–](\d+))?)?(?![\w/])/gu;
const WHOLE = new RegExp(`^(?:${PLACE.source})$`, "u");

/** {path, start, end} when the whole text is a citation; `start` is null when it names no lines. */
export function citation(text) {
  const match = WHOLE.exec(text.trim());
  return match && asCitation(match);
}

function asCitation([, path, start, end]) {
  const first = start ? Number(start) : null;
  return { path, start: first, end: end ? Math.max(first, Number(end)) : first };
}

/** A link in looks and a button in deeds: a real button would not break over lines with the text around it. */
export function citeButton(cited, label, open) {
  const link = el("a", { role: "button", tabindex: "0", class: "cite", title: "Show these lines" }, label);
  link.addEventListener("click", () => open(cited));
  link.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open(cited);
  });
  return link;
}

/** Replaces every citation in text and inline code below `root`, but not in links and code blocks. */
export function linkCitations(root, open) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) {
    if (!text.parentElement?.closest("a, pre, button")) replaceIn(text, open);
  }
}

function replaceIn(text, open) {
  const parts = [];
  let from = 0;
  for (const match of text.data.matchAll(PLACE)) {
    parts.push(text.data.slice(from, match.index), citeButton(asCitation(match), match[0], open));
    from = match.index + match[0].length;
  }
  if (!parts.length) return;
  parts.push(text.data.slice(from));
  const code = text.parentElement?.closest("code");
  const alone = code && code.textContent === text.data && parts.length === 3 && !parts[0] && !parts[2];
  (alone ? code : text).replaceWith(...parts.filter((part) => part !== ""));
}
