/** The sheet that explains a game: in the server's English, or in the language of the page. */

import { wantBot } from "./actions.js";
import { board as theBoard, type Look, sizes } from "./board.js";
import { CATALOGUE } from "./catalogue.js";
import { button, type Child, h, type Tree } from "./dom.js";
import { explain } from "./explained.js";
import type { Explained } from "./explanation.js";
import { ruleOf, titleOf, wishOf } from "./games.js";
import { f, language, w } from "./i18n.js";
import { place } from "./place.js";
import type { RuleExample, RulesReply } from "./protocol.js";
import { capital } from "./sentences.js";
import { isFlat } from "./settings.js";
import { sheet } from "./sheet.js";
import { set, state, ui } from "./store.js";
import { isLearning, isLearnt, isTaught, learn, lesson } from "./tutorial.js";

/** The same rules in the language of the page, as far as translated. */
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
    tips: row ? [kind === "mnk" ? sized[2] : second, pages.gomoku![3]] : [swapped ? swap[1] : first, second],
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
    isLearnt(name) && place().kind === "lobby" && button(w.playComputer, () => playIt(name), "primary large"),
    known && !isTrying && h("p", `${capital(ruleOf({ name: name.split("+")[0]!, rule: known.rule }))}${w.stop}`),
    known && !isTrying && [
      known.goal !== `${capital(known.rule)}.` && h("p", { lang }, known.goal), // a game without a page of its own has the rule alone
      known.special && h("p", { lang }, known.special),
      known.tips.length > 0 && h("ul.tips", { lang }, known.tips.map((tip) => h("li", tip))),
      known.example && example(name, known.example, lang),
    ],
  );
}

function close(): void {
  learn("");
  set({ rules: "" });
}

/** Play a game against a bot after learning it. */
function playIt(game: string): void {
  close();
  wantBot({ ...wishOf({ ...ui.choice, game }), rated: false });
}

/** A short example match; the caption describes the drawing. */
const example = (game: string, { moves, rows, caption }: RuleExample, lang: string): Tree =>
  h(
    "section.example",
    { label: w.example },
    h("div", { hidden: true, inert: true }, drawn(game, rows)),
    h("p.quiet", { lang }, h("bdi", moves.join(" ")), caption && ` – ${caption}`),
  );

const isFalling = (name: string): boolean => name.startsWith("connect");

/**
 * The board at the end of an example, parsed from its rows, which show only a part of a large board with its labels.
 */
function drawn(name: string, rows: string[]): Child {
  const [base = ""] = name.split("+");
  const [, size] = /:(.+),/.exec(base) ?? [];
  const listed = CATALOGUE.find((game) => game.name === base);
  const shape = listed?.shape ?? (size ?? "").split("x").map(Number).reverse();
  const { block } = listed ?? {};
  const gravity = isFalling(base) || !!listed?.line?.gravity;
  const [layers, height, width] = sizes({ shape });
  const columns = (rows[rows.length - 1] ?? "").trim().split(/ +/).map((each) => (/[a-z]/.test(each) ? each.charCodeAt(0) - 97 : Number(each) - 1));
  const board = Array.from({ length: layers * height * width }, () => ".");
  const line: number[] = [];
  rows.filter((row) => /^ ?\d/.test(row)).forEach((row, n) => {
    const y = block ? n : height - parseInt(row, 10);
    const marks = [...row.matchAll(/([ [|])\[?([XO.])(?=[ \]|]|$)/g)];
    const across = marks.length / layers;
    marks.forEach(([found, , mark = "."], at) => {
      const x = block ? at : (columns[at % across] ?? at % across);
      const cell = (Math.floor(at / across) * height + y) * width + x;
      board[cell] = mark;
      if (found.includes("[")) line.push(cell);
    });
  });
  const blocks = block ? [..."012345678"].map((_, n) => (line.includes((n - (n % 3)) * 9 + (n % 3) * 3) ? "X" : ".")).join("") : "";
  const look: Look = {
    game: { name, title: "", rule: "", shape, gravity, move_cells: [], move_names: [], ...(block && { block }) },
    position: { ply: 1, board: board.join(""), to_move: null, legal: [], line: line.sort((one, other) => one - other), marks: ["X", "O"], blocks },
    last: -1, canMove: false, ghost: -1, ghostMark: "X", isPending: false, focus: -1, fading: -1, hints: "", alarms: "",
    isLoss: base === "misere", isFlat: isFlat(), prefix: "example-",
  };
  return theBoard(look, { choose: () => {}, hover: () => {}, focus: () => {} });
}
