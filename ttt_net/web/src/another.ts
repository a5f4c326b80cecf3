/** The sheet for choosing another game against the same player. */

import { challengeBot } from "./actions.js";
import { shelf } from "./bar.js";
import type { Tree } from "./dom.js";
import { games } from "./games.js";
import { w } from "./i18n.js";
import { challenge } from "./requests.js";
import { isBot } from "./sentences.js";
import { sheet } from "./sheet.js";
import { type Match, set, state, ui } from "./store.js";

export function anotherSheet(match: Match): Tree {
  const { players, you = 0, time, rated, game } = match;
  const other = players[1 - you]!;
  const close = () => set({ isChoosing: false });
  const offered = games(ui.choice);
  const choose = (name: string) => {
    const chosen = offered.find((each) => each.name === name);
    if (!chosen) return;
    const wish = { game: chosen.asked, time: time ?? null, rated: chosen.rated && !!rated };
    const bot = state.players.find((each) => each.name === other.name);
    if (isBot(other)) challengeBot(bot ?? { ...other, any_level: false }, wish);
    else challenge(other.name, wish);
    close();
  };
  return sheet(w.otherGame, w.otherGame, close, shelf(offered, offered.find(({ name }) => name === game.name) ?? offered[0]!, choose));
}
