/** The games and clocks that there are to choose from, and what they are called here and by the server. */

import { CATALOGUE } from "./catalogue.js";
import { joined } from "./dom.js";

/** Clocks, in minutes and seconds. */
export const PACES = ["No clock", "1+0", "3+2", "10+5"];

/** The games to choose from, the last of them of any size. @returns {any[]} */
export function games({ width, height, row, falls }) {
  const own = {
    name: "own",
    asked: `${falls ? "connect" : "mnk"}:${width}x${height},${row}`,
    title: "Any size",
    rule: joined([falls && "marks fall", `${row} in a row on a ${width}×${height} board wins`], "; "),
    shape: [height, width],
    swap: true,
    rated: true,
  };
  return [...CATALOGUE, own];
}

/** @returns {any} */
export const chosenOf = (choice) => games(choice).find((game) => game.name === choice.game) ?? CATALOGUE[0];

/** @returns {any} */
export function wishOf(choice) {
  const { name, asked = name, swap, rated } = chosenOf(choice);
  const [minutes, seconds] = choice.pace.split("+").map(Number);
  return {
    game: swap && choice.swap ? `${asked}+swap` : asked,
    time: minutes ? { initial_ms: minutes * 60000, increment_ms: seconds * 1000 } : null,
    rated: rated && choice.rated,
  };
}

export function timeName(time) {
  if (!time) return "no clock";
  return time.per_move ? `${time.initial_ms / 1000} s a move` : `${time.initial_ms / 60000}+${(time.increment_ms ?? 0) / 1000}`;
}

/** What a game is called; one of a size says it. */
export function titleOf(name) {
  const [base, swap] = name.split("+");
  const [, kind, size, row] = /^(mnk|connect):(.+),(.+)/.exec(base.replace("x", "×")) ?? [];
  const own = kind === "mnk" ? `${row} in a row, ${size}` : kind && `Connect ${row}, ${size}`;
  return joined([own ?? CATALOGUE.find((game) => game.name === base)?.title ?? base, swap], " with ");
}

/** A seek or a challenge in words. */
export const terms = (games, time, isRated) =>
  joined([games.map(titleOf).join(" or ") || "any game", timeName(time), isRated && "rated"], ", ");
