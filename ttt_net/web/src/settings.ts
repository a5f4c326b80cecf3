/** The display settings of this browser: colours, sounds, layers, language; stored here, and never sent. */

import { button, type Tree } from "./dom.js";
import { w } from "./i18n.js";
import { keep, keptFields } from "./kept.js";
import { icon } from "./pieces.js";
import { redraw, set, ui } from "./store.js";

const KEPT = "ttt_net.settings";
const USUAL = { theme: "auto", isLoud: true, isFlat: false, tells: false, warns: true };
export const settings = keptFields(KEPT, USUAL);

/** Change and store settings. */
export function change(changed: Partial<typeof USUAL>): void {
  Object.assign(settings, changed);
  keep(KEPT, JSON.stringify(settings));
  applyTheme();
  redraw();
}

/** Smaller screens have no room for the layers of a cube one above the other. */
const [NARROW, LOW] = [600, 640];

/** Whether the layers of a cube are side by side: by choice, or because cells would be too low for a finger. */
export const isFlat = (): boolean => settings.isFlat || (innerWidth < NARROW && innerHeight < LOW);

/** Apply the chosen colours, or those of the system. */
export function applyTheme(): void {
  const { theme } = settings;
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

/** The button that opens the settings. */
export const gear = (): Tree =>
  button(icon("settings"), () => set({ areSettingsOpen: !ui.areSettingsOpen }), "plain gear", w.settings, { "aria-expanded": String(ui.areSettingsOpen) });
