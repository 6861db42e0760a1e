// Session keys, as sessions/key.py writes them: agent:<id>:main, agent:<id>:api:<name>, agent:<id>:<channel>:<kind>:<peer>.

/** `name` is what /api/chat takes (null: the main session); `writable` says whether this page may talk there. */
export function parse(key) {
  const [, agent, second, ...tail] = key.split(":").map(decoded);
  if (second === "main" && !tail.length) return { key, agent, name: null, title: "Main", writable: true };
  if (second === "api" && tail.length === 1) return { key, agent, name: tail[0], title: titleOf(tail[0]), writable: true };
  return { key, agent, name: null, title: tail.slice(1).join(" "), place: second, writable: false };
}

export function build(agent, name) {
  if (name === null) return `agent:${encoded(agent)}:main`;
  return `agent:${encoded(agent)}:api:${encoded(name)}`;
}

/** A name nobody has to think about, and which sorts by time. */
export function newName(at = new Date()) {
  const two = (number) => String(number).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `web-${day}-${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
}

function titleOf(name) {
  const made = /^web-(\d{4})-(\d\d)-(\d\d)-(\d\d)(\d\d)\d\d$/.exec(name);
  if (!made) return name;
  const [year, month, day, hour, minute] = made.slice(1).map(Number);
  const at = new Date(year, month - 1, day, hour, minute);
  return at.toLocaleString(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

const encoded = (part) => part.replace(/[^\x20-\x7e]|[:%]/gu, encodeURIComponent);

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
