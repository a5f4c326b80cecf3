/** The sheet on which another game is chosen, to be played against the same player. */

import { button, challenge, challengeBot, games, h, icon, isBot, type Match, set, shelf, state, type Tree, ui, w } from "./shared.js";

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
  return h(
    "section.panel.sheet",
    { label: w.otherGame, role: "dialog", tabindex: -1, focus: true, onkeydown: (event: KeyboardEvent) => event.key === "Escape" && close() },
    h("div.row", h("h2", w.otherGame), button(icon("close"), close, "plain", w.close)),
    shelf(offered, offered.find(({ name }) => name === game.name) ?? offered[0]!, choose),
  );
}
