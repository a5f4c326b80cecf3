/** Load code on demand, and redraw the page when it arrives. */

import { redraw } from "./store.js";

const IDLE_MS = 1500;
const AGAIN_MS = 2000;
type More = typeof import("./more.js");
let more: More | null = null;
let fetching: Promise<unknown> | null = null;
/** What is done once the later code is there, in order, and the most of it. */
const due: ((found: More) => void)[] = [];
const MOST_DUE = 200;

/** Return the code that is loaded later, or null and start loading it. */
export function later(): More | null {
  fetchNow();
  return more;
}

/** Call a function with the later code: now if that is there, otherwise as soon as it is. */
export function withLater(act: (found: More) => void): void {
  const found = later();
  if (found) act(found);
  else if (due.length < MOST_DUE) due.push(act);
}

/** Load the later code unless it is there; resolves when it is loaded or loading failed. */
export function fetchNow(): Promise<unknown> {
  fetching ??= Promise.all([import("./more.js"), styled()]).then(
    ([found]) => {
      more = found;
      for (const act of due.splice(0)) act(found);
      redraw();
    },
    () => setTimeout(() => (fetching = null), AGAIN_MS), // offline; the next drawing tries again
  );
  return fetching;
}

/** Load the style of the later code. */
const styled = (): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL("later.css", import.meta.url).href;
    link.onload = resolve;
    link.onerror = () => {
      link.remove();
      reject(new Error("the style did not come"));
    };
    document.head.append(link);
  });

/** Load it a while after the first screen appears, so that it is available when needed. */
export const fetchInTime = (): unknown => setTimeout(later, IDLE_MS);
