/** The link: phases, patience, who it says we are, and what becomes of requests. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled, Test, welcomed } from "./world.js";

/** Play a server at the other end of a way of so many milliseconds there and back, from the handshake to the welcome. */
async function answerSlowly(world: Test, roundTripMs: number): Promise<void> {
  const { socket } = world;
  await world.pass(3 * roundTripMs); // TCP, TLS 1.3, the upgrade
  socket.open();
  await world.pass(roundTripMs);
  await socket.welcome();
}

test("a known player goes from closed through opening and greeting to live", async () => {
  const { phases, socket, link } = await welcomed();
  assert.deepEqual(phases, ["opening", "greeting", "live"]);
  assert.equal((socket.of("hello")[0] as { token?: string }).token, "known");
  assert.ok(link.isUp());
});

for (const roundTripMs of [0, 300, 600, 800, 1500]) {
  test(`one handshake is enough at a round trip of ${roundTripMs} ms`, async () => {
    const world = new Test("known");
    await answerSlowly(world, roundTripMs);
    assert.equal(world.sockets.length, 1);
    assert.equal(world.link.phase, "live");
  });
}

test("each wait in vain is followed by a longer one", async () => {
  const world = new Test("known");
  const began = [0];
  for (let tries = 1; tries < 5; tries++) {
    while (world.sockets.length === tries) await world.pass(100);
    began.push(world.nowMsNow);
  }
  const waits = began.slice(1).map((at, n) => at - began[n]!);
  assert.ok(waits[0]! >= 8000, `${waits}`);
  assert.ok(waits[1]! > 1.8 * waits[0]! && waits[2]! > 1.6 * waits[1]!, `${waits}`);
  assert.ok(waits[3]! <= 30_600, `${waits}`);
});

test("timeouts grow on a link slower than expected, until it connects", async () => {
  const world = new Test("known");
  while (world.link.phase !== "live" && world.sockets.length < 10) {
    const { socket } = world;
    await world.pass(12_000); // the handshake
    if (socket.isClosed) continue;
    socket.open();
    await world.pass(4000);
    if (!socket.isClosed) await socket.welcome();
  }
  assert.equal(world.link.phase, "live");
  assert.ok(world.sockets.length <= 3, `${world.sockets.length} handshakes`);
});

test("a newcomer is connected while idle and waits for the hello alone", async () => {
  const world = new Test();
  assert.equal(world.link.phase, "closed");
  world.link.prepare();
  world.socket.open();
  assert.deepEqual([world.link.phase, world.socket.sent], ["greeting", []]);
  await world.pass(60_000);
  assert.equal(world.sockets.length, 1, "nothing is waited for");
  world.link.start();
  assert.deepEqual(world.socket.of("hello").length, 1);
  await world.socket.welcome({ token: "of a guest" });
  assert.deepEqual([world.link.phase, world.kept], ["live", "of a guest"]);
});

test("taps in quick succession begin one handshake and send one hello", async () => {
  const world = new Test();
  for (let taps = 0; taps < 20; taps++) {
    world.link.start();
    await world.pass(180);
  }
  assert.equal(world.sockets.length, 1);
  world.socket.open();
  for (let taps = 0; taps < 20; taps++) {
    world.link.start();
    await world.pass(180);
  }
  assert.equal(world.sockets.length, 1);
  assert.equal(world.socket.of("hello").length, 1);
});

test("a prepared connection that the server closes is no trouble and comes back when it is wanted", async () => {
  const world = new Test();
  world.link.prepare();
  world.socket.open();
  world.socket.drop(4002);
  await world.pass(10_000);
  assert.deepEqual([world.link.phase, world.link.trouble, world.sockets.length], ["closed", "", 1]);
  world.link.prepare();
  assert.equal(world.sockets.length, 2);
});

test("a name that is given while the link opens is sent once it is open", async () => {
  const world = new Test();
  world.link.prepare();
  world.link.start("Ann");
  assert.equal(world.kept, "a new token");
  world.socket.open();
  assert.deepEqual(world.socket.of("hello")[0], { id: 1, type: "hello", protocols: [1], client: "page", token: "a new token", name: "Ann" });
});

test("a lost welcome is requested again with the same name and token", async () => {
  const world = new Test();
  world.link.start("Ann");
  world.socket.open();
  world.socket.drop();
  assert.equal(world.link.phase, "retrying");
  await world.pass(100);
  world.socket.open();
  const { token, name } = world.socket.of("hello")[0] as { token?: string; name?: string };
  assert.deepEqual([token, name], ["a new token", "Ann"]);
});

test("a refused name leaves no token, and the next hello is sent on a new connection", async () => {
  const world = new Test();
  world.link.start("Ann");
  world.socket.open();
  world.socket.refuse("hello", "name_taken", { message: "that name is taken" });
  await settled();
  assert.deepEqual([world.link.phase, world.kept], ["closed", null]);
  assert.deepEqual(world.heard.at(-1), { type: "parted", code: "name_taken", message: "that name is taken" });
  world.link.start("Bob");
  world.socket.open();
  assert.equal((world.socket.of("hello")[0] as { name?: string }).name, "Bob");
});

test("an unknown token is deleted, and that of a banned player is kept", async () => {
  for (const [code, kept] of [["unknown_token", null], ["banned", "known"]] as const) {
    const world = new Test("known");
    world.socket.open();
    world.socket.refuse("hello", code);
    await settled();
    assert.deepEqual([world.link.phase, world.kept], ["closed", kept]);
  }
});

test("a hello that is refused for now is sent again when the server allows it", async () => {
  for (const code of ["too_fast", "restarting", "storage"]) {
    const world = new Test("known");
    world.socket.open();
    world.socket.refuse("hello", code, { retry_after_ms: 4000 });
    await settled();
    assert.equal(world.link.phase, "retrying");
    await world.pass(3900);
    assert.equal(world.sockets.length, 1);
    await world.pass(200);
    assert.equal(world.sockets.length, 2);
  }
});

test("a late answer makes the link silent, and live again when it comes", async () => {
  const world = await welcomed();
  await world.pass(5000 + 1600);
  assert.equal(world.link.phase, "silent");
  assert.ok(world.link.isUp(), "a move can still be made");
  world.socket.ok("ping");
  await settled();
  assert.equal(world.link.phase, "live");
  assert.equal(world.sockets.length, 1);
});

test("a link that stays silent is lost, and its clocks stand still then", async () => {
  const world = await welcomed();
  await world.pass(5000 + 3100);
  assert.deepEqual([world.link.trouble, world.link.isUp()], ["noAnswer", false]);
  assert.equal(world.link.lostAtMs, 8000);
});

test("a round trip that is long but steady is never taken for silence", async () => {
  const world = await welcomed();
  for (let pings = 0; pings < 12; pings++) {
    const sent = world.socket.of("ping").length;
    while (world.socket.of("ping").length === sent) await world.pass(100);
    await world.pass(1400);
    world.socket.ok("ping");
    await settled();
  }
  assert.equal(world.sockets.length, 1);
  assert.ok(!world.phases.includes("silent"));
  assert.ok(world.link.latencyMs! > 1200);
});

test("an unanswered request makes the page check the link", async () => {
  const world = await welcomed();
  world.link.say({ type: "unseek" });
  const pings = world.socket.of("ping").length;
  await world.pass(1600);
  assert.equal(world.socket.of("ping").length, pings + 1);
});

test("while a match goes on a silent node is left soon for another", async () => {
  const world = await welcomed({ nodes: ["ws://there", "ws://here"] });
  world.urgent = true;
  await world.pass(1600);
  assert.equal(world.sockets.length, 2);
  assert.equal(world.socket.url, "ws://there");
});

test("an encrypted page goes to no node in clear", async () => {
  const world = new Test("known");
  world.link.nodes = ["wss://here"];
  world.socket.open();
  await world.socket.welcome({ nodes: ["ws://there", "wss://elsewhere"] });
  assert.deepEqual(world.link.nodes, ["wss://here", "wss://elsewhere"]);
});

test("a cut link comes back at once, then after pauses twice as long, and sooner while a match goes on", async () => {
  for (const [isUrgent, longestMs] of [[false, 5000], [true, 1500]] as const) {
    const world = await welcomed();
    world.urgent = isUrgent;
    let last = 0;
    for (let cuts = 0; cuts < 9; cuts++) {
      world.socket.drop();
      assert.equal(world.link.phase, "retrying");
      const [before, began] = [world.sockets.length, world.nowMsNow];
      while (world.sockets.length === before) await world.pass(10);
      const paused = world.nowMsNow - began;
      assert.ok(paused <= longestMs + 10 && paused >= Math.min(last, longestMs) - 10, `${paused}`);
      last = paused;
    }
    assert.ok(last >= longestMs - 10);
  }
});

test("the network that is back, or a page that is shown again, ends the pause but no handshake", async () => {
  const world = await welcomed();
  world.socket.drop();
  await world.pass(50);
  for (let drops = 0; drops < 6; drops++) {
    world.socket.drop();
    world.link.hurry();
    assert.equal(world.link.phase, "opening");
  }
  const { length } = world.sockets;
  world.link.hurry();
  world.link.hurry();
  assert.equal(world.sockets.length, length);
});

test("an offline device is reported at once", async () => {
  const world = await welcomed();
  world.link.wentOffline();
  assert.deepEqual([world.link.phase, world.link.trouble], ["retrying", "offlineHere"]);
});

test("the trouble is shown until the link is back", async () => {
  const world = await welcomed();
  world.socket.drop(1012);
  await world.pass(100);
  assert.deepEqual([world.link.phase, world.link.trouble], ["opening", "serverRestarts"]);
  world.socket.open();
  assert.equal(world.link.trouble, "serverRestarts");
  await world.socket.welcome();
  assert.equal(world.link.trouble, "");
});

test("another window that takes over ends the link until it is asked for", async () => {
  const world = await welcomed();
  world.socket.drop(4001, "replaced");
  await world.pass(60_000);
  assert.deepEqual([world.link.phase, world.sockets.length, world.kept], ["closed", 1, "known"]);
  world.link.start();
  assert.equal(world.sockets.length, 2);
});

test("a player who was forgotten has no token", async () => {
  const world = await welcomed();
  world.socket.drop(4004, "forgotten");
  assert.deepEqual([world.link.phase, world.kept], ["closed", null]);
});

test("a request that waits when the link is lost has an unknown outcome, and one without a link is not sent", async () => {
  const world = await welcomed();
  const waiting = world.link.say({ type: "unseek" });
  world.socket.drop();
  const none = world.link.say({ type: "unseek" });
  const codes = [await waiting, await none].map((answer) => answer.type === "refused" && answer.code);
  assert.deepEqual(codes, ["unknown_outcome", "lost"]);
});

test("a request that came too fast is sent again if it soon may be", async () => {
  const world = await welcomed();
  const answer = world.link.say({ type: "unseek" });
  world.socket.refuse("unseek", "too_fast", { retry_after_ms: 700 });
  await settled();
  await world.pass(650);
  assert.equal(world.socket.of("unseek").length, 1);
  await world.pass(100);
  assert.equal(world.socket.of("unseek").length, 2);
  world.socket.ok("unseek");
  assert.equal((await answer).type, "ok");
});

test("a request that came too fast is not sent again for ever, nor after long, nor when it is no longer wanted", async () => {
  const world = await welcomed();
  const refused = world.link.say({ type: "unseek" });
  for (let tries = 0; tries < 4; tries++) {
    world.socket.refuse("unseek", "too_fast", { retry_after_ms: 100 });
    await settled();
    await world.pass(110);
  }
  assert.equal((await refused).type, "refused");
  assert.equal(world.socket.of("unseek").length, 4);
  const late = world.link.say({ type: "profile" });
  world.socket.refuse("profile", "too_fast", { retry_after_ms: 2100 });
  assert.equal((await late).type, "refused");
  const unwanted = world.link.say({ type: "seek" }, () => false);
  world.socket.refuse("seek", "too_fast", { retry_after_ms: 100 });
  await settled();
  await world.pass(110);
  assert.equal((await unwanted).type, "refused");
  assert.equal(world.socket.of("seek").length, 1);
});

test("a hidden page sends no pings", async () => {
  const world = await welcomed();
  world.hidden = true;
  const { length } = world.socket.of("ping");
  await world.pass(60_000);
  assert.deepEqual([world.link.phase, world.socket.of("ping").length], ["live", length]);
});

test("what is requested with the hello is sent at once, and other requests are not sent before the welcome", async () => {
  const world = new Test("known");
  const answers: string[] = [];
  world.greeted = (say) => void say({ type: "resume", match: "m1", seq: 0 }).then(({ type }) => answers.push(type));
  world.socket.open();
  assert.deepEqual(world.socket.sent.map(({ type }) => type), ["hello", "resume"]);
  assert.equal((await world.link.say({ type: "unseek" })).type, "refused");
  await world.socket.welcome();
  world.socket.ok("resume");
  await settled();
  assert.deepEqual(answers, ["ok"]);
  world.socket.drop();
  await world.pass(50);
  world.socket.open();
  world.socket.drop(); // before the answers
  await settled();
  assert.deepEqual(answers, ["ok", "refused"]);
});
