// Files for the next message: chosen, pasted or dropped, and shown until they are sent.

import { $, announce, el, icon, picture, sized } from "./dom.js";

export class Attachments {
  /** `limits()` gives {files, upload_bytes} or null when they are not known; `changed()` is called when there are others. */
  constructor(limits, changed) {
    this._limits = limits;
    this._changed = changed;
    this._files = [];
    $("attach").append(icon("clip"));
    $("attach").addEventListener("click", () => $("files").click());
    $("files").addEventListener("change", () => { this.add($("files").files); $("files").value = ""; });
    $("input").addEventListener("paste", (event) => this._paste(event));
    this._drops($("main"));
  }

  get files() {
    return this._files;
  }

  set files(files) {
    this._files = [...files];
    this._draw("");
  }

  async add(files) {
    const more = [...files];
    if ($("attach").disabled || !more.length) return;
    const limits = await this._limits();
    const all = [...this._files, ...more];
    const problem = problemOf(all, limits);
    if (!problem) this._files = all;
    this._draw(problem);
    $("input").focus();
  }

  _paste(event) {
    const files = event.clipboardData?.files ?? [];
    if (!files.length || event.clipboardData.getData("text/plain")) return;
    event.preventDefault();
    this.add(files);
  }

  _drops(place) {
    const carries = (event) => event.dataTransfer?.types.includes("Files") && !$("attach").disabled;
    const over = (on) => place.classList.toggle("dropping", on);
    place.addEventListener("dragover", (event) => { if (carries(event)) { event.preventDefault(); over(true); } });
    place.addEventListener("dragleave", (event) => place.contains(event.relatedTarget) || over(false));
    place.addEventListener("drop", (event) => {
      over(false);
      if (!carries(event)) return;
      event.preventDefault();
      this.add(event.dataTransfer.files);
    });
  }

  _draw(problem) {
    const chips = this._files.map((file) => this._chip(file));
    const line = problem ? el("li", { class: "problem", role: "alert" }, problem) : null;
    $("chips").replaceChildren(...chips, ...(line ? [line] : []));
    $("chips").hidden = !chips.length && !line;
    this._changed();
  }

  _chip(file) {
    const drop = () => {
      this._files = this._files.filter((one) => one !== file);
      this._draw("");
      announce(`${file.name} is not sent.`);
      ($("chips").querySelector("button") ?? $("input")).focus();
    };
    const remove = el("button", { type: "button", class: "icon-button", "aria-label": `Leave out ${file.name}`, onclick: drop }, icon("close", 16));
    return fileChip(file, remove);
  }
}

/** A file by its picture or sign, its name and its size. */
export function fileChip(file, action = null, tag = "li") {
  const sign = el("span", { class: "sign" }, icon("file", 18));
  if (/^image\/(?!svg)/.test(file.type)) picture(file, "", 40).then((found) => found && sign.replaceChildren(found));
  const name = el("span", { class: "file-name", title: file.name }, el("bdi", {}, file.name));
  return el(tag, { class: "file-chip" }, sign, name, el("span", { class: "muted small" }, sized(file.size)), action);
}

function problemOf(files, limits) {
  if (!limits) return "The gateway does not answer, so that nothing is known of what it takes. Try again in a moment.";
  if (!limits.files) return "This gateway takes no files. Put it into the agent's workspace and name it.";
  if (files.length > limits.files) return `At most ${limits.files} files go with one message.`;
  const empty = files.find((file) => file.size === 0);
  if (empty) return `${empty.name} is empty, or a folder. Choose the files in it.`;
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  const most = limits.upload_bytes - 10_000; // the rest of the form
  return bytes > most ? `Together they have ${sized(bytes)}; at most ${sized(limits.upload_bytes)} go with one message (gateway.max_upload_mb).` : "";
}
