/** Explanations of games and moves, in the language of the page; the server sends them in English. */

import { either, f, type Language, language, many, w } from "./i18n.js";
import type { ExplanationInfo } from "./protocol.js";
import type { Explained, Reasons } from "./explanation.js";
import { redraw } from "./store.js";

let spoken: { language: Language; explained: Explained | null } = { language: "en", explained: null };

/** Load the explanations in the language of the page; until they arrive, and without them, English is used. */
export function explain(): Explained | null {
  if (spoken.language !== language) {
    spoken = { language, explained: null };
    const now = spoken;
    explanations(language).then(
      (found) => {
        now.explained = found;
        redraw();
      },
      () => {}, // offline
    );
  }
  return spoken.explained;
}

async function explanations(code: Language): Promise<Explained | null> {
  switch (code) {
    case "en":
      return null;
    case "zh":
      return (await import("./explained/zh.js")).explained;
    case "es":
      return (await import("./explained/es.js")).explained;
    case "ar":
      return (await import("./explained/ar.js")).explained;
    case "pt":
      return (await import("./explained/pt.js")).explained;
    case "fr":
      return (await import("./explained/fr.js")).explained;
    case "ru":
      return (await import("./explained/ru.js")).explained;
  }
}

/**
 * Why a move is good or bad, in the language of the page; in English, the server's sentence. Empty while or if the
 * explanations are missing.
 */
export function reasonOf(why: ExplanationInfo | null | undefined, text: string): string {
  if (language === "en" || !why) return language === "en" ? text : "";
  const { said, rows, winWith, others, another, atMost } = explain()?.why ?? ({} as Partial<Reasons>);
  const sentence = said?.[why.kind];
  if (!sentence) return "";
  const { moves = [], more = 0, theirs = [], more_theirs: moreTheirs = 0, row, plies } = why;
  const names = (all: string[], left: number) => either(left ? [...all, f(others!, left)] : all);
  const has = row ? f(rows![row.marks < 2 ? 4 : (row.run ? 0 : 1) + (row.open ? 2 : 0)]!, row.marks) : f(winWith!, names(theirs, moreTheirs));
  const movesOfWinner = (all: number) => Math.ceil(all / 2); // the winner makes the last ply
  const end = many(w.moveCount, movesOfWinner(plies ?? 0));
  return f(sentence, moves.length ? names(moves, more) : another!, names(theirs, moreTheirs), has, why.at_most ? f(atMost!, end) : end, why.instead ? movesOfWinner(why.instead) : "", row?.marks ?? "");
}

/**
 * The moves that follow a mistake, in the language of the page; the server's English sentence already includes them.
 */
export const followsOf = (moves: string[] = []): string => {
  const sentence = language === "en" ? "" : explain()?.why.follows;
  return sentence && moves.length > 1 ? ` ${f(sentence, moves.join(" "))}` : "";
};
