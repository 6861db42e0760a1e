// What a person wrote, apart from what the gateway added of files.

import assert from "node:assert/strict";
import { test } from "node:test";

import { wordsOf } from "../../../gateway/web/js/usermessage.js";

const LINE = (name, more = "") => `[file "${name}": text/plain, 9 bytes, stored as /media/inbound/1-${name}${more}]`;

test("words without files are as they are", () => {
  const text = 'see [file "x"] and\n\n  more ';
  assert.deepEqual(wordsOf(text), { words: text, names: [], rest: "" });
});

test("files are told by their names, their content stays apart", () => {
  const rest = `${LINE("a.txt")}\n<<<outside 1: a.txt>>>\nhello\n<<<end>>>\n${LINE("b.png", "; 40x30")}`;
  assert.deepEqual(wordsOf(`look at this\n${rest}`), { words: "look at this", names: ["a.txt", "b.png"], rest });
});

test("a message of files alone has no words", () => {
  assert.equal(wordsOf(`(files, without a text)\n${LINE("a.txt")}`).words, "");
});
