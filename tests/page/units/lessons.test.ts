/** Lessons: every game is learnt by playing a position or two, without a server. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { document } from "./document.js";
import { patch } from "../../../ttt_net/web/src/dom.js";
import { bring } from "../../../ttt_net/web/src/i18n.js";
import { isLearnt, isTaught, learn, lesson } from "../../../ttt_net/web/src/tutorial.js";
import { enMore } from "../../../ttt_net/web/src/words/en-more.js";

bring(enMore);
const draw = (name: string): void => patch(document.body, [lesson(name)!]);
const buttons = (selector: string): HTMLButtonElement[] => [...document.querySelectorAll<HTMLButtonElement>(selector)];
const press = (button: HTMLButtonElement): unknown => button.onclick?.({ currentTarget: button } as unknown as PointerEvent);

for (const name of ["tictactoe", "misere", "wild", "vanishing", "connect4", "gomoku", "ultimate", "tictactoe3d", "qubic", "scorefour"]) {
  test(`${name} is learnt by playing`, () => {
    assert.ok(isTaught(name));
    learn(name);
    let wrong = 0;
    for (let steps = 0; !isLearnt(name); steps++) {
      assert.ok(steps < 4, "it ends");
      draw(name);
      for (const cell of buttons(".cell.free")) {
        press(cell);
        draw(name);
        if (document.querySelector(".verdict")!.textContent === "Well done!") break;
        wrong++;
        assert.equal(document.querySelector(".verdict")!.textContent, "Not there. Look again.");
      }
      press(buttons("button").find(({ textContent }) => textContent === "Next")!);
    }
    draw(name);
    assert.match(document.body.textContent!, /You know the game/);
    assert.ok(wrong > 0 || name === "wild", "a wrong cell is said to be one");
  });
}
