/**
 * The storage of this browser: across visits, or if that is not allowed, for this visit. Stored values are validated.
 */

const forNow = new Map<string, string>();
const APART = "ttt_net.apart";
/** Keys that belong to a player, not to the browser. */
const OF_A_PLAYER = ["ttt_net.token", "ttt_net.invitation"];

/** The storage of this window only, for its own player. */
function ofWindow(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

/** Give this window its own player until it is closed. */
export function keepApart(): void {
  for (const name of OF_A_PLAYER) forNow.delete(name);
  keepInWindow(APART, "yes");
}

/** Store a text under a key until this window is closed. */
export function keepInWindow(name: string, text: string): void {
  try {
    ofWindow()?.setItem(name, text);
  } catch {
    // storage is full; the name has to be entered again, or the match begins anew
  }
}

/** Return the text that this window stores under a key until it is closed. */
export const keptOfWindow = (name: string): string | null => ofWindow()?.getItem(name) ?? null;

const isApart = (): boolean => !!keptOfWindow(APART);

function storage(name: string): Storage | null {
  try {
    return OF_A_PLAYER.includes(name) && isApart() ? sessionStorage : localStorage;
  } catch {
    return null; // the browser allows no storage for this page
  }
}

/** Return the stored text of a key, or null. */
export const kept = (name: string): string | null => storage(name)?.getItem(name) ?? forNow.get(name) ?? null;

/** Store a text under a key; null deletes it. */
export function keep(name: string, text: string | null): void {
  if (text === null) forNow.delete(name);
  else forNow.set(name, text);
  try {
    if (text === null) storage(name)?.removeItem(name);
    else storage(name)?.setItem(name, text);
  } catch {
    // storage is full; the text is kept for this visit
  }
}

/** Return the fields of a stored object that have the same type as in `usual`, and the fields of `usual` otherwise. */
export function keptFields<T extends object>(name: string, usual: T, read = kept): T {
  const found = parsed(read(name));
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
