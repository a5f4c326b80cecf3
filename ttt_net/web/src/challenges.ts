/** Our challenges and those to us, shown over any screen until they are answered. */

import { request } from "./actions.js";
import { CATALOGUE } from "./catalogue.js";
import { button, h, type Tree } from "./dom.js";
import { terms } from "./games.js";
import { isOffering } from "./handover.js";
import { f, w } from "./i18n.js";
import { picture } from "./pieces.js";
import type { Challenged } from "./protocol.js";
import { label } from "./sentences.js";
import { state } from "./store.js";

export function challenges(): Tree | false {
  const all = [...state.challenges.values()].filter(({ by }) => !isOffering() || by.name !== state.you?.name).map(challenged);
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
