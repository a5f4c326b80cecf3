/**
 * Questions that stand above the page until they are answered.
 *
 * @typedef {import("./main.js").App} App
 */

import { symbol } from "./board.js";
import { h } from "./dom.js";

/** @param {App} app */
export function dialog(app) {
  const { question } = app.ui;
  if (!question) return null;
  const close = () => app.ask(null);
  const match = app.state.matches.get(question.match ?? "");
  /** @type {any[]} */
  let inside = [];
  if (question.kind === "resign" && match && !match.outcome) {
    const resign = () => {
      close();
      app.request("resign", { match: match.match });
    };
    inside = [h("h2", { id: "question" }, "Resign this match?"), answers("Resign", resign, "Play on", close)];
  } else if (question.kind === "mark" && match && !match.outcome) {
    inside = [
      h("h2", { id: "question" }, "Which mark?"),
      h(
        "div",
        { class: "buttons" },
        (question.moves ?? []).map((move) => {
          const name = match.game.move_names[move];
          return h("button", { type: "button", class: "large", "aria-label": `Play ${name}`, onclick: () => app.play(match, move) }, symbol(name[0]));
        }),
      ),
      h("button", { type: "button", class: "plain", onclick: close }, "Cancel"),
    ];
  } else return null;
  return h("dialog", { key: question.kind, modal: true, "aria-labelledby": "question", oncancel: close, onclose: close }, inside);
}

/**
 * @param {string} yes
 * @param {() => void} act
 * @param {string} no
 * @param {() => void} close
 */
function answers(yes, act, no, close) {
  return h(
    "div",
    { class: "buttons" },
    h("button", { type: "button", class: "primary large", onclick: act }, yes),
    h("button", { type: "button", class: "large", onclick: close }, no),
  );
}
