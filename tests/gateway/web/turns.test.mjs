// Turns that began elsewhere: shown once each, in order, also by who comes in their middle.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Turns } from "../../../gateway/web/js/turns.js";

/** Writes down what would be shown. */
class View {
  constructor(questions = []) {
    this.shown = [];
    this.questions = questions;
    this.spoken = false;
  }

  addSaid(text) { this.shown.push(`you: ${text}`); }
  update() {}
  ended() { this.shown.push("ended"); }
  isQuestion(text) { return this.questions.includes(text.trim()); }

  newAnswer() {
    const say = (what) => this.shown.push(what);
    say("answer");
    return {
      addText: say,
      addThinking: (text) => say(`(${text})`),
      startCall: ({ name }) => say(`call ${name}`),
      finishCall: (id, result) => say(`result ${result}`),
      retry: (reason) => say(`retry ${reason}`),
      finish: ({ reply }) => say(`done ${reply}`),
      stopped: () => say("stopped"),
      fail: (message) => say(`failed ${message}`),
      pause: () => say("pause"),
      note: (text) => say(`note ${text}`),
      drop: (text) => say(`drop ${text}`),
    };
  }
}

const started = (run_id, text = "hi", since = "2026-05-01T08:00:00.000Z") => ({ kind: "started", run_id, text, since });
const text = (run_id, delta) => ({ kind: "text", run_id, delta });
const done = (run_id, reply) => ({ kind: "done", run_id, reply });

function heard(events, view = new View()) {
  const turns = new Turns(view);
  events.forEach((event) => turns.hear(event));
  return { view, turns };
}

test("a turn is shown from its beginning to its end", () => {
  const { view, turns } = heard([started("a"), text("a", "hel"), text("a", "lo"), done("a", "hello")]);
  assert.deepEqual(view.shown, ["you: hi", "answer", "hel", "lo", "done hello", "ended"]);
  assert.equal(turns.running, false);
});

test("two turns at once do not mix", () => {
  const { view, turns } = heard([started("a", "one"), started("b", "two"), text("b", "B"), done("b", "B")]);
  assert.equal(turns.running, true);
  assert.deepEqual(view.shown, ["you: one", "answer", "you: two", "answer", "B", "done B", "ended"]);
});

test("a turn of this page is told by its own answer alone", () => {
  const turns = new Turns(new View());
  turns.hold();
  turns.hear(started("mine"));
  turns.hear(started("other", "two"));
  turns.claim("mine");
  turns.release();
  turns.hear(text("mine", "x"));
  assert.deepEqual(turns._view.shown, ["you: two", "answer"]);
});

test("who comes in the middle sees what was said so far, and each piece once", () => {
  const turns = new Turns(new View());
  turns.hold();
  turns.hear(text("a", "before the answer of the gateway, so it is in it"));
  turns.begin([{ ...started("a"), cut: false, events: [{ kind: "text", delta: "hel" }, { kind: "tool", state: "started", name: "list" }] }]);
  turns.hear(text("a", "lo"));
  turns.show();
  turns.release();
  turns.hear(done("a", "hello"));
  assert.deepEqual(turns._view.shown, ["you: hi", "answer", "hel", "call list", "lo", "done hello", "ended"]);
});

test("what was recorded of a running turn is left out from its beginning on", () => {
  const turns = new Turns(new View());
  turns.hold();
  turns.begin([{ ...started("a", "hi", "2026-05-01T08:00:05.000Z"), events: [] }]);
  turns.hear(started("b", "ho", "2026-05-01T08:00:07.000Z"));
  assert.equal(turns.since(), "2026-05-01T08:00:05.000Z");
  turns.claim("a");
  turns.begin([{ ...started("a"), events: [] }]);
  assert.equal(turns.since(), null);
});

test("a turn whose first events are forgotten says so", () => {
  const turns = new Turns(new View());
  turns.begin([{ ...started("a"), cut: true, events: [] }]);
  turns.show();
  assert.match(turns._view.shown.at(-1), /^note The beginning/);
});

test("what somebody says meanwhile stands between the pieces of the answer", () => {
  const { view } = heard([started("a"), text("a", "one"), { kind: "joined", run_id: "a", text: "and?" }, text("a", "two")]);
  assert.deepEqual(view.shown, ["you: hi", "answer", "one", "pause", "you: and?", "answer", "two"]);
});

test("ends without an answer are told as they are", () => {
  const { view } = heard([
    started("a"), { kind: "error", run_id: "a", code: "stopped", message: "Stopped." },
    started("b"), { kind: "error", run_id: "b", code: "auth", message: "No key." },
  ]);
  assert.deepEqual(view.shown.filter((one) => /stopped|failed/.test(one)), ["stopped", "failed No key."]);
});

test("a question that has a card is no part of the answer, and strangers' events are nothing", () => {
  const { view } = heard([text("unknown", "x"), started("a"), text("a", "\n\nmay I?\n\n"), text("a", "yes")], new View(["may I?"]));
  assert.deepEqual(view.shown, ["you: hi", "answer", "yes"]);
});

test("a turn taken up after a restart has its message above already", () => {
  const { view } = heard([started("a", "")]);
  assert.deepEqual(view.shown, ["answer"]);
});
