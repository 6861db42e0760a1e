// The token: once in the address behind #, from then on in this tab alone.

const NAME = "clawd-token";

/** Takes `#token=…` out of the address bar and keeps it. Says whether there was one. */
export function takeFromAddress() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return false;
  history.replaceState(null, "", location.pathname + location.search);
  if (token.trim()) keep(token);
  return token.trim() !== "";
}

export const current = () => sessionStorage.getItem(NAME);
export const keep = (token) => sessionStorage.setItem(NAME, token.trim());
export const forget = () => sessionStorage.removeItem(NAME);
