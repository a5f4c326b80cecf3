/** The chat of a match: a few phrases to tap, and a line to type. */

import { button, form, h, line, type Tree } from "./dom.js";
import { f, many, w } from "./i18n.js";
import type { Chatted } from "./protocol.js";
import { mute, type Phrase, report, speakOf } from "./requests.js";
import { decided, isBot } from "./sentences.js";
import { type Match, state } from "./store.js";

/** Reasons for a report. */
const REASONS = ["chat", "name", "cheating", "other"] as const;
/** Phrases that need no typing. */
const PHRASES: Phrase[] = ["hello", "good_luck", "well_played", "good_game", "thanks", "sorry", "oops", "one_moment"];

export function chat(match: Match): Tree | false {
  const { length } = match.chat;
  const others = match.players.filter((_, side) => side !== match.you);
  if (match.you !== undefined && others.every(isBot) && !length && !match.watchers) return false; // no reader
  const typed = ({ text = "" }, sent: HTMLFormElement) => {
    if (text.trim()) speakOf(match, { text: text.trim() });
    sent.reset();
  };
  return h(
    "details.panel.chat",
    { open: innerWidth >= 900 || length > 0 },
    h("summary", length ? many(w.chatLines, length) : w.chat),
    h("div.spoken", { role: "log", label: w.chat }, h("div", match.chat.map((each) => spoken(match, each)))),
    state.mute && h("p.trouble", decided(state.mute)),
    !state.mute && h("div.phrases", PHRASES.map((phrase) => button(w.phrases[phrase], () => speakOf(match, { phrase }), "chip"))),
    state.chat &&
      !state.mute &&
      form(
        "form.row",
        typed,
        line("text", match.you === undefined ? w.toWatchers : w.toOpponent, { maxlength: 140 }),
        h("button", w.send),
      ),
    others.filter((each) => !isBot(each)).map(({ name }) => reporting(name, match)),
  );
}

/** Report a player to the host by tapping a reason. */
export function reporting(name: string, match?: Match): Tree {
  const reason = (each: (typeof REASONS)[number]) => button(w.reportReasons[each === "other" ? "something" : each] ?? each, () => report(name, each, match), "chip");
  return h(
    "details.report",
    { key: name },
    h("summary", f(w.reportOne, name)),
    h("p.quiet", w.reportMeans, match && ` ${w.reportWithChat}`),
    h("div.phrases", REASONS.map(reason)),
  );
}

function spoken(match: Match, { by, text, phrase }: Chatted): Tree {
  const isMe = by.name === state.you?.name;
  const silence = button(w.mute, () => mute(match, by.name), "plain quiet", f(w.muteOne, by.name));
  return h("p", h("strong", isMe ? w.meSaid : h("bdi", by.name)), h("span", phrase ? w.phrases[phrase] : h("bdi", text)), !isMe && silence);
}
