/** The sheet on which another game is chosen, to be played against the same player. */

import { challenge, challengeBot, games, isBot, type Match, set, shelf, state, type Tree, ui, w } from "./shared.js";
import { sheet } from "./sheet.js";

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
