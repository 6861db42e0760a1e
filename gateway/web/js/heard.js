// What is told of a turn, done to its answer.

/** `view.isQuestion(text)` says of a text that it is shown elsewhere. Other kinds of news are passed over. */
export function hear(answer, kind, data, view) {
  heard[kind]?.(answer, data, view);
}

const heard = {
  text: (answer, data, view) => view.isQuestion(data.delta) || answer.addText(data.delta),
  thinking: (answer, data) => answer.addThinking(data.delta),
  retry: (answer, data) => answer.retry(data.reason, data.seconds),
  tool(answer, data) {
    if (data.state === "started") answer.startCall(data);
    else answer.finishCall(data.id, data.result ?? "", data.is_error, false, data.file);
  },
};
