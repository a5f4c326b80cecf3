/** Offer to install the page as an app, once a player has finished two matches; each browser is asked until one answer. */

import { button, h, panel, type Tree } from "./dom.js";
import { w } from "./i18n.js";
import { keep, keptFields } from "./kept.js";
import { redraw } from "./store.js";

/** The browser's own dialog, which a page may open when the player wants it. */
type Offer = Event & { prompt: () => Promise<unknown> };
const KEPT = "ttt_net.install";
const MATCHES = 2;
const known = keptFields(KEPT, { matches: 0, isAnswered: false });
let offer: Offer | null = null;

function remember(change: Partial<typeof known>): void {
  Object.assign(known, change);
  keep(KEPT, JSON.stringify(known));
  redraw();
}

const answered = (): void => remember({ isAnswered: true });

/** Hear when the browser would install the page, and that it has. */
export function awaitOffer(): void {
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault(); // the browser would ask at once
    offer = event as Offer;
    redraw();
  });
  addEventListener("appinstalled", answered);
}

/** Count a finished match of ours. */
export function finishedMatch(): void {
  if (known.matches < MATCHES) remember({ matches: known.matches + 1 });
}

/** Whether the page is in a browser of a phone that installs only by its own menu, and not installed yet. */
const isByHand = (): boolean => (navigator as { standalone?: boolean }).standalone === false;

export function installing(): Tree | false {
  if (known.matches < MATCHES || known.isAnswered || !(offer || isByHand())) return false;
  const install = () => {
    offer?.prompt().catch(() => null);
    answered();
  };
  return panel(
    w.install,
    h("p", offer ? w.installMeans : `${w.installMeans} ${w.installHow}`),
    h("div.buttons", offer && button(w.install, install, "primary"), button(w.notNow, answered)),
  );
}
