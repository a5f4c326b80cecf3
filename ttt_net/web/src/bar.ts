/** The bar above a screen, and the shelf of games; the first screen needs both. */

import { link } from "./actions.js";
import { button, type Child, h, option, type Tree } from "./dom.js";
import type { Offered } from "./games.js";
import { w } from "./i18n.js";
import { icon, picture } from "./pieces.js";
import { go } from "./place.js";
import { gear } from "./settings.js";

/** The speed of the connection in a word; empty for visitors who need no server yet. */
export function linkWord(): Tree | false {
  if (!link.isKnown()) return false;
  const { latencyMs } = link;
  const ms = latencyMs ?? 0;
  const kind = !link.isUp() ? "offline" : latencyMs === null ? "" : ms < 80 ? "fast" : ms < 200 ? "good" : "slow";
  return h("span.link", { class: `link-${kind}`, title: `${Math.round(ms)} ms` }, h("i", { hidden: true }), h("span", w.linkWords[kind] ?? ""));
}

export const bar = (title: Child, ...more: Child[]): Tree =>
  h("header.bar", button(icon("back"), () => go("/"), "plain back", w.toLobby), h("h1", title), linkWord(), more, gear());

/** Games to choose from, each with a little picture of its board. */
export const shelf = (listed: Offered[], chosen: Offered, choose: (name: string) => void, isFixed = false): Tree =>
  h(
    "fieldset.games",
    { disabled: isFixed },
    h("legend", w.game),
    h(
      "div.shelf",
      listed.map((game) => {
        const looks = [picture(game.name, game.shape, !!game.line?.gravity), game.title];
        return option("game", looks, game.name === chosen.name, () => choose(game.name), game.name);
      }),
    ),
  );
