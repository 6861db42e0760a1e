// One session on the page: its messages, its running turn, its draft.

import { Answer } from "./answer.js";
import * as api from "./api.js";
import { announce, el } from "./dom.js";
import { follow, isAnswered } from "./follow.js";
import { hear } from "./heard.js";
import { replay } from "./history.js";
import { parse } from "./keys.js";
import { Turns } from "./turns.js";
import { UserMessage, wordsOf } from "./usermessage.js";

const ASKS_WHEN_BROKEN = 300;
const ASKS_WHEN_JOINING = 30;
const JOIN_WITHIN_MS = 5 * 60_000;
const FIRST_LIMIT = 100;
const MORE = 400;

export class Conversation {
  /** `hooks`: open(citation), changed(conversation, act), update(conversation), edit(text, files), follow(key), exists(key), live(),
   * shown(conversation), isQuestion(text). */
  constructor(session, hooks) {
    this.session = session;
    this.hooks = hooks;
    this.draft = { text: "", files: [] };
    this.busy = false;
    this.loaded = false;
    this.model = null;
    this.limit = FIRST_LIMIT;
    this.element = el("div", { class: "view" });
    this.turns = new Turns(this);
  }

  get running() {
    return this.turns.running;
  }

  get spoken() {
    return this.hooks.shown(this);
  }

  /** An event of a turn in this session, wherever it began. */
  hear(event) {
    this.turns.hear(event);
  }

  isQuestion(text) {
    return this.hooks.isQuestion(text);
  }

  /** Takes a question out of the answers, since it has a card. */
  withdraw(text) {
    this.answer?.drop(text);
    this.turns.drop(text);
  }

  /** Whether something here exists nowhere else. */
  get unsent() {
    return this.element.querySelector(".user.failed") !== null;
  }

  /** Shows what the gateway knows. A conversation it does not know yet is an empty one. */
  async load() {
    this.turns.hold();
    try {
      this.turns.begin(await this.hooks.follow(this.session.key));
      const told = await this._read();
      if (this.busy) return; // what was sent meanwhile stays
      this._show(told, this.turns.since());
      this.turns.show();
    } finally {
      this.turns.release();
    }
    if (!this.hooks.live() && !this.busy && this._mayBeRunning()) await this._follow(ASKS_WHEN_JOINING, "An answer may be under way …");
  }

  /** Something may have been missed. What exists only here stays. */
  async reload() {
    if (!this.loaded || this.busy || this.unsent) return;
    await this.load().catch((error) => announce(error.message));
  }

  async send(text, files = []) {
    const message = new UserMessage(text, new Date().toISOString(), 0, files);
    this.add(message.element);
    await this._attempt(message);
  }

  async stop() {
    if (!this.busy && !this.running) return;
    this._stopped = true;
    try {
      await api.stop(this.session.key);
    } catch (error) {
      announce(error.message);
      this.answer?.note(error.message);
    }
  }

  async _attempt(message) {
    message.clear();
    this._setBusy(true);
    const answer = this.newAnswer();
    try {
      await this._listen(await this._begin(message), answer, message);
    } catch (error) {
      answer.element.remove();
      this._refused(message, error);
    } finally {
      this._setBusy(false);
    }
  }

  /** The events of the turn, which from now on is known as one of this page. */
  async _begin(message) {
    this.turns.hold();
    try {
      const { agent, name } = this.session;
      const { run, events } = await api.chat(agent, name, message.text, message.files, (share) => message.progress(share));
      this.turns.claim(run);
      return events;
    } finally {
      this.turns.release();
    }
  }

  /** Tells the answer everything. A connection that breaks is not the end of the turn: its rest is fetched. */
  async _listen(events, answer, message) {
    const { text } = message;
    const again = () => this.send(text, message.files);
    try {
      for await (const [name, data] of events) {
        if (name === "done") return this._done(answer, data);
        if (name === "error" && data.code === "stopped") return answer.stopped();
        if (name === "error") return answer.fail(data.message, again);
        hear(answer, name, data, this);
      }
    } catch (error) {
      console.error(error);
      api.broke();
    }
    answer.finish();
    await this._follow(ASKS_WHEN_BROKEN, "The connection broke. Fetching the rest …", again);
    this._checkKept(text);
  }

  _done(answer, reply) {
    this.model = reply.model || this.model;
    if (reply.session_key !== this.session.key) this.session = parse(reply.session_key);
    answer.finish({ ...reply, spoken: true });
  }

  _refused(message, error) {
    const again = async () => ((await this._arrived(message)) ? this.load() : this._attempt(message));
    const edit = () => {
      message.element.remove();
      this.hooks.edit(message.text, message.files);
    };
    this.hooks.changed(this, () => message.fail(error.message, error.status === 0, again, edit));
  }

  /** A gateway that ended before it wrote the message down has lost it; the page has not. */
  _checkKept(text) {
    const kept = this._messages?.findLast((one) => one.role === "user")?.text.trim().startsWith(text.trim());
    if (kept || this.unsent || !this._fetched) return;
    const message = new UserMessage(text, new Date().toISOString());
    this.add(message.element);
    this._refused(message, new api.ApiError("The gateway ended before it kept this message.", 0, "lost"));
  }

  /** Whether a message that seemed lost has reached the gateway all the same; then it must not go twice. */
  async _arrived(message) {
    const told = message.uncertain ? await this._ask() : null;
    if (!told) return false;
    const same = (one) => one.role === "user" && wordsOf(one.text).words === message.text;
    const sent = [...this.element.querySelectorAll(".user:not(.failed) .bubble")];
    return told.messages.filter(same).length > sent.filter((bubble) => bubble.textContent === message.text).length;
  }

  /** Waits for the answer by reading the session; `again` is offered when none comes. */
  async _follow(asks, why, again = null) {
    this._setBusy(true);
    this._stopped = false;
    this._fetched = false;
    const waiting = this.newAnswer();
    waiting.note(why);
    const show = (told) => {
      this._fetched = true;
      this._show(told);
      this.add(waiting.element);
    };
    const done = await follow({ asks, ask: () => this._ask(), show, stopped: () => this._stopped });
    if (done) this.hooks.changed(this, () => waiting.element.remove());
    else waiting.fail("No answer has come.", again);
    this._setBusy(false);
  }

  /** The conversation as the gateway knows it; one that it does not know is empty. */
  async _read() {
    try {
      if (!(await this.hooks.exists(this.session.key))) return { messages: [], earlier: 0 };
      return await api.session(this.session.key, this.limit);
    } catch (error) {
      if (error.status !== 404) throw error;
      return { messages: [], earlier: 0 };
    }
  }

  /** The same; null when it does not answer. */
  async _ask() {
    try {
      return await api.session(this.session.key, this.limit);
    } catch {
      return null;
    }
  }

  _mayBeRunning() {
    const last = this._messages.at(-1);
    return last && !isAnswered(this._messages) && Date.now() - Date.parse(last.at) < JOIN_WITHIN_MS;
  }

  /** Without what was recorded since then: a turn that runs tells it itself. */
  _show({ messages: recorded, earlier }, since = null) {
    const messages = since ? recorded.filter((one) => one.at < since) : recorded;
    this._messages = messages;
    this.loaded = true;
    this.model = messages.findLast((one) => one.role === "assistant")?.model ?? this.model;
    this.hooks.changed(this, () => {
      const nodes = replay(messages, this.hooks.open, this.session.key, (act) => this.hooks.changed(this, act));
      if (earlier) nodes.unshift(this._earlier(earlier));
      this.element.replaceChildren(...nodes);
    });
    this.hooks.update(this);
  }

  /** A button for what came before; the reader's place stays where it is. */
  _earlier(count) {
    const act = async () => {
      const scroller = this.element.closest(".scroller");
      const below = scroller.scrollHeight - scroller.scrollTop;
      this.limit += MORE;
      await this.reload();
      scroller.scrollTop = scroller.scrollHeight - below;
    };
    return el("button", { type: "button", class: "link-button earlier", onclick: act }, `Show earlier messages (${count})`);
  }

  newAnswer() {
    this.answer = new Answer(this.hooks.open, (act) => this.hooks.changed(this, act), this.session.key);
    this.add(this.answer.element);
    return this.answer;
  }

  /** What a person said, here or elsewhere. */
  addSaid(text, at) {
    this.add(new UserMessage(text, at).element);
  }

  add(node) {
    this.element.querySelector(".welcome")?.remove();
    this.hooks.changed(this, () => this.element.append(node));
  }

  /** A turn that began elsewhere has ended. */
  ended(reply) {
    this.model = reply.model || this.model;
    this.update();
  }

  update() {
    this.hooks.update(this);
  }

  _setBusy(busy) {
    this.busy = busy;
    this.hooks.update(this);
  }
}
