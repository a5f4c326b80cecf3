/**
 * What is shown before there is a lobby or a match to show.
 *
 * @typedef {import("./main.js").App} App
 */

import { symbol } from "./board.js";
import { button, h } from "./dom.js";
import { sentence } from "./words.js";

const TITLES = { join: "You are invited to a match", match: "Come and watch" };
const TROUBLES = {
  unknown_token: "This server does not know you, or no more: what shall it call you?",
  4004: "You are forgotten here.",
};
const ELSEWHERE = 4001;

export const pulse = () => h("div.pulse", { hidden: true }, symbol("X"), symbol("O"));

/** @param {App} app */
export function nameScreen(app) {
  const { parting } = app.state;
  const trouble = parting ? (TROUBLES[parting.code] ?? sentence(parting.message)) : "";
  const name = app.ui.name.trim();
  return h(
    "main.welcome",
    { key: "name", tabindex: -1 },
    pulse(),
    h("h1", TITLES[app.place.kind] ?? "Tic-tac-toe and its family"),
    h(
      "form",
      { onsubmit: (event) => (event.preventDefault(), app.connection.start(name)) },
      h("label", { for: "name" }, "What are you called?"),
      h("input", {
        id: "name",
        type: "text",
        autocomplete: "nickname",
        maxlength: 20,
        value: app.ui.name,
        focus: true,
        "aria-describedby": "trouble",
        oninput: (event) => app.set({ name: event.target.value }),
      }),
      h("p.trouble", { id: "trouble", role: "alert" }, trouble),
      h("button.primary.large", name ? "Play" : "Play as a guest"),
    ),
    h("p.quiet", "No account, no password: this browser remembers you."),
  );
}

/** @param {App} app */
export function messageScreen(app) {
  const { parting } = app.state;
  const { link } = app.connection;
  if (link === "stopped" && parting) {
    const isElsewhere = parting.code === ELSEWHERE;
    return h(
      "main.welcome",
      { key: "parting", tabindex: -1, focus: true },
      h("h1", isElsewhere ? "You play in another window" : "The connection has ended"),
      h("p.quiet", isElsewhere ? "One window at a time hears your matches." : sentence(parting.message || "The server said no")),
      button(isElsewhere ? "Play here" : "Try again", () => app.connection.start(), "primary large"),
    );
  }
  const words = link === "lost" ? "The server does not answer; trying again …" : app.place.kind === "join" ? "Joining …" : "One moment …";
  return h(
    "main.welcome",
    { key: "moment", tabindex: -1 },
    pulse(),
    h("p", { role: "status" }, words),
    link === "online" && button("To the lobby", () => app.go("/")),
  );
}
