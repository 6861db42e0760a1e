// The page: which conversation is shown, and who is told when something happens.

import * as api from "./api.js";
import { Approvals } from "./approvals.js";
import { Composer } from "./composer.js";
import { Connection } from "./connection.js";
import { Conversation } from "./conversation.js";
import { $, announce, el, icon } from "./dom.js";
import * as keys from "./keys.js";
import { Live } from "./live.js";
import * as login from "./login.js";
import { Panel } from "./panel.js";
import { pin } from "./scroll.js";
import { SessionList } from "./sessions.js";
import * as shortcuts from "./shortcuts.js";
import * as token from "./token.js";
import { welcome } from "./welcome.js";

class App {
  constructor() {
    this.views = new Map();
    this.records = [];
    this.pin = pin();
    this.composer = new Composer((text, files) => this.send(text, files), () => this.view.stop(), () => this.limits());
    this.list = new SessionList((session) => this.open(session));
    this.panel = new Panel(() => this.view.session.agent, () => this.composer.focus());
    this.hooks = {
      open: (cited) => this.panel.openCitation(cited),
      changed: (view, act) => (view === this.view ? this.pin.keep(act) : act()),
      update: (view) => this.updated(view),
      edit: (text, files = []) => { this.composer.text = text; this.composer.files = files; this.composer.focus(); },
      follow: (key) => this.live.follow(key),
      exists: (key) => this.exists(key),
      live: () => this.live.up,
      shown: (view) => view === this.view,
      isQuestion: (text) => this.asks.isQuestion(text),
    };
    this.asks = new Approvals({
      current: () => this.view?.session.key,
      name: (key) => nameOf(keys.parse(key)),
      show: (key) => this.open(keys.parse(key)),
      changed: () => { if (this.view) this.draw(); },
      withdraw: (key, text) => this.views.get(key)?.withdraw(text),
    });
    this.connection = new Connection(() => this.back());
    this.live = new Live({
      view: (key) => this.views.get(key),
      views: () => [...this.views.values()],
      refresh: () => this.refresh(),
      draw: () => { if (this.view) this.draw(); },
      asks: this.asks,
      connection: this.connection,
      health: (told) => this.health(told),
      refused: (error) => api.unauthorized(error.message),
    });
    this.dress();
  }

  dress() {
    $("open-sidebar").append(icon("menu"));
    $("close-sidebar").append(icon("close"));
    $("open-memory").append(icon("book"));
    $("open-status").prepend(icon("pulse"));
    $("new-session").append(icon("plus", 18), "New conversation");
    $("send").append(icon("send"));
    $("stop").append(icon("stop"));
    $("to-bottom").append(icon("down", 18));
    $("open-sidebar").addEventListener("click", () => this.sidebar(true));
    $("close-sidebar").addEventListener("click", () => this.sidebar(false));
    $("backdrop").addEventListener("click", () => this.sidebar(false));
    $("open-memory").addEventListener("click", () => this.panel.openSearch());
    $("open-status").addEventListener("click", () => this.panel.openStatus());
    $("model").addEventListener("click", () => this.panel.openModels());
    $("new-session").addEventListener("click", () => this.openNew());
    $("agent").addEventListener("change", () => this.openMain($("agent").value));
    $("log-out").addEventListener("click", () => { token.forget(); location.reload(); });
    shortcuts.listen({
      switcher: () => { this.sidebar(true); $("filter").select(); },
      memory: () => this.panel.openSearch(),
      input: () => this.composer.focus(),
      escape: () => this.escape(),
    });
  }

  async start() {
    $("app").hidden = false;
    const [agents, models] = await Promise.all([api.agents(), api.models()]);
    this.agents = agents.agents;
    this.model = models.models.find((model) => model.is_default)?.name ?? "no model";
    $("agent").replaceChildren(...agents.agents.map((name) => new Option(name)));
    $("agent-label").hidden = agents.agents.length < 2;
    await this.live.begin();
    await this.openMain(agents.default);
  }

  openMain(agent) {
    return this.open(keys.parse(keys.build(agent, null)));
  }

  openNew() {
    const agent = this.view?.session.agent ?? this.agents[0];
    return this.open(keys.parse(keys.build(agent, keys.newName())), true);
  }

  async open(session, fresh = false) {
    if (this.view) this.view.draft = { text: this.composer.text, files: this.composer.files };
    let view = this.views.get(session.key);
    if (!view) {
      view = new Conversation(session, this.hooks);
      this.views.set(session.key, view);
    }
    this.view = view;
    this.sidebar(false);
    $("filter").value = "";
    $("views").replaceChildren(view.element);
    this.composer.text = view.draft.text;
    this.composer.files = view.draft.files;
    view.loaded ||= fresh;
    this.updated(view);
    this.pin.toBottom();
    if (!matchMedia("(pointer: coarse)").matches) this.composer.focus();
    await Promise.all([fresh ? null : this.load(view), this.refresh()]);
  }

  async load(view) {
    if (view.busy || view.unsent) return;
    try {
      await view.load();
    } catch (error) {
      announce(error.message);
      if (!view.loaded) view.element.textContent = error.message;
    }
  }

  /** The gateway answers again. */
  back() {
    this.live.wake();
    return this.view && !this.live.up ? Promise.all([this.load(this.view), this.refresh()]) : null;
  }

  /** What one message may bring along; null when it is not known. */
  async limits() {
    try {
      this.known ??= (await (this.live.up ? this.live.status() : api.status())).limits;
    } catch {
      // It is asked for again with the next file.
    }
    return this.known ?? null;
  }

  health({ attention = 0 }) {
    const text = attention ? `Status: ${attention} ${attention === 1 ? "thing needs" : "things need"} attention` : "Status";
    $("open-status").setAttribute("aria-label", text);
    $("open-status").title = text;
    $("open-status").classList.toggle("attention", attention > 0);
  }

  /** Whether the gateway knows the session; it is asked again before it is said not to. */
  async exists(key) {
    const known = () => this.records.some((record) => record.key === key);
    return known() || !(await this.refresh()) || known();
  }

  /** Whether the list is fresh now; the connection's banner, or the login form, says why not. Once at a time. */
  refresh() {
    const fetched = async ({ sessions }) => { this.records = sessions; this.draw(); return true; };
    this.refreshing ??= api.sessions().then(fetched).catch(() => false).finally(() => { this.refreshing = null; });
    return this.refreshing;
  }

  async send(text, files) {
    const view = this.view;
    this.pin.toBottom();
    await view.send(text, files);
    if (document.hidden) document.title = `● ${document.title}`;
    await this.refresh();
  }

  /** Something about a conversation is different now: busy, loaded, model. */
  updated(view) {
    if (view === this.view) this.draw();
  }

  draw() {
    const { session, busy, running, loaded, model, element } = this.view;
    const empty = loaded && !busy && !element.querySelector("article");
    if (empty && !element.querySelector(".welcome")) element.replaceChildren(this.welcome());
    element.classList.toggle("empty", empty);
    const name = nameOf(session);
    $("title").replaceChildren(el("bdi", {}, name));
    document.title = `${name} – clawd`;
    $("model").textContent = model ?? this.model;
    $("agent").value = session.agent;
    const closed = session.writable ? null : `This conversation takes place on ${session.place}; answer there.`;
    this.composer.show({ busy, running, closed });
    this.asks.draw();
    this.asks.poll(busy && !this.live.up);
    const mine = this.records.filter((record) => record.agent === session.agent);
    this.list.set(mine, session, (key) => this.views.get(key)?.busy || this.live.busy(key), (key) => this.asks.has(key));
  }

  welcome() {
    const { session } = this.view;
    const isNew = session.name !== null && !this.records.some((record) => record.key === session.key);
    const made = session.name;
    return welcome(isNew ? (name) => this.rename(name || made) : null, (text) => this.hooks.edit(text));
  }

  /** A conversation that the gateway does not know yet takes another name. */
  rename(name) {
    this.views.delete(this.view.session.key);
    this.view.session = keys.parse(keys.build(this.view.session.agent, name));
    this.views.set(this.view.session.key, this.view);
    this.draw();
  }

  sidebar(open) {
    $("app").classList.toggle("with-sidebar", open);
  }

  escape() {
    if ($("app").classList.contains("with-sidebar")) this.sidebar(false);
    else if (this.panel.isOpen) this.panel.close();
    else if (this.view?.busy || this.view?.running) this.view.stop();
    this.composer.focus();
  }
}

const nameOf = ({ place, title }) => [place, title].filter(Boolean).join(": ");

const app = new App();

function enter() {
  if (!token.current()) login.ask(null, enter);
  else app.start().catch((error) => error.status === 401 || login.ask(error.message, enter));
}

api.whenUnauthorized((why) => {
  token.forget();
  login.ask(why, () => { $("app").hidden = false; if (app.view) app.live.begin(); else enter(); });
});
window.addEventListener("hashchange", () => token.takeFromAddress() && location.reload());
document.addEventListener("visibilitychange", () => { document.title = document.title.replace(/^● /, ""); });
token.takeFromAddress();
enter();
