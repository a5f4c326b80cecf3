/** The sheet on which settings are changed. */

import { button, change, check, choices, h, icon, language, LANGUAGES, page, select, set, settings, speak, state, type Tree, w } from "./shared.js";

export function settingsSheet(): Tree {
  return h(
      "section.panel.sheet",
      { label: w.settings, role: "dialog", tabindex: -1, focus: true, onkeydown: (event: KeyboardEvent) => event.key === "Escape" && close() },
      h("div.row", h("h2", w.settings), button(icon("close"), close, "plain", w.close)),
      choices(w.colours, [["auto", w.asSystem], ["light", w.light], ["dark", w.dark]], settings.theme, (theme) => change({ theme })),
      check(w.sounds, settings.isLoud, (isLoud) => change({ isLoud })),
      check(w.flatLayers, settings.isFlat, (isFlat) => change({ isFlat })),
      state.features.includes("hint") && check(w.warnMe, settings.warns, (warns) => change({ warns })),
      "Notification" in window && check(w.tellMe, settings.tells, allow),
      h("label", w.language, select(w.language, LANGUAGES, language, (code) => speak(code, true).then(page.draw))),
  );
}

const close = (): void => set({ areSettingsOpen: false });

async function allow(tells: boolean): Promise<void> {
  change({ tells: tells && (await Notification.requestPermission()) === "granted" });
}
