/** The sheet that explains a game: in the server's words, which are English, or in those of the language of the page. */

import type { RuleExample, RulesReply } from "./protocol.js";
import { button, capital, f, h, type Language, language, page, panel, ruleOf, set, state, titleOf, type Tree, ui, w } from "./shared.js";
import { sheet } from "./sheet.js";
import { isLearning, isTaught, learn, lesson } from "./tutorial.js";

/** What the server says of a game in English, said in another language. */
export type Explained = {
  /** By the name of the game: its goal, what is peculiar to it, two tips, and what can be seen at the end of its example. */
  pages: Record<string, readonly [string, string, string, string, string]>;
  /** What swap adds, and the tip that takes the place of the first. */
  swap: readonly [string, string];
  /** The goal of a game of any size, of so many in a row, and what is peculiar to one without gravity. */
  sized: readonly [string, string];
};
let spoken: { language: Language; explained: Explained | null } = { language: "en", explained: null };

/** Fetch how games are explained in the language of the page; until it has come, and without it, it is said in English. */
function explain(): Explained | null {
  if (spoken.language !== language) {
    spoken = { language, explained: null };
    const now = spoken;
    explanations(language).then(
      (found) => {
        now.explained = found;
        page.draw();
      },
      () => {}, // without a link
    );
  }
  return spoken.explained;
}

async function explanations(code: Language): Promise<Explained | null> {
  switch (code) {
    case "en":
      return null;
    case "zh":
      return (await import("./explained/zh.js")).explained;
    case "es":
      return (await import("./explained/es.js")).explained;
    case "ar":
      return (await import("./explained/ar.js")).explained;
    case "pt":
      return (await import("./explained/pt.js")).explained;
    case "fr":
      return (await import("./explained/fr.js")).explained;
    case "ru":
      return (await import("./explained/ru.js")).explained;
  }
}

/** The same rules in the language of the page, as far as it has words for them. */
function translated(rules: RulesReply, { pages, swap, sized }: Explained): RulesReply {
  const [base = "", swapped] = rules.game.split("+");
  const [, kind, row] = /^(mnk|connect):.+,(.+)/.exec(base) ?? [];
  const like = pages[kind ? (kind === "mnk" ? "gomoku" : "connect4") : base];
  if (!like) return rules;
  const [goal, special, first, second, caption] = like;
  const { example } = rules;
  return {
    ...rules,
    goal: row ? f(sized[0], row) : goal,
    special: [kind === "mnk" ? sized[1] : special, swapped && swap[0]].filter(Boolean).join(" "),
    tips: row ? [second, pages.gomoku![3]] : [swapped ? swap[1] : first, second],
    example: example && { ...example, caption: row ? "" : caption },
  };
}

export function rulesSheet(): Tree {
  const { rules } = state;
  const name = ui.rules;
  const told = rules && rules.game === name ? rules : null;
  const explained = explain();
  const known = told && explained ? translated(told, explained) : told;
  const lang = explained ? language : "en";
  const isTrying = isLearning(name);
  return sheet(
    w.howToPlay,
    titleOf(name),
    close,
    isTaught(name) && !isTrying && button(w.tryIt, () => learn(name), "primary large"),
    isTrying && lesson(name),
    known && !isTrying && h("p", `${capital(ruleOf({ name: name.split("+")[0]!, rule: known.rule }))}${w.stop}`),
    known && !isTrying && [
      h("p", { lang }, known.goal),
      known.special && h("p", { lang }, known.special),
      known.tips.length > 0 && h("ul.tips", { lang }, known.tips.map((tip) => h("li", tip))),
      known.example && example(known.example, lang),
    ],
  );
}

function close(): void {
  learn("");
  set({ rules: "" });
}

/** A short play to its end. */
const example = ({ moves, rows, caption }: RuleExample, lang: string): Tree =>
  panel(w.example, h("p.quiet", { lang }, h("bdi", moves.join(" ")), caption && ` – ${caption}`), h("pre", rows.join("\n")));
