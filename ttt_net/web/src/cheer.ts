/** Confetti for a player who has just won, solved or learnt something. */

import { clockNow } from "./actions.js";
import { h, type Tree } from "./dom.js";
import type { Match } from "./store.js";

/** Confetti is removed after this time; the last piece has fallen by then. */
const LASTS_MS = 4000;
const SCRAPS = 48;
/** The match that was on screen when it ended, and until when its end is celebrated. */
let seen = { match: "", until: 0 };

export const confetti = (): Tree =>
  h(
    "div.confetti",
    { hidden: true },
    Array.from({ length: SCRAPS }, (_, n) => h("i", { style: { "--x": (n * 61) % 101, "--t": (n * 37) % 43, "--hue": n * 67 } })),
  );

/** Celebrate a match that ended while it was on screen, not one that is opened again. */
export function cheered({ match, outcome, you }: Match): Tree | false {
  if (!outcome) seen = { match, until: 0 };
  if (you === undefined || outcome?.winner !== you || seen.match !== match) return false;
  seen.until ||= clockNow() + LASTS_MS;
  return clockNow() < seen.until && confetti();
}
