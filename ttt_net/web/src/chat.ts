/** What is said in a match: a few phrases by a tap, and a line to type. */

import type { ChatRequest, Chatted } from "./protocol.js";
import {
  button,
  f,
  form,
  h,
  line,
  many,
  type Match,
  mute,
  speakOf,
  state,
  type Tree,
  w,
} from "./shared.js";

export type Phrase = NonNullable<ChatRequest["phrase"]>;
/** What can be said without typing. */
const PHRASES: Phrase[] = ["hello", "good_luck", "well_played", "good_game", "thanks", "sorry", "oops", "one_moment"];

export function chat(match: Match): Tree {
  const { length } = match.chat;
  const typed = ({ text = "" }, sent: HTMLFormElement) => {
    if (text.trim()) speakOf(match, { text: text.trim() });
    sent.reset();
  };
  return h(
    "details.panel.chat",
    { open: innerWidth >= 900 || length > 0 },
    h("summary", length ? many(w.chatLines, length) : w.chat),
    h("div.spoken", { role: "log", label: w.chat }, h("div", match.chat.map((each) => spoken(match, each)))),
    h("div.phrases", PHRASES.map((phrase) => button(w.phrases[phrase], () => speakOf(match, { phrase }), "chip"))),
    state.chat &&
      form(
        "form.row",
        typed,
        line("text", match.you === undefined ? w.toWatchers : w.toOpponent, { maxlength: 140 }),
        h("button", w.send),
      ),
  );
}

function spoken(match: Match, { by, text, phrase }: Chatted): Tree {
  const isMe = by.name === state.you?.name;
  const silence = button(w.mute, () => mute(match, by.name), "plain quiet", f(w.muteOne, by.name));
  return h("p", h("strong", isMe ? w.meSaid : h("bdi", by.name)), h("span", phrase ? w.phrases[phrase] : h("bdi", text)), !isMe && silence);
}
