/** Overlays on all screens that do not move them: the connection, challenges, notices. */

import { link, notify } from "./actions.js";
import { button, h, type Tree } from "./dom.js";
import { f, w } from "./i18n.js";
import { later } from "./later.js";
import { icon } from "./pieces.js";
import { ownLive, set, state, ui } from "./store.js";

export const tray = (): Tree => h("div.tray", { "data-shows": [...state.challenges.keys()].join(" ") }, state.challenges.size > 0 && later()?.challenges(), banner(), toast(), toCopy());

function banner(): Tree | "" {
  const { trouble } = link;
  const words = trouble && !link.isUp() && state.you ? `${f(w.reconnecting, (w as unknown as Record<string, string>)[trouble] ?? trouble)} ${ownLive().length ? w.matchIsSafe : ""}` : ui.closing;
  return words && h("div.banner", { role: "status" }, words);
}

function toast(): Tree | "" {
  return ui.notice && h("div.toast", { role: "status" }, h("span", ui.notice), button(icon("close"), () => notify(""), "plain", w.close));
}

/** A text for manual copying. */
function toCopy(): Tree | "" {
  const field = { type: "text", readonly: true, value: ui.copied, id: "to-copy", focus: true };
  const onfocus = (event: Event) => (event.target as HTMLInputElement).select();
  return ui.copied && h("div.toast.copied", h("label", { for: "to-copy" }, w.copyThis, h("input", { ...field, onfocus })), button(icon("close"), () => set({ copied: "" }), "plain", w.close));
}
