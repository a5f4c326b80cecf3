/** Explanations of games and moves, in the language of the page; the server sends them in English. */

import { either, f, type Language, language, many, w } from "./i18n.js";
import type { ExplanationInfo } from "./protocol.js";
import type { Explained, Reasons } from "./explanation.js";
import { redraw } from "./store.js";

let spoken: { language: Language; explained: Explained | null } = { language: "en", explained: null };

/** Fetch how all is explained in the language of the page; until it has come, and without it, it is said in English. */
export function explain(): Explained | null {
  if (spoken.language !== language) {
    spoken = { language, explained: null };
    const now = spoken;
    explanations(language).then(
      (found) => {
        now.explained = found;
        redraw();
      },
      () => {}, // without a link
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
 * Why a move is good or bad, in the language of the page; in English as the server says it.
 * Empty while, or where, there is nothing to say it with.
 */
export function reasonOf(why: ExplanationInfo | null | undefined, text: string): string {
  if (language === "en" || !why) return language === "en" ? text : "";
  const { said, rows, winWith, others, another, atMost } = explain()?.why ?? ({} as Partial<Reasons>);
  const sentence = said?.[why.kind];
  if (!sentence) return "";
  const { moves = [], more = 0, theirs = [], more_theirs: moreTheirs = 0, row, plies } = why;
  const names = (all: string[], left: number) => either(left ? [...all, f(others!, left)] : all);
  const has = row ? f(rows![row.marks < 2 ? 4 : (row.run ? 0 : 1) + (row.open ? 2 : 0)]!, row.marks) : f(winWith!, names(theirs, moreTheirs));
  const end = many(w.moveCount, plies ?? 0);
  return f(sentence, moves.length ? names(moves, more) : another!, names(theirs, moreTheirs), has, why.at_most ? f(atMost!, end) : end, why.instead ?? "", row?.marks ?? "");
}

/** The moves that come after a mistake, in the language of the page; what the server says in English tells them itself. */
export const followsOf = (moves: string[] = []): string => {
  const sentence = language === "en" ? "" : explain()?.why.follows;
  return sentence && moves.length > 1 ? ` ${f(sentence, moves.join(" "))}` : "";
};
