/** Ignore taps, for a moment, on elements that have just appeared under the finger. */

const SHIELD_MS = 300;
const timers = new WeakMap<Element, number>();

let downAtMs = 0;

/** When the tap or key press of an event began. */
export const touchedAtMs = (event: Event): number => (event instanceof PointerEvent && event.pointerType ? Math.min(downAtMs, event.timeStamp) : event.timeStamp);

/** Ignore taps on a region for a moment. */
export function shield(region: HTMLElement): void {
  clearTimeout(timers.get(region));
  region.dataset.settling = "";
  timers.set(region, window.setTimeout(() => delete region.dataset.settling, SHIELD_MS));
}

/** Where the board was, and what deck and tray showed, when they were drawn last. */
let before = new Map<HTMLElement, string>();

/** Shield the board if it was moved, and deck and tray if they show something else than before. */
export function shieldShifted(): void {
  const now = new Map([...document.querySelectorAll<HTMLElement>(".field,.deck,.tray")].map((region) => [region, trace(region)]));
  for (const [region, shown] of now) if ((before.get(region) ?? shown) !== shown) shield(region);
  before = now;
}

/** Record when taps begin. */
export function noteTaps(): void {
  addEventListener("pointerdown", ({ timeStamp }) => (downAtMs = timeStamp), true);
}

function trace(region: HTMLElement): string {
  if (!region.matches(".field")) return region.dataset.shows ?? "";
  const { x, y, width } = region.getBoundingClientRect();
  return `${x + scrollX} ${y + scrollY} ${width}`;
}
