/** The games and clocks to choose from, and their names. */

import { CATALOGUE, type Listed } from "./catalogue.js";
import { f, w } from "./i18n.js";
import type { SeekRequest, TimeControl } from "./protocol.js";
import { type Choice, type MatchKind, state, type Wish } from "./store.js";

/** Clocks, in minutes and seconds. */
export const PACES = ["No clock", "1+0", "3+2", "10+5"];

export type Offered = Listed & { asked: string };

/** The games to choose from, the last of them of any size. */
export function games({ width, height, row, falls }: Choice): Offered[] {
  const size = `${width}×${height}`;
  const own = {
    name: "own",
    asked: `${falls ? "connect" : "mnk"}:${width}x${height},${row}`,
    title: w.anySize,
    rule: f(falls ? w.ruleOfFalling : w.ruleOfSize, row, size),
    shape: [height, width],
    swap: true,
    rated: true,
    line: { row, gravity: falls, misere: false },
  };
  return [...CATALOGUE.map((game) => ({ ...game, asked: game.name, title: titleOf(game.name), rule: ruleOf(game) })), own];
}

export const chosenOf = (choice: Choice): Offered => games(choice).find((game) => game.name === choice.game) ?? games(choice)[0]!;

export function wishOf(choice: Choice): Wish {
  const { asked, swap, rated } = chosenOf(choice);
  const [minutes, seconds = 0] = choice.pace.split("+").map(Number);
  return {
    game: swap && choice.swap ? `${asked}+swap` : asked,
    time: minutes ? ({ initial_ms: minutes * 60000, increment_ms: seconds * 1000 } as TimeControl) : null,
    ...kindOf(rated ? choice.kind : "casual"),
  };
}

/** The fields of a request for a kind of match; servers without `or_casual` get a casual one for "either". */
export function kindOf(kind: MatchKind): Pick<Wish, "rated" | "or_casual"> {
  const isEither = kind === "either" && state.features.includes("or_casual");
  return { rated: kind === "rated" || isEither, ...(isEither && { or_casual: true }) };
}

export function timeName(time: TimeControl | null | undefined): string {
  if (!time) return w.noClock;
  return time.per_move ? f(w.perMove, time.initial_ms / 1000) : `${time.initial_ms / 60000}+${(time.increment_ms ?? 0) / 1000}`;
}

/** The title of a game, with its size if it has no name. */
export function titleOf(name: string): string {
  const [base = "", swap] = name.split("+");
  const [, kind, size = "", row = ""] = /^(mnk|connect):(.+),(.+)/.exec(base.replace("x", "×")) ?? [];
  const named = translated(w.titles, base) ?? CATALOGUE.find((game) => game.name === base)?.title ?? base;
  const title = kind ? f(kind === "mnk" ? w.rowOf : w.connectOf, row, size) : named;
  return swap ? f(w.withSwap, title) : title;
}

/** The rule of a game in half a sentence. */
export const ruleOf = (game: Pick<Listed, "name" | "rule">): string => translated(w.rules, game.name) ?? game.rule;

const translated = (table: Record<string, string>, name: string): string | undefined => (Object.hasOwn(table, name) ? table[name] : undefined);

/** A seek or a challenge in words. */
export const terms = (games: string[], time: SeekRequest["time"], isRated: boolean | undefined, orCasual = false): string =>
  [games.map(titleOf).join(w.or) || w.anyGame, timeName(time), isRated && (orCasual ? w.ratedOrCasual : w.rated)].filter(Boolean).join(w.comma);
