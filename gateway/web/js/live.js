// What the gateway tells while it happens, and to whom on the page it is passed on.

import { Socket } from "./socket.js";

const PATIENCE_MS = 1500;
const REFRESH_MS = 400;
const MOST_FOLLOWED = 100;

export class Live {
  /** `page`: view(key), views(), refresh(), draw(), asks (the approvals), connection, health(payload), refused(error). */
  constructor(page) {
    this._page = page;
    this._counts = new Map();
    this._socket = new Socket({
      opened: (health) => this._opened(health),
      event: (name, payload) => this._events[name]?.(payload),
      gap: () => this._resync(),
      closed: () => this._closed(),
      refused: (error) => page.refused(error),
    });
    this._events = {
      chat: (one) => page.view(one.session_key)?.hear(one),
      "sessions.changed": (one) => this._changed(one),
      "approval.requested": (one) => page.asks.add(one),
      "approval.decided": (one) => page.asks.over(one),
      health: (one) => page.health(one),
      shutdown: (one) => page.connection.stops(one),
    };
  }

  get up() {
    return this._socket.up;
  }

  /** Resolves when the connection stands, or when it is not worth waiting for it any longer. */
  begin() {
    return new Promise((resolve) => {
      this._begun = resolve;
      setTimeout(resolve, PATIENCE_MS);
      this._socket.open();
    });
  }

  /** Tries at once. */
  wake() {
    this._socket.wake();
  }

  busy(key) {
    return this._counts.has(key);
  }

  /** The turns that run in this session, which is told live from now on; none where there is no connection. */
  async follow(key) {
    if (!this.up) return [];
    try {
      return this._followed(await this._socket.ask("subscribe", { sessions: [key] }));
    } catch {
      return [];
    }
  }

  status() {
    return this._socket.ask("status");
  }

  _opened(health) {
    this._page.health(health);
    this._page.connection.live(true);
    if (this._again) this._resync();
    else this._asks();
    this._again = true;
    this._begun?.();
  }

  _closed() {
    this._page.connection.live(false);
    this._begun?.();
  }

  /** Something may have been missed. */
  async _resync() {
    const views = this._page.views().slice(-MOST_FOLLOWED);
    this._page.refresh();
    this._asks();
    await Promise.all(views.map((view) => view.reload()));
  }

  async _asks() {
    try {
      this._page.asks.set((await this._socket.ask("approvals.list")).pending);
    } catch {
      // Nobody is asked here, or the connection is gone again.
    }
  }

  _followed({ running, busy }) {
    this._counts = new Map(busy.map((key) => [key, this._counts.get(key) ?? 1]));
    this._page.draw();
    return running;
  }

  _changed({ session_key: key, why }) {
    const count = (this._counts.get(key) ?? 0) + ({ begun: 1, turn: -1 }[why] ?? 0);
    if (count > 0) this._counts.set(key, count);
    else this._counts.delete(key);
    this._page.draw();
    if (why !== "begun" && why !== "turn") this._page.view(key)?.reload();
    this._later ||= setTimeout(() => { this._later = 0; this._page.refresh(); }, REFRESH_MS);
  }
}
