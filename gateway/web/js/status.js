// How the gateway is: channels, configuration, deliveries, what runs unasked; each with what to do about it.

import * as api from "./api.js";
import { el, timeElement } from "./dom.js";

const TROUBLE = { running: "in trouble", waiting: "is tried again" };
const WELL = new Set(["running", "disabled"]);

/** The sections for the panel; `again` fetches and shows them anew. */
export async function sections(again) {
  const [status, channels, outbox, approvals] = await Promise.all(
    [api.status(), maybe(api.channels()), maybe(api.outbox()), maybe(api.approvals())]);
  return [
    section("Channels", ...channelRows(channels?.channels ?? [], again)),
    section("Configuration", ...configRows(status.config ?? {})),
    section("Deliveries", ...outboxRows(outbox, again)),
    approvals?.kept.length ? section("Runs without asking", ...approvals.kept.map((one) => keptRow(one, again))) : null,
    el("p", { class: "muted small" }, [`clawd ${status.version ?? ""}`.trim(), `${status.turns ?? 0} turns running`, `${status.sessions} conversations`].join(" · ")),
  ].filter(Boolean);
}

/** What a gateway without this part refuses. */
const maybe = (asked) => asked.catch((error) => { if (error.status === 501) return null; throw error; });

const section = (title, ...rows) => el("section", { class: "facts" }, el("h3", {}, title), el("ul", { class: "models" }, ...rows));

const row = (head, state, good, ...rest) => el("li", {},
  el("div", { class: "head" }, head, state ? el("span", { class: good ? "good" : "bad" }, state) : null), ...rest);

const note = (text) => text ? el("p", { class: "muted small" }, text) : null;

function action(label, act, again) {
  const button = el("button", { type: "button", class: "secondary" }, label);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await act();
      await again();
    } catch (error) {
      button.disabled = false;
      button.nextElementSibling?.remove();
      button.after(el("span", { class: "error-text small", role: "alert" }, ` ${error.message}`));
    }
  });
  return button;
}

function channelRows(accounts, again) {
  if (!accounts.length) return [el("li", {}, note("None. In a terminal, clawd channels add telegram (or discord) leads through it."))];
  return accounts.map((one) => {
    const well = WELL.has(one.state) && !one.error && !one.problems.length;
    const alive = one.alive_at ? el("p", { class: "muted small" }, "last sign of life: ", timeElement(one.alive_at)) : null;
    const can = one.enabled && one.state !== "absent";
    return row(el("strong", {}, `${one.channel}/${one.account}${one.name ? ` (${one.name})` : ""}`), well ? one.state : TROUBLE[one.state] ?? one.state, well,
      ...[one.error, ...one.problems].map(note), alive,
      can && !well ? action("Start it again", () => api.restart(one.channel, one.account), again) : null);
  });
}

function configRows({ problem, needs_restart: waiting = [], notice }) {
  const rows = [];
  if (problem) rows.push(row(el("strong", {}, "clawd.yaml cannot be used"), "", false, note(problem), note("What held before goes on. Mend the file; it is read again by itself.")));
  if (notice) rows.push(row(el("strong", {}, "Not the configuration of the file"), "", false, note(notice)));
  if (waiting.length) rows.push(row(el("strong", {}, "Waits for a restart"), "", false, note(waiting.join(", ")), note("Type /restart in a conversation, or start the service again.")));
  return rows.length ? rows : [row(el("span", {}, "As clawd.yaml says"), "good", true)];
}

function outboxRows(outbox, again) {
  if (!outbox) return [el("li", {}, note("There are no channels to deliver to."))];
  const rows = outbox.dead.map((one) => row(
    el("strong", {}, `${one.channel}, chat ${one.chat}`), "given up", false, note(one.why), el("p", { class: "muted small" }, timeElement(one.at)),
    action("Try once more", () => api.retry(one.key), again)));
  const waiting = outbox.waiting.length;
  if (waiting || !rows.length) rows.unshift(row(el("span", {}, waiting ? `${waiting} on their way` : "Everything was delivered"), waiting ? "" : "good", true));
  return rows;
}

function keptRow(one, again) {
  return row(el("code", {}, one.program ?? one.command), "", true, note(`${one.agent}: ${one.what}`), action("Ask again from now on", () => api.forget(one.id), again));
}
