/** my-bot: `npm start -- ws://HOST:8765` plays on that server until Ctrl-C. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NAME = "my-bot";
const GAMES = []; // such as ["connect4", "gomoku"]; none are all games
const TOKEN = new URL("my-bot.token", import.meta.url); // makes the bot the same player next time
const PAUSES_MS = [50, 100, 250, 500, 1000, 2000, 5000];
const GIVE_UP = [1000, 1002, 1003, 1007, 1008, 1009, 4001, 4005];

/** Return one of the legal moves. Your idea belongs here. */
export function choose(match) {
  const { legal } = match.position; // numbers of moves; match.game.move_names[n] is the name of move n
  return legal[Math.floor(Math.random() * legal.length)];
}

/** Play until the server sends the bot away; in a sandbox, play one match with a house bot and remember nothing. */
export function play(url, { isSandbox = false } = {}) {
  return new Promise((resolve, reject) => {
    const matches = new Map(); // unfinished matches of ours, by id
    const asked = new Map(); // requests without a reply, by id
    let token = !isSandbox && existsSync(TOKEN) ? readFileSync(TOKEN, "utf8") : undefined;
    let socket;
    let lastId = 0;
    let failures = 0;
    let isDone = false;

    function stop(settle, result) {
      isDone = true;
      socket.close(1000);
      settle(result);
    }

    function say(type, fields) {
      if (socket.readyState !== WebSocket.OPEN) return; // once connected again, `resume` shows how things stand
      const request = { type, id: ++lastId, ...fields };
      asked.set(request.id, request);
      socket.send(JSON.stringify(request));
    }

    function hello() {
      say("hello", { protocols: [1], bot: "node", ...(token ? { token } : { name: NAME }) });
    }

    function seek() {
      if (matches.size === 0) say("seek", { games: GAMES, opponents: isSandbox ? "bots" : "people" });
    }

    function think(match) {
      if (match.position.to_move !== match.you) return;
      say("play", { match: match.match, ply: match.position.ply, move: choose(match) });
    }

    function finish(match, { winner, reason }) {
      if (!match) return;
      matches.delete(match.match);
      const result = reason === "abort" ? "aborted" : winner === null ? "drawn" : winner === match.you ? "won" : "lost";
      console.log(`${match.match}: ${result} against ${match.players[1 - match.you].name} (${reason})`);
      if (isSandbox) stop(resolve, result);
      else seek();
    }

    function refused({ id, code, message, retry_after_ms: waitMs }) {
      const { type, id: _, ...fields } = asked.get(id) ?? {};
      const here = socket;
      asked.delete(id);
      if (type === "hello" && code === "unknown_token") {
        token = undefined; // the server has forgotten us
        hello();
      } else if (waitMs !== undefined && type) {
        setTimeout(() => here === socket && say(type, fields), waitMs);
      } else if (type === "hello" || type === "seek") {
        stop(reject, new Error(message));
      } else if (type === "resume") {
        matches.delete(fields.match);
        seek();
      } // any other refusal changes nothing, and the next event says how things stand
    }

    const heard = {
      ok: ({ id }) => asked.delete(id),
      refused,
      welcome(welcome) {
        console.log(`playing as ${welcome.you.name} at ${url}`);
        failures = 0;
        matches.clear();
        if (welcome.token && !isSandbox) writeFileSync(TOKEN, welcome.token, { mode: 0o600 });
        token = welcome.token ?? token;
        for (const match of welcome.matches) say("resume", { match, seq: 0 });
        if (welcome.matches.length === 0 && !welcome.seek) seek(); // our search may still stand
      },
      challenged: ({ challenge }) => say("answer", { challenge, accept: matches.size === 0 }),
      snapshot(match) {
        matches.set(match.match, match);
        if (match.outcome) finish(match, match.outcome);
        else think(match);
      },
      ended: (end) => finish(matches.get(end.match), end),
    };

    function receive({ data }) {
      const message = JSON.parse(data);
      const match = matches.get(message.match);
      if (match && message.type !== "snapshot" && "seq" in message) {
        if (match.isBehind || message.seq <= match.seq) return; // a snapshot is on its way, or it came twice
        match.isBehind = message.seq > match.seq + 1;
        if (match.isBehind) return say("resume", { match: message.match, seq: match.seq }); // events are missing
        match.seq = message.seq;
      }
      heard[message.type]?.(message); // ignore types that a newer server may have
      if (match && message.type !== "snapshot" && message.position) {
        match.position = message.position; // of a move, or of moves that were taken back
        think(match);
      }
    }

    function connect() {
      socket = new WebSocket(url);
      asked.clear();
      socket.onopen = hello;
      socket.onmessage = receive;
      socket.onclose = ({ code, reason }) => {
        if (isDone) return;
        if (GIVE_UP.includes(code)) return stop(reject, new Error(`closed with ${code} ${reason}`));
        const pauseMs = PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)];
        setTimeout(connect, pauseMs * (0.5 + Math.random() / 2));
      };
    }

    connect();
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const url = words.find((word) => word.includes("://")) ?? "ws://localhost:8765";
  await play(url, { isSandbox: words.includes("--sandbox") }).catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
