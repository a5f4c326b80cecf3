/** The sheet that explains a game. */

import type { RuleExample } from "./protocol.js";
import { button, capital, h, icon, panel, ruleOf, set, state, titleOf, type Tree, ui, w } from "./shared.js";
import { isLearning, isTaught, learn, lesson } from "./tutorial.js";

export function rulesSheet(): Tree {
  const { rules } = state;
  const name = ui.rules;
  const onkeydown = (event: KeyboardEvent) => event.key === "Escape" && close();
  const known = rules && rules.game === name ? rules : null;
  const isTrying = isLearning(name);
  return h(
    "section.panel.sheet.rules",
    { label: w.howToPlay, role: "dialog", tabindex: -1, focus: true, onkeydown },
    h("div.row", h("h2", titleOf(name)), button(icon("close"), close, "plain", w.close)),
    isTaught(name) && !isTrying && button(w.tryIt, () => learn(name), "primary large"),
    isTrying && lesson(name),
    known && !isTrying && h("p", `${capital(ruleOf({ name: name.split("+")[0]!, rule: known.rule }))}${w.stop}`),
    known && !isTrying && [
      h("p", { lang: "en" }, known.goal),
      known.special && h("p", { lang: "en" }, known.special),
      known.tips.length > 0 && h("ul.tips", { lang: "en" }, known.tips.map((tip) => h("li", tip))),
      known.example && example(known.example),
    ],
  );
}

function close(): void {
  learn("");
  set({ rules: "" });
}

/** A short play to its end. */
const example = ({ moves, rows, caption }: RuleExample): Tree =>
  panel(w.example, h("p.quiet", { lang: "en" }, `${moves.join(" ")} – ${caption}`), h("pre", rows.join("\n")));
