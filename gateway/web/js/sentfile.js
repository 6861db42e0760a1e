// A file that the agent sent: offered for download, and shown when it is a picture.

import * as api from "./api.js";
import { el, icon, picture, sized } from "./dom.js";

const PICTURE = /^image\/(png|jpeg|gif|webp|avif)$/;
const SHOWN_BYTES = 12_000_000;

/** `file`: ref, name, mime, size, caption. `changed` is called around what makes the page longer. */
export function sentFile(key, file, changed) {
  const trouble = el("p", { class: "error-text small", role: "alert", hidden: true });
  const get = once(() => api.sent(key, file.ref));
  const save = el("button", { type: "button", class: "secondary" }, "Download");
  save.addEventListener("click", async () => {
    try {
      download(await get(), file.name);
    } catch (error) {
      trouble.hidden = false;
      trouble.textContent = error.message;
    }
  });
  const element = el("figure", { class: "sent-file" },
    el("div", { class: "file-chip" },
      el("span", { class: "sign" }, icon("file", 18)),
      el("span", { class: "file-name", title: file.name }, el("bdi", {}, file.name)),
      el("span", { class: "muted small" }, sized(file.size)), save),
    file.caption ? el("figcaption", { dir: "auto" }, file.caption) : null, trouble);
  if (PICTURE.test(file.mime) && file.size <= SHOWN_BYTES) {
    whenSeen(element, async () => {
      const drawn = await picture(await get(), file.caption || file.name, 420);
      if (drawn) changed(() => element.prepend(drawn));
    });
  }
  return element;
}

/** The same promise for everyone, but a new one after a failure. */
function once(work) {
  let running = null;
  return () => {
    running ??= work().catch((error) => { running = null; throw error; });
    return running;
  };
}

function whenSeen(element, act) {
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some((one) => one.isIntersecting)) return;
    watcher.disconnect();
    act().catch(() => {}); // the button says what is wrong
  }, { rootMargin: "400px" });
  watcher.observe(element);
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
