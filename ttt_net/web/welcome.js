/**
 * What is shown before there is a lobby or a match to show.
 *
 * @typedef {import("./main.js").App} App
 */

import { symbol } from "./board.js";
import { h } from "./dom.js";
import { sentence } from "./words.js";

/** @param {App} app */
export function nameScreen(app) {
  const { kind } = app.place;
  const { parting } = app.state;
  const trouble = parting && parting.code !== "unknown_token" && parting.code !== 4004 ? sentence(parting.message) : "";
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const name = app.ui.name.trim();
    app.connection.start(name ? { name } : {});
  };
  return h(
    "main",
    { key: "name", class: "welcome", tabindex: -1 },
    h("div", { class: "pulse", "aria-hidden": "true" }, symbol("X"), symbol("O")),
    h("h1", null, kind === "join" ? "You are invited to a match" : kind === "match" ? "Come and watch" : "Tic-tac-toe and its family"),
    h(
      "form",
      { onsubmit: submit },
      h("label", { for: "name" }, "What are you called?"),
      h("input", {
        id: "name",
        type: "text",
        autocomplete: "nickname",
        autocapitalize: "words",
        maxlength: 20,
        value: app.ui.name,
        focus: true,
        "aria-describedby": trouble ? "trouble" : null,
        oninput: (/** @type {any} */ event) => app.type("name", event.target.value),
      }),
      trouble && h("p", { id: "trouble", class: "trouble", role: "alert" }, trouble),
      h("button", { type: "submit", class: "primary large" }, app.ui.name.trim() ? "Play" : "Play as a guest"),
    ),
    h("p", { class: "quiet" }, "No account, no password: this browser remembers you."),
  );
}

/** @param {App} app */
export function messageScreen(app) {
  const { parting, link } = app.state;
  const back = h("button", { type: "button", onclick: () => app.go("/") }, "To the lobby");
  if (link === "stopped" && parting) {
    const isElsewhere = parting.code === 4001;
    return h(
      "main",
      { key: "parting", class: "welcome", tabindex: -1, focus: true },
      h("h1", null, isElsewhere ? "You play in another window" : "The connection has ended"),
      h("p", { class: "quiet" }, isElsewhere ? "One window at a time hears your matches." : sentence(parting.message || "The server said no.")),
      h("button", { type: "button", class: "primary large", onclick: () => app.connection.start() }, isElsewhere ? "Play here" : "Try again"),
    );
  }
  const { kind } = app.place;
  const word = link === "lost" ? "The server does not answer; trying again …" : kind === "join" ? "Joining …" : "One moment …";
  return h(
    "main",
    { key: "moment", class: "welcome", tabindex: -1 },
    h("div", { class: "pulse", "aria-hidden": "true" }, symbol("X"), symbol("O")),
    h("p", { role: "status" }, word),
    link === "online" && back,
  );
}
