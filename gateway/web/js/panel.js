// The side panel: searching memory, reading the lines of a note, seeing the models and how the gateway is.

import * as api from "./api.js";
import { $, el, icon } from "./dom.js";

const AROUND = 4;

export class Panel {
  /** `agent()` names whose memory is meant; `closed()` is called when the panel has gone. */
  constructor(agent, closed) {
    this._agent = agent;
    this._closed = closed;
    this._element = $("panel");
    this._query = "";
  }

  get isOpen() {
    return !this._element.hidden;
  }

  close() {
    this._element.hidden = true;
    this._searching?.abort();
    this._closed();
  }

  openSearch() {
    const field = el("input", {
      type: "search", class: "field", placeholder: "What do you look for?", "aria-label": "Search memory",
      autocomplete: "off", spellcheck: "false",
    });
    const results = el("ul", { class: "results" });
    const status = el("p", { class: "muted small", role: "status" });
    field.value = this._query;
    field.addEventListener("input", () => this._later(field.value, results, status));
    field.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") results.querySelector("button")?.focus();
    });
    this._fill("Memory", null, [field, status, results]);
    field.focus();
    if (this._query.trim()) this._search(this._query, results, status);
    else status.textContent = "Notes are searched by meaning and by words.";
  }

  _later(query, results, status) {
    this._query = query;
    clearTimeout(this._timer);
    this._timer = setTimeout(() => this._search(query, results, status), 250);
  }

  async _search(query, results, status) {
    this._searching?.abort();
    const mine = new AbortController();
    this._searching = mine;
    if (!query.trim()) return results.replaceChildren();
    status.textContent = "Searching …";
    try {
      const found = await api.search(query, this._agent(), mine.signal);
      results.replaceChildren(...found.results.map((hit) => el("li", {}, this._hit(hit))));
      status.textContent = [found.results.length ? "" : "Nothing was found.", found.warning].filter(Boolean).join(" ");
    } catch (error) {
      if (error.name !== "AbortError") status.textContent = error.message;
    }
  }

  _hit(hit) {
    const cited = { path: hit.path, start: hit.start_line, end: hit.end_line };
    return el(
      "button",
      { type: "button", class: "hit", onclick: () => this.openCitation(cited, true) },
      el("span", { class: "where" },
        el("code", {}, `${hit.path}:${linesOf(hit)}`),
        el("span", { class: "score", title: "How well it fits, from 0 to 1" }, hit.score.toFixed(2))),
      el("span", { class: "snippet" }, hit.snippet.trim()),
    );
  }

  /** Shows the cited lines with a few around them; a citation without lines shows the note from its start. */
  async openCitation(cited, fromSearch = false) {
    const from = cited.start ? Math.max(1, cited.start - AROUND) : 1;
    const lines = cited.start ? cited.end - from + 1 + AROUND : null;
    const back = fromSearch ? () => this.openSearch() : null;
    const body = this._fill(cited.path, back, [el("p", { class: "muted" }, "Reading …")]);
    $("panel-close").focus();
    await this._read(body, cited, from, lines);
  }

  async _read(body, cited, from, lines) {
    try {
      const note = await api.file(cited.path, this._agent(), from, lines);
      const grid = el("div", { class: "lines" });
      const text = note.text.replace(/\n$/, "");
      if (text || note.from_line <= note.end_line) addLines(grid, text.split("\n"), note.from_line, cited);
      const actions = el("div", { class: "actions" });
      if (lines) actions.append(this._action("Show the whole note", () => this._read(body, cited, 1, null)));
      else if (note.next_from) actions.append(this._action("Go on", () => this._read(body, cited, note.next_from, null)));
      body.replaceChildren(text ? grid : el("p", { class: "muted" }, "There is nothing in these lines."), actions);
      grid.querySelector(".cited")?.scrollIntoView({ block: "center" });
    } catch (error) {
      body.replaceChildren(el("p", { class: "error-text", role: "alert" }, error.message));
    }
  }

  async openModels() {
    const body = this._fill("Models", null, [el("p", { class: "muted" }, "Asking …")]);
    $("panel-close").focus();
    try {
      const { models } = await api.models();
      body.replaceChildren(
        el("ul", { class: "models" }, ...models.map(modelRow)),
        el("p", { class: "muted small" }, "Models are chosen in clawd.yaml: models.default, or model of an agent."),
      );
    } catch (error) {
      body.replaceChildren(el("p", { class: "error-text", role: "alert" }, error.message));
    }
  }

  async openStatus() {
    const body = this._fill("Status", null, [el("p", { class: "muted" }, "Asking …")]);
    $("panel-close").focus();
    const show = async () => {
      const { sections } = await import("./status.js");
      const shown = await sections(show);
      body.replaceChildren(...shown);
      if (!body.contains(document.activeElement) && document.activeElement === document.body) $("panel-close").focus();
    };
    try {
      await show();
    } catch (error) {
      body.replaceChildren(el("p", { class: "error-text", role: "alert" }, error.message));
    }
  }

  _action(label, act) {
    return el("button", { type: "button", class: "link-button", onclick: act }, label);
  }

  _fill(title, back, content) {
    const body = el("div", { class: "body" }, ...content);
    const close = el("button", { id: "panel-close", type: "button", class: "icon-button", "aria-label": "Close", onclick: () => this.close() }, icon("close"));
    const header = el("header", {}, el("h2", { title }, title), close);
    if (back) header.prepend(el("button", { type: "button", class: "icon-button", "aria-label": "Back to the results", onclick: back }, icon("back")));
    this._element.setAttribute("aria-label", title);
    this._element.replaceChildren(header, body);
    this._element.hidden = false;
    return body;
  }
}

const linesOf = ({ start_line, end_line }) => (start_line === end_line ? `${start_line}` : `${start_line}-${end_line}`);

function addLines(grid, lines, first, cited) {
  lines.forEach((line, index) => {
    const number = first + index;
    const tone = cited.start && number >= cited.start && number <= cited.end ? " cited" : "";
    grid.append(el("span", { class: `number${tone}` }, String(number)), el("span", { class: `line${tone}` }, line || " "));
  });
}

function modelRow(model) {
  const state = model.usable ? el("span", { class: "good" }, model.is_default ? "in use" : "usable") : el("span", { class: "muted" }, "not usable");
  return el("li", {},
    el("div", { class: "head" }, el("code", {}, model.name), state),
    model.reason ? el("p", { class: "muted small" }, model.reason) : null);
}
