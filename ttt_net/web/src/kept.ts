/** What this browser remembers from one visit to the next, or where it may not, for this visit. Nothing stored is trusted. */

const forNow = new Map<string, string>();
const APART = "ttt_net.apart";
/** What belongs to a player, and not to the browser. */
const OF_A_PLAYER = ["ttt_net.token", "ttt_net.invitation"];

/** What this window alone keeps, if somebody else plays in it than in the others. */
function ofWindow(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

/** Keep who plays in this window apart from who plays in the others, until it is closed. */
export function keepApart(): void {
  for (const name of OF_A_PLAYER) forNow.delete(name);
  try {
    ofWindow()?.setItem(APART, "yes");
  } catch {
    // there is no room; the others' player is asked for again
  }
}

const isApart = (): boolean => !!ofWindow()?.getItem(APART);

function storage(name: string): Storage | null {
  try {
    return OF_A_PLAYER.includes(name) && isApart() ? sessionStorage : localStorage;
  } catch {
    return null; // the browser is told to keep nothing for this page
  }
}

/** Return what is kept under a name, or null. */
export const kept = (name: string): string | null => storage(name)?.getItem(name) ?? forNow.get(name) ?? null;

/** Keep a text under a name; null forgets it. */
export function keep(name: string, text: string | null): void {
  if (text === null) forNow.delete(name);
  else forNow.set(name, text);
  try {
    if (text === null) storage(name)?.removeItem(name);
    else storage(name)?.setItem(name, text);
  } catch {
    // there is no room; it is kept for this visit
  }
}

/** Return the fields of a kept object that are of the same type as in `usual`, and those of `usual` for the others. */
export function keptFields<T extends object>(name: string, usual: T): T {
  const found = parsed(kept(name));
  const fields = Object.entries(usual).map(([key, value]) => [key, typeof found[key] === typeof value ? found[key] : value]);
  return Object.fromEntries(fields) as T;
}

function parsed(text: string | null): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(text ?? "{}");
    return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
