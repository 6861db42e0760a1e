// The live connection: let in by its first frame, told of gaps, opened again after a while.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

globalThis.document = { hidden: false, addEventListener() {} };
globalThis.window = { addEventListener() {} };
globalThis.location = { protocol: "http:", host: "localhost:1" };
globalThis.sessionStorage = { getItem: () => "secret-token" };
mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });

const { Socket } = await import("../../../gateway/web/js/socket.js");

class Wire {
  static all = [];

  constructor(address) {
    this.address = address;
    this.sent = [];
    this.closed = false;
    Wire.all.push(this);
  }

  send(text) { this.sent.push(JSON.parse(text)); }
  close() { this.closed = true; }
  tell(frame) { this.onmessage({ data: JSON.stringify(frame) }); }
}

globalThis.WebSocket = Wire;
const soon = async () => { for (let n = 0; n < 5; n += 1) await Promise.resolve(); };

async function opened() {
  const told = [];
  const note = (name) => (...rest) => told.push([name, ...rest]);
  const socket = new Socket({ opened: note("opened"), event: note("event"), gap: note("gap"), closed: note("closed"), refused: note("refused") });
  socket.open();
  const wire = Wire.all.at(-1);
  wire.onopen();
  return { socket, wire, told };
}

async function letIn() {
  const scene = await opened();
  scene.wire.tell({ type: "res", id: scene.wire.sent[0].id, ok: true, payload: { health: { ready: true } } });
  await soon();
  return scene;
}

test("the token goes in the first frame and nowhere else", async () => {
  const { socket, wire, told } = await letIn();
  assert.equal(wire.address, "ws://localhost:1/ws");
  assert.deepEqual(wire.sent[0].params, { auth: { token: "secret-token" } });
  assert.deepEqual(told, [["opened", { ready: true }]]);
  assert.equal(socket.up, true);
});

test("a gap in seq is told after the event behind it", async () => {
  const { wire, told } = await letIn();
  for (const seq of [1, 2, 4, 5]) wire.tell({ type: "event", event: "health", seq, payload: { seq } });
  assert.deepEqual(told.slice(1).map(([name, , payload]) => [name, payload?.seq]), [
    ["event", 1], ["event", 2], ["event", 4], ["gap", undefined], ["event", 5],
  ]);
});

test("an answer finds who asked, and a refusal has its words", async () => {
  const { socket, wire } = await letIn();
  const good = socket.ask("status");
  const bad = socket.ask("fly");
  wire.tell({ type: "res", id: wire.sent[2].id, ok: false, error: { code: "unknown_method", message: "No." } });
  wire.tell({ type: "res", id: wire.sent[1].id, ok: true, payload: { sessions: 3 } });
  assert.deepEqual(await good, { sessions: 3 });
  await assert.rejects(bad, { message: "No.", code: "unknown_method" });
});

test("a wrong token is told, and not tried again", async () => {
  const { wire, told } = await opened();
  const count = Wire.all.length;
  wire.tell({ type: "res", id: "1", ok: false, error: { code: "unauthorized", message: "Wrong." } });
  await soon();
  mock.timers.tick(120_000);
  assert.deepEqual(told.map(([name]) => name), ["refused"]);
  assert.equal(Wire.all.length, count);
});

test("a connection that breaks is opened again, later each time, and whoever waits is told", async () => {
  const { socket, wire, told } = await letIn();
  const asked = assert.rejects(socket.ask("status"), { status: 0 });
  wire.onclose({});
  await asked;
  assert.equal(told.at(-1)[0], "closed");
  await assert.rejects(socket.ask("status"), { status: 0 });
  for (const longest of [1250, 2500, 5000, 10_000, 20_000, 37_500, 37_500]) {
    const before = Wire.all.length;
    mock.timers.tick(longest * 0.6 - 1);
    assert.equal(Wire.all.length, before, `not before ${longest * 0.6}`);
    mock.timers.tick(longest * 0.4 + 1);
    assert.equal(Wire.all.length, before + 1, `within ${longest}`);
    Wire.all.at(-1).onclose({});
  }
});

test("silence for longer than two pulses is a broken connection", async () => {
  const { wire, told } = await letIn();
  mock.timers.tick(60_000);
  wire.tell({ type: "event", event: "health", seq: 1, payload: {} });
  mock.timers.tick(60_000);
  assert.ok(!told.some(([name]) => name === "closed"));
  mock.timers.tick(30_000);
  assert.equal(told.at(-1)[0], "closed");
  assert.equal(wire.closed, true);
});
