/** What is said over any screen without moving it: the link, challenges, what has just happened. */

import { notify, request, set, ui } from "./app.js";
import { CATALOGUE } from "./catalogue.js";
import { button, h, type Tree } from "./dom.js";
import { terms } from "./games.js";
import { f, w } from "./i18n.js";
import { icon, picture } from "./pieces.js";
import type { Challenged } from "./protocol.js";
import { label } from "./sentences.js";
import { ownLive, state } from "./state.js";

export const tray = (): Tree => h("div.tray", { "data-shows": [...state.challenges.keys()].join(" ") }, challenges(), banner(), toast(), toCopy());

function banner(): Tree | "" {
  const words = ui.trouble && state.you ? `${f(w.reconnecting, ui.trouble)} ${ownLive().length ? w.matchIsSafe : ""}` : ui.closing;
  return words && h("div.banner", { role: "status" }, words);
}

function toast(): Tree | "" {
  return ui.notice && h("div.toast", { role: "status" }, h("span", ui.notice), button(icon("close"), () => notify(""), "plain", w.close));
}

/** A text that only the player can copy. */
function toCopy(): Tree | "" {
  const field = { type: "text", readonly: true, value: ui.copied, id: "to-copy", focus: true };
  const onfocus = (event: Event) => (event.target as HTMLInputElement).select();
  return ui.copied && h("div.toast.copied", h("label", { for: "to-copy" }, w.copyThis, h("input", { ...field, onfocus })), button(icon("close"), () => set({ copied: "" }), "plain", w.close));
}

/** Challenges, ours and to us. */
function challenges(): Tree | false {
  const all = [...state.challenges.values()].map(challenged);
  return all.length > 0 && h("aside.calls", { label: w.challenges }, all);
}

function challenged({ challenge: id, by, to, game, time, rated }: Challenged): Tree {
  const isMine = by.name === state.you?.name;
  const answer = (words: string, accept = false, reason: "later" | "another_game" | "generic" = "generic") =>
    button(words, () => request({ type: "answer", challenge: id, accept, reason }), accept && "primary");
  const what = terms([game], time, rated);
  const listed = CATALOGUE.find(({ name }) => name === game.split("+")[0]);
  return h(
    "section.panel.challenge",
    { key: id, role: "alert" },
    h("div.row", listed && picture(listed.name, listed.shape, !!listed.line?.gravity), h("p", isMine ? f(w.youChallenged, label(to), what) : f(w.challengesYou, label(by), what))),
    h("div.buttons", isMine ? answer(w.takeItBack) : [answer(w.accept, true), answer(w.notNow, false, "later"), answer(w.anotherGame, false, "another_game")]),
  );
}
