/** How a finger plays: on cells smaller than itself it aims first. */

import { sizes } from "./board.js";
import type { Game } from "./store.js";

/** The minimal size of a touch target in pixels; on smaller cells, a touch aims first. */
const FINGER = 44;
/** A second tap plays only if it begins this long after the first, however late the page handles them. */
export const AIMED_MS = 250;

/** Whether a tap on a cell has to aim first: a finger covers more than the cell, and a column is no narrower. */
export function needsAim(game: Game, event: Event): boolean {
  const { offsetWidth, offsetHeight } = event.currentTarget as HTMLElement;
  const isFinger = event instanceof PointerEvent && /touch|pen/.test(event.pointerType);
  return isFinger && Math.min(offsetWidth, offsetHeight) < FINGER && !(game.gravity && sizes(game)[0] === 1);
}
