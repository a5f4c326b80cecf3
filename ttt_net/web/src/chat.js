/** What is said in a match: a few phrases by a tap, and a line to type. */

import { mute, tell } from "./app.js";
import { button, form, h, line } from "./dom.js";
import { state } from "./state.js";
import { capital } from "./words.js";

/** What can be said without typing, by the names that the protocol has for it. */
const PHRASES = ["hello", "good_luck", "well_played", "good_game", "thanks", "sorry", "oops", "one_moment"];

/** @param {import("./state.js").Match} match */
export function chat(match) {
  const { length } = match.chat;
  const typed = ({ text }, form) => {
    if (text.trim()) tell(match, "chat", { text: text.trim() });
    form.reset();
  };
  return h(
    "details.panel.chat",
    { open: innerWidth >= 900 || length > 0 },
    h("summary", length ? `Chat (${length})` : "Chat"),
    h("div.lines", { role: "log", label: "Chat" }, h("div", match.chat.map((each) => spoken(match, each)))),
    h("div.phrases", PHRASES.map((phrase) => button(`${capital(phrase.replace("_", " "))}!`, () => tell(match, "chat", { phrase }), "chip"))),
    state.chat &&
      form(
        "form.row",
        typed,
        line("text", match.you === undefined ? "To the other watchers" : "To your opponent", { maxlength: 140 }),
        h("button", "Send"),
      ),
  );
}

function spoken(match, { by, text }) {
  const isMe = by.name === state.you?.name;
  const silence = button("mute", () => mute(match, by.name), "plain quiet", `Mute ${by.name}`);
  return h("p", h("strong", isMe ? "You" : by.name), h("span", text), !isMe && silence);
}
