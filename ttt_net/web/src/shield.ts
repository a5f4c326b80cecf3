/** Ignore taps, for a moment, on elements that have just appeared under the finger. */

const SHIELD_MS = 300;
const timers = new WeakMap<Element, number>();

let downAtMs = 0;

/** When the tap or key press of an event began. */
export const touchedAtMs = (event: Event): number => (event instanceof PointerEvent && event.pointerType ? Math.min(downAtMs, event.timeStamp) : event.timeStamp);

function noteDown(atMs: number): void {
  downAtMs = atMs;
}

/** Ignore taps on a region for a moment. */
export function shield(region: HTMLElement): void {
  clearTimeout(timers.get(region));
  region.dataset.settling = "";
  timers.set(region, window.setTimeout(() => delete region.dataset.settling, SHIELD_MS));
}

/**
 * Record the place of the board and the content of deck and tray; the returned function shields those that have changed
 * since.
 */
export function watchShifts(): () => void {
  const before = [...document.querySelectorAll<HTMLElement>(".field,.deck,.tray")].map((region) => [region, trace(region)] as const);
  return () => {
    for (const [region, old] of before) if (region.isConnected && trace(region) !== old) shield(region);
  };
}

/** Ignore taps on the board while the window is being resized, and record when taps begin. */
export function shieldBoards(): void {
  addEventListener("pointerdown", (event) => noteDown(event.timeStamp), true);
  addEventListener("resize", () => document.querySelectorAll<HTMLElement>(".field").forEach(shield));
}

function trace(region: HTMLElement): string {
  if (!region.matches(".field")) return region.dataset.shows ?? "";
  const { x, y, width } = region.getBoundingClientRect();
  return `${x + scrollX} ${y + scrollY} ${width}`;
}
