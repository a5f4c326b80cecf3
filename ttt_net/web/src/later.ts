/** The code that is fetched later: there once it has come, and the page is drawn anew then. */

import { redraw } from "./store.js";

const IDLE_MS = 1500;
const AGAIN_MS = 2000;
type More = typeof import("./more.js");
let more: More | null = null;
let fetching: Promise<unknown> | null = null;

/** Return the code that is fetched later, or null and have it fetched. */
export function later(): More | null {
  fetchNow();
  return more;
}

/** Fetch the code that is fetched later, unless it is there; resolves when it is, or when it did not come. */
export function fetchNow(): Promise<unknown> {
  fetching ??= Promise.all([import("./more.js"), styled()]).then(
    ([found]) => {
      more = found;
      redraw();
    },
    () => setTimeout(() => (fetching = null), AGAIN_MS), // without a link; whatever is drawn next asks again
  );
  return fetching;
}

/** Have the style of what is fetched later. */
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

/** Fetch it when the first screen has been shown for a while, so that it is there when it is wanted. */
export const fetchInTime = (): unknown => setTimeout(later, IDLE_MS);
