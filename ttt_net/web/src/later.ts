/** The code that is fetched later: there once it has come, and the page is drawn anew then. */

import { page } from "./app.js";
import type { Tree } from "./dom.js";

const IDLE_MS = 1500;
const AGAIN_MS = 2000;
type More = typeof import("./more.js");
let more: More | null = null;
let fetching: Promise<unknown> | null = null;

/** Return the code that is fetched later, or null and have it fetched. */
export function later(): More | null {
  fetching ??= import("./more.js").then(
    (found) => {
      more = found;
      page.draw();
    },
    () => setTimeout(() => (fetching = null), AGAIN_MS), // without a link; whatever is drawn next asks again
  );
  return more;
}

let qr: typeof import("./qr.js") | null = null;

/** An address as a QR code, once the code for that has come. */
export function qrOf(address: string): Tree | null {
  if (!qr && later()) {
    import("./qr.js").then(
      (found) => {
        qr = found;
        page.draw();
      },
      () => {}, // without a link: the address is there in letters
    );
  }
  return qr && qr.qrCode(address);
}

/** Fetch it when the first screen has been shown for a while, so that it is there when it is wanted. */
export const fetchInTime = (): unknown => setTimeout(later, IDLE_MS);
