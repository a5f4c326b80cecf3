/** Parts of screens that the first screen does not need: memoized parts, and drop-down lists. */

import { h, type Tree } from "./dom.js";

const parts = new Map<string, { shown: unknown[]; made: unknown }>();

/** A named part of a screen, computed again only when its values have changed. */
export function part<T>(name: string, shown: unknown[], make: () => T): T {
  const known = parts.get(name);
  if (known && areSame(known.shown, shown)) return known.made as T;
  const made = make();
  parts.set(name, { shown, made });
  return made;
}

/** Compute the tree of each value once, and again only when other shown values have changed. */
export function once<V extends object>(make: (value: V) => Tree): (value: V, ...shown: unknown[]) => Tree {
  const known = new WeakMap<V, { shown: unknown[]; made: Tree }>();
  return (value, ...shown) => {
    const before = known.get(value);
    if (before && areSame(before.shown, shown)) return before.made;
    const made = make(value);
    known.set(value, { shown, made });
    return made;
  };
}

const areSame = (one: unknown[], other: unknown[]): boolean => one.length === other.length && one.every((each, n) => each === other[n]);

/** A drop-down list. */
export const select = <T extends string>(label: string, values: readonly (readonly [T, string])[], chosen: T, choose: (value: T) => unknown): Tree =>
  h(
    "select",
    { label, key: label, onchange: (event: Event) => choose((event.target as HTMLSelectElement).value as T) },
    values.map(([value, words]) => h("option", { key: value, value, selected: value === chosen }, words)),
  );
