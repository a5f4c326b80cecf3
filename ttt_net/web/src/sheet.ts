/** Sheets, and the sheet of settings. */

import { button, check, type Child, choices, h, type Tree } from "./dom.js";
import { felt } from "./feel.js";
import { language, LANGUAGES, speak, w } from "./i18n.js";
import { select } from "./parts.js";
import { icon } from "./pieces.js";
import { change, settings } from "./settings.js";
import { redraw, set, state } from "./store.js";

/** A sheet over a screen, which ignores taps meanwhile. Its button, Escape or a tap beside it closes it. */
export const sheet = (title: string, heading: string, close: () => void, ...children: Child[]): Tree =>
  h(
    "div.cover",
    {
      key: title,
      // A handler that returns false would prevent the default action.
      onclick: (event: Event) => {
        if (event.target === event.currentTarget) close();
      },
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === "Escape") close();
      },
    },
    h(
      "section.panel.sheet",
      { label: title, role: "dialog", tabindex: -1, focus: true },
      h("div.row", h("h2", heading), button(icon("close"), close, "plain", w.close)),
      children,
    ),
  );

export function settingsSheet(): Tree {
  return sheet(
      w.settings,
      w.settings,
      close,
      choices(w.colours, [["auto", w.asSystem], ["light", w.light], ["dark", w.dark]], settings.theme, (theme) => change({ theme })),
      check(w.sounds, settings.isLoud, (isLoud) => {
        change({ isLoud });
        felt("turn"); // so that the player hears the volume
      }),
      check(w.flatLayers, settings.isFlat, (isFlat) => change({ isFlat })),
      state.features.includes("hint") && check(w.warnMe, settings.warns, (warns) => change({ warns })),
      "Notification" in window && check(w.tellMe, settings.tells, allow),
      h("label", w.language, select(w.language, LANGUAGES, language, (code) => speak(code, true).then(redraw))),
  );
}

const close = (): void => set({ areSettingsOpen: false });

async function allow(tells: boolean): Promise<void> {
  change({ tells: tells && (await Notification.requestPermission()) === "granted" });
}
