// Keys that work everywhere on the page.

/** `act`: switcher(), memory(), input(), escape(). */
export function listen(act) {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const command = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (command && event.key.toLowerCase() === "k") run(event, act.switcher);
    else if (command && event.key === "/") run(event, act.memory);
    else if (event.key === "Escape") run(event, act.escape);
    else if (event.key === "/" && !command && !event.altKey && !isField(event.target)) run(event, act.input);
  });
}

function run(event, act) {
  event.preventDefault();
  act();
}

const isField = (target) => target.closest?.("input, textarea, select") != null;
