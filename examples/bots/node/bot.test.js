/** Tests of my-bot: run them with `npm test`. The sandbox needs Python and ttt_net. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

import { choose } from "./bot.js";

const PYTHON = process.env.PYTHON ?? "python3";

test("the bot chooses a legal move", () => {
  assert.equal(choose({ position: { legal: [7] } }), 7);
});

test("the bot plays a whole match on a server of its own", { timeout: 120_000 }, () => {
  const bot = [process.execPath, "--experimental-websocket", "bot.js", "--sandbox"];
  const done = spawnSync(PYTHON, ["-m", "ttt_net", "sandbox", ...bot], { encoding: "utf8", cwd: import.meta.dirname });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /: (won|lost|drawn) against /);
});
