/**
 * What is shown before there is a lobby or a match to show.
 */

import { symbol } from "./board.js";
import { button, form, h, line, screen } from "./dom.js";
import { link, start } from "./link.js";
import { go, place } from "./place.js";
import { state } from "./state.js";
import { sentence } from "./words.js";

const TITLES = { j: "You are invited to a match", m: "Come and watch" };
const SILENT = "The server does not answer or is full; trying again …";
const TROUBLES = {
  unknown_token: "This server does not know you: what shall it call you?",
  4004: "You are forgotten here.",
};
const ELSEWHERE = 4001;

export const pulse = () => h("div.pulse", { hidden: true }, symbol("X"), symbol("O"));

export function nameScreen() {
  const { parted } = state;
  const said = parted && (TROUBLES[parted.code] ?? sentence(parted.message));
  return h(
    "main.welcome",
    pulse(),
    h("h1", TITLES[place().kind] ?? "Tic-tac-toe and its family"),
    form(
      "form",
      ({ name }) => start(name.trim()),
      h("label", { for: "name" }, "What are you called?"),
      line("name", "", { id: "name", autocomplete: "nickname", maxlength: 20, focus: true, "aria-describedby": "trouble" }),
      h("p.trouble", { id: "trouble", role: "alert" }, link === "lost" ? SILENT : said),
      h("button.primary.large", "Play"),
      button("Play as a guest", () => start(), "large"),
    ),
    h("p.quiet", "No account, no password: this browser remembers you."),
  );
}

export function messageScreen() {
  const { parted } = state;
  if (link === "stopped" && parted) {
    const isElsewhere = parted.code === ELSEWHERE;
    return screen(
      "main.welcome",
      "parted",
      h("h1", isElsewhere ? "You play in another window" : "The connection has ended"),
      h("p.quiet", isElsewhere ? "One window at a time hears your matches." : sentence(parted.message || "The server said no")),
      // There may be a newer page.
      button(isElsewhere ? "Play here" : "Try again", () => (isElsewhere ? start() : location.reload()), "primary large"),
    );
  }
  return screen(
    "main.welcome",
    "moment",
    pulse(),
    h("p", { role: "status" }, link === "lost" ? SILENT : place().kind === "j" ? "Joining …" : "One moment …"),
    link === "online" && button("To the lobby", () => go("/")),
  );
}
