/** What this browser remembers from one visit to the next, or where it may not, for this visit. Nothing stored is trusted. */

const forNow = new Map<string, string>();

function storage(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null; // the browser is told to keep nothing for this page
  }
}

/** Return what is kept under a name, or null. */
export const kept = (name: string): string | null => storage()?.getItem(name) ?? forNow.get(name) ?? null;

/** Keep a text under a name; null forgets it. */
export function keep(name: string, text: string | null): void {
  if (text === null) forNow.delete(name);
  else forNow.set(name, text);
  try {
    if (text === null) storage()?.removeItem(name);
    else storage()?.setItem(name, text);
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
