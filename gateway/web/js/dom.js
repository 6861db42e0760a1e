// Building elements. Text always goes in as text; nothing here reads HTML.

export const $ = (id) => document.getElementById(id);

/** el("p", {class: "x", onclick: f, "aria-label": "y"}, "text", node, null) */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

const PATHS = {
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L20 20",
  send: "M12 19V5M5.5 11.5L12 5l6.5 6.5",
  stop: "M8 8h8v8H8z",
  down: "M12 5v14M5.5 12.5L12 19l6.5-6.5",
  back: "M19 12H5M11 6l-6 6 6 6",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M7 7l10 10M17 7L7 17",
  copy: "M9 9h10v11H9zM15 9V5H5v11h4",
  clip: "M19.5 11.5l-7.6 7.6a4.6 4.6 0 0 1-6.5-6.5l8-8a3.1 3.1 0 0 1 4.4 4.4l-7.8 7.8a1.5 1.5 0 0 1-2.2-2.2l7-7",
  pulse: "M3.5 12.5H8l2.5-7 4 13 2.5-6h3.5",
  file: "M7 3.5h7l4 4v13H7zM13.5 3.5V8H18",
  book: "M5 5.5A1.5 1.5 0 0 1 6.5 4H19v16H6.5A1.5 1.5 0 0 1 5 18.5zM9 8h6M9 12h6",
};

/** A line drawing of the given name, hidden from screen readers. */
export function icon(name, size = 20) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 24 24",
    width: size,
    height: size,
    fill: name === "stop" ? "currentColor" : "none",
    stroke: "currentColor",
    "stroke-width": 1.9,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
    "aria-hidden": "true",
  })) svg.setAttribute(key, value);
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** Copies text, also where the clipboard interface is missing (plain http off this machine). */
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = el("textarea", { class: "visually-hidden" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** A button that copies what `text()` gives, and says so for a moment. */
export function copyButton(text, label = "Copy") {
  const button = el("button", { type: "button", class: "link-button" }, label);
  button.addEventListener("click", async () => {
    try {
      await copy(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Time today, date before; the whole of both as a tooltip. */
export function timeElement(iso, attributes = {}) {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  const text = today ? CLOCK.format(at) : DAY.format(at);
  return el("time", { datetime: iso, title: FULL.format(at), ...attributes }, text);
}

/** Bytes for people. */
export function sized(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A picture of a Blob, at most `side` pixels high and wide; null when it is none. Drawn, so that no address is needed. */
export async function picture(blob, label, side) {
  const whole = await createImageBitmap(blob).catch(() => null);
  if (!whole) return null;
  const scale = Math.min(1, (side * devicePixelRatio) / Math.max(whole.width, whole.height));
  const canvas = el("canvas", { class: "picture", role: "img", "aria-label": label });
  canvas.width = Math.max(1, Math.round(whole.width * scale));
  canvas.height = Math.max(1, Math.round(whole.height * scale));
  canvas.style.width = `${canvas.width / devicePixelRatio}px`;
  canvas.getContext("2d").drawImage(whole, 0, 0, canvas.width, canvas.height);
  whole.close();
  return canvas;
}

/** Says a text to screen readers. */
export function announce(text) {
  $("live").textContent = text;
}
