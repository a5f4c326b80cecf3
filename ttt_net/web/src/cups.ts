/** Load the screens of tournaments, their code and style, on demand. */

import { say } from "./actions.js";
import type { Child } from "./dom.js";
import { redraw, state } from "./store.js";

const AGAIN_MS = 2000;
let found: typeof import("./tournament.js") | null = null;
let isAsked = false;

/** The welcome after which the list of tournaments was requested. */
let listedFor: unknown = null;

/** Return the tournaments in the lobby; the first time on a connection, subscribe to the list. */
export function listedTournaments(): Child {
  const { you, features, tournaments } = state;
  if (listedFor !== you && features.includes("tournaments")) {
    listedFor = you;
    say({ type: "tournaments", on: true });
  }
  return !!tournaments?.tournaments.length && cups()?.tournamentList(tournaments.tournaments);
}

/** Return the code for tournaments, or null and start loading it with its style. */
export function cups(): typeof found {
  if (!isAsked) {
    isAsked = true;
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL("cups.css", import.meta.url).href;
    document.head.append(link);
    import("./tournament.js").then(
      (code) => {
        found = code;
        redraw();
      },
      () => setTimeout(() => (isAsked = false), AGAIN_MS), // offline; the next drawing tries again
    );
  }
  return found;
}
