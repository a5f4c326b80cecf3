/**
 * What is said in a match: a few phrases by a tap, and a line to type.
 *
 * @typedef {import("./state.js").Match} Match
 * @typedef {import("./main.js").App} App
 */

import { h } from "./dom.js";
import { PHRASES } from "./words.js";

const MOST_CHARACTERS = 140;

/**
 * @param {App} app
 * @param {Match} match
 */
export function chat(app, match) {
  if (!app.state.features.includes("chat")) return null;
  const say = (/** @type {any} */ what) => app.request("chat", { match: match.match, ...what });
  const send = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const text = app.ui.chatText.trim();
    if (text) say({ text });
    app.type("chatText", "");
  };
  const isPlayer = match.you !== undefined;
  return h(
    "details",
    { key: "chat", class: "panel chat", open: app.isWide() || match.chat.length > 0 },
    h("summary", null, match.chat.length ? `Chat (${match.chat.length})` : "Chat"),
    h("ul", { class: "lines", role: "log", "aria-label": "Chat" }, match.chat.map((line) => said(app, match, line))),
    h(
      "div",
      { class: "phrases" },
      Object.entries(PHRASES).map(([phrase, text]) =>
        h("button", { type: "button", class: "chip", onclick: () => say({ phrase }) }, text),
      ),
    ),
    h(
      "form",
      { class: "row", onsubmit: send },
      h("input", {
        type: "text",
        maxlength: MOST_CHARACTERS,
        value: app.ui.chatText,
        "aria-label": isPlayer ? "Say something to your opponent" : "Say something to the other watchers",
        placeholder: isPlayer ? "Say something" : "To the other watchers",
        oninput: (/** @type {any} */ event) => app.type("chatText", event.target.value),
      }),
      h("button", { type: "submit" }, "Send"),
    ),
  );
}

/**
 * @param {App} app
 * @param {Match} match
 * @param {import("./state.js").Line} line
 */
function said(app, match, line) {
  const isMe = line.by.name === app.state.you?.name;
  return h(
    "li",
    { class: isMe ? "me" : "" },
    h("strong", null, isMe ? "You" : line.by.name),
    " ",
    line.text,
    !isMe &&
      h(
        "button",
        { type: "button", class: "plain mute", "aria-label": `Mute ${line.by.name}`, onclick: () => app.mute(match, line.by.name) },
        "mute",
      ),
  );
}
