/** Questions that stand above the page until they are answered. */

import { symbol } from "./board.js";
import { button, h } from "./dom.js";

/** @param {import("./main.js").App} app */
export function dialog(app) {
  const { question } = app.ui;
  const match = app.state.matches.get(question?.match);
  const close = () => app.set({ question: null });
  const shown = {
    resign: () => [
      "Resign this match?",
      button("Resign", () => (close(), app.request("resign", { match: match?.match })), "primary large"),
      button("Play on", close, "large"),
    ],
    mark: () => [
      "Which mark?",
      ...question.moves.map((move) => {
        const name = match?.game.move_names[move] ?? "";
        return button(symbol(name[0]), () => app.play(match, move), "large", `Play ${name}`);
      }),
      button("Cancel", close, "large"),
    ],
  };
  if (!question || (question.match && (!match || match.outcome))) return null;
  const [title, ...rest] = shown[question.kind]();
  return h(
    "dialog",
    { key: question.kind, modal: true, "aria-labelledby": "question", oncancel: close },
    h("h2", { id: "question" }, title),
    h("div.buttons", rest),
  );
}
