/** The worker in which the computer of the page thinks, so that no tap waits for its search. */

import { computerMove, type Ground, type Rules } from "./computer.js";

/** A position to move in. The answer has the same number, because another match may have begun meanwhile. */
export type Question = { number: number; ground: Ground; rules: Rules; moves: number[]; level: number };
export type Answer = { number: number; move: number };

self.addEventListener("message", ({ data }: MessageEvent<Question>) => {
  const { number, ground, rules, moves, level } = data;
  self.postMessage({ number, move: computerMove(ground, rules, moves, level) } satisfies Answer);
});
