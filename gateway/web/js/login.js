// Asking for the token when this tab has none, or a wrong one.

import * as api from "./api.js";
import { $ } from "./dom.js";
import * as token from "./token.js";

/** Shows the form; `entered` is called once the gateway has taken the token. */
export function ask(why, entered) {
  $("app").hidden = true;
  $("login").hidden = false;
  $("login-error").textContent = why ?? "";
  $("login-token").value = "";
  $("login-token").focus();
  $("login-form").onsubmit = (event) => {
    event.preventDefault();
    enter(entered);
  };
}

async function enter(entered) {
  token.keep($("login-token").value);
  try {
    await api.agents();
  } catch (error) {
    if (error.status !== 401) $("login-error").textContent = error.message;
    return;
  }
  $("login").hidden = true;
  entered();
}
