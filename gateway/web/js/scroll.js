// The conversation stays at its newest message only for those who are there already.

import { $ } from "./dom.js";

const NEAR = 60;

export class Pin {
  constructor(scroller, button) {
    this._scroller = scroller;
    this._button = button;
    this._pinned = true;
    scroller.addEventListener("scroll", () => this._look(), { passive: true });
    button.addEventListener("click", () => this.toBottom());
    new ResizeObserver(() => this._pinned && this.toBottom()).observe(scroller);
  }

  /** Does `act`, then goes to the bottom if that is where the reader was. */
  keep(act) {
    act();
    if (this._pinned) this.toBottom();
    else this._button.hidden = false;
  }

  toBottom() {
    this._pinned = true;
    this._scroller.scrollTop = this._scroller.scrollHeight;
    this._button.hidden = true;
  }

  _look() {
    const { scrollTop, scrollHeight, clientWidth, clientHeight } = this._scroller;
    const size = `${clientWidth} ${clientHeight}`;
    if (size !== this._size) {
      this._size = size; // the page moved, not the reader
      if (this._pinned) return this.toBottom();
    }
    this._pinned = scrollHeight - scrollTop - clientHeight < NEAR;
    this._button.hidden = this._pinned;
  }
}

export const pin = () => new Pin($("scroller"), $("to-bottom"));
