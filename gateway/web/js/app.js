// The page: which conversation is shown, and who is told when something happens.

import * as api from "./api.js";
import { Composer } from "./composer.js";
import { Connection } from "./connection.js";
import { Conversation } from "./conversation.js";
import { $, announce, icon } from "./dom.js";
import * as keys from "./keys.js";
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
    this.composer = new Composer((text) => this.send(text), () => this.view.stop());
    this.list = new SessionList((session) => this.open(session));
    this.panel = new Panel(() => this.view.session.agent, () => this.composer.focus());
    this.hooks = {
      open: (cited) => this.panel.openCitation(cited),
      changed: (view, act) => (view === this.view ? this.pin.keep(act) : act()),
      update: (view) => this.updated(view),
      edit: (text) => { this.composer.text = text; this.composer.focus(); },
    };
    this.dress();
  }

  dress() {
    $("open-sidebar").append(icon("menu"));
    $("close-sidebar").append(icon("close"));
    $("open-memory").append(icon("book"));
    $("new-session").append(icon("plus", 18), "New conversation");
    $("send").append(icon("send"));
    $("stop").append(icon("stop"));
    $("to-bottom").append(icon("down", 18));
    $("open-sidebar").addEventListener("click", () => this.sidebar(true));
    $("close-sidebar").addEventListener("click", () => this.sidebar(false));
    $("backdrop").addEventListener("click", () => this.sidebar(false));
    $("open-memory").addEventListener("click", () => this.panel.openSearch());
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
    this.connection ??= new Connection(() => Promise.all([this.load(this.view), this.refresh()]));
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
    if (this.view) this.view.draft = this.composer.text;
    let view = this.views.get(session.key);
    if (!view) {
      view = new Conversation(session, this.hooks);
      this.views.set(session.key, view);
    }
    this.view = view;
    this.sidebar(false);
    $("filter").value = "";
    $("views").replaceChildren(view.element);
    this.composer.text = view.draft;
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

  async refresh() {
    try {
      this.records = (await api.sessions()).sessions;
      this.draw();
    } catch {
      // The connection's banner, or the login form, says what is wrong.
    }
  }

  async send(text) {
    const view = this.view;
    this.pin.toBottom();
    await view.send(text);
    if (document.hidden) document.title = `● ${document.title}`;
    await this.refresh();
  }

  /** Something about a conversation is different now: busy, loaded, model. */
  updated(view) {
    if (view === this.view) this.draw();
  }

  draw() {
    const { session, busy, loaded, model, element } = this.view;
    const empty = loaded && !busy && !element.querySelector("article");
    if (empty && !element.querySelector(".welcome")) element.replaceChildren(this.welcome());
    element.classList.toggle("empty", empty);
    const name = [session.place, session.title].filter(Boolean).join(": ");
    $("title").textContent = name;
    document.title = `${name} – clawd`;
    $("model").textContent = model ?? this.model;
    $("agent").value = session.agent;
    const closed = session.writable ? null : `This conversation takes place on ${session.place}; answer there.`;
    this.composer.show({ busy, closed });
    const mine = this.records.filter((record) => record.agent === session.agent);
    this.list.set(mine, session, (key) => this.views.get(key)?.busy ?? false);
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
    else if (this.view?.busy) this.view.stop();
    this.composer.focus();
  }
}

const app = new App();

function enter() {
  if (!token.current()) login.ask(null, enter);
  else app.start().catch((error) => error.status === 401 || login.ask(error.message, enter));
}

api.whenUnauthorized((why) => {
  token.forget();
  login.ask(why, () => { $("app").hidden = false; if (!app.view) enter(); });
});
window.addEventListener("hashchange", () => token.takeFromAddress() && location.reload());
document.addEventListener("visibilitychange", () => { document.title = document.title.replace(/^● /, ""); });
token.takeFromAddress();
enter();
