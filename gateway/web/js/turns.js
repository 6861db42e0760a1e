// Turns that began elsewhere (a chat, a terminal, another tab), shown as they run; also by who comes in their middle.

import { hear } from "./heard.js";

export class Turns {
  /** `view`: addSaid(text, at), newAnswer(), isQuestion(text), ended(reply), update(), spoken. */
  constructor(view) {
    this._view = view;
    this._runs = new Map();
    this._mine = new Set();
    this._queue = [];
    this._held = 0;
  }

  get running() {
    return this._runs.size > 0;
  }

  /** From now on events wait. */
  hold() {
    this._held += 1;
  }

  /** No event waits any more. */
  release() {
    this._held -= 1;
    while (!this._held && this._queue.length) this._take(this._queue.shift());
  }

  /** This turn is told by another way. */
  claim(run) {
    if (run) this._mine.add(run);
  }

  /** What the gateway says is running takes the place of all that was heard until now. */
  begin(running) {
    this._queue = [];
    this._runs.clear();
    this._known = running.filter((run) => !this._mine.has(run.run_id));
  }

  /** When the oldest turn began that is not shown yet: what was recorded from then on is told by its events. */
  since() {
    const waiting = this._queue.filter((one) => one.kind === "started" && !this._mine.has(one.run_id));
    return [...this._known, ...waiting].map((one) => one.since).sort()[0] ?? null;
  }

  /** Adds them below what is recorded. */
  show() {
    for (const run of this._known) {
      this._start(run);
      if (run.cut) this._runs.get(run.run_id).answer.note("The beginning of this answer is shown when it has ended.");
      run.events.forEach((event) => this._take({ ...event, run_id: run.run_id }));
    }
    this._known = [];
  }

  hear(event) {
    if (this._held) this._queue.push(event);
    else this._take(event);
  }

  /** Takes a question out of the answers, which is shown elsewhere. */
  drop(text) {
    this._runs.forEach((run) => run.answer.drop(text));
  }

  _take(event) {
    if (this._mine.has(event.run_id)) return;
    if (event.kind === "started") return this._start(event);
    const run = this._runs.get(event.run_id);
    if (!run) return;
    if (event.kind === "joined") this._join(run, event.text);
    else if (event.kind === "done") this._end(event, () => run.answer.finish({ ...event, spoken: this._view.spoken }));
    else if (event.kind === "error") this._end(event, () => (event.code === "stopped" ? run.answer.stopped() : run.answer.fail(event.message)));
    else hear(run.answer, event.kind, event, this._view);
  }

  _start({ run_id: id, since, text }) {
    if (this._runs.has(id)) return;
    if (text.trim()) this._view.addSaid(text, since);
    this._runs.set(id, { answer: this._view.newAnswer() });
    this._view.update();
  }

  _join(run, text) {
    run.answer.pause();
    this._view.addSaid(text, new Date().toISOString());
    run.answer = this._view.newAnswer();
  }

  _end(event, act) {
    this._runs.delete(event.run_id);
    act();
    this._view.ended(event);
  }
}
