// Markdown to elements that cannot run anything: marked parses, DOMPurify cleans, the rest is ours.

import { marked } from "../vendor/marked.esm.js";
import "../vendor/purify.min.js";
import { linkCitations, citation, citeButton } from "./citations.js";
import { copyButton, el } from "./dom.js";

const purify = globalThis.DOMPurify;

const ALLOWED = {
  ALLOWED_TAGS: [
    "a", "b", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "input",
    "kbd", "li", "ol", "p", "pre", "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["href", "src", "alt", "title", "class", "type", "checked", "disabled", "start", "align", "colspan", "rowspan"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

/** A fragment for the Markdown text; `openCitation` is called when a citation in it is clicked. */
export function render(text, openCitation) {
  const fragment = purify.sanitize(marked.parse(text, { gfm: true, breaks: false }), ALLOWED);
  fragment.querySelectorAll("[class]").forEach(onlyLanguage);
  fragment.querySelectorAll("input").forEach(onlyCheckbox);
  fragment.querySelectorAll("img").forEach(imageToLink);
  fragment.querySelectorAll("a").forEach((link) => safeLink(link, openCitation));
  linkCitations(fragment, openCitation);
  fragment.querySelectorAll("p, ul, ol, blockquote, h1, h2, h3, h4, h5, h6, td, th").forEach(ownDirection);
  fragment.querySelectorAll("pre").forEach(codeBlock);
  fragment.querySelectorAll("table").forEach(scrollable);
  return fragment;
}

/** A list goes by its own text as a whole, so that its signs stand where its lines begin. */
function ownDirection(node) {
  if (!node.parentElement?.closest("ul, ol, blockquote")) node.dir = "auto";
}

/** Answers cannot borrow the looks of the page itself. */
function onlyLanguage(node) {
  if (!/^language-[\w+#.-]+$/.test(node.className)) node.removeAttribute("class");
}

function onlyCheckbox(input) {
  if (input.type !== "checkbox") input.remove();
  else input.disabled = true;
}

/** A picture elsewhere would tell its server what was said; it becomes a link that a person may follow. */
function imageToLink(image) {
  const source = image.getAttribute("src") ?? "";
  const label = `Image: ${image.alt || source.slice(0, 80)}`;
  if (source.startsWith("data:image/")) return;
  image.replaceWith(el("a", { href: source }, label));
}

function safeLink(link, openCitation) {
  const address = link.getAttribute("href") ?? "";
  const cited = citation(address.replace(/#L?(\d)/, ":$1"));
  if (cited) {
    link.replaceWith(citeButton(cited, link.textContent, openCitation));
  } else if (/^(https?:|mailto:)/i.test(address)) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    link.title = address;
  } else {
    link.replaceWith(...link.childNodes);
  }
}

function codeBlock(pre) {
  const language = /language-([\w+#.-]+)/.exec(pre.firstElementChild?.className ?? "")?.[1] ?? "";
  const box = el("div", { class: "code" }, el("div", {}, el("span", {}, language), copyButton(() => pre.textContent)));
  pre.replaceWith(box);
  pre.tabIndex = 0;
  box.append(pre);
}

function scrollable(table) {
  const box = el("div", { class: "table", tabindex: "0" });
  table.replaceWith(box);
  box.append(table);
}
