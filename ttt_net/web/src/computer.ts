/**
 * The computer of the page: it plays games of lines without a server, by a small alpha-beta search.
 *
 * Each search weighs a limited number of cells, so that a phone is not busy for long. It runs in a worker (`thinker.ts`).
 */

import { lines } from "./lines.js";

/** A board by its sides, and for each cell the one that its mark rests on, or -1. */
export type Ground = { shape: number[]; below: number[] };
export type Rules = { row: number; misere: boolean };
/** For each level from 1 to 8: how many moves it looks ahead, and how often it overlooks everything but a win. */
const DEPTHS = [1, 1, 2, 2, 3, 4, 5, 8];
const SLIPS = [0.6, 0.4, 0.3, 0.2, 0.1, 0.05, 0, 0];
/** The bound of a search: so many cells are weighed. */
const MOST_WEIGHED = 60_000;
/** How many moves it considers in each position: the ones that matter most to lines. */
const WIDTH = 12;
const WIN = 1e9;

/** A board whose open lines are counted while moves are made and unmade. */
class Board {
  readonly marks: Int8Array;
  private readonly through: number[][];
  private readonly all: number[][] = [];
  /** The marks of each side in each line. */
  private readonly counts: [Uint8Array, Uint8Array];
  /** The value of the open lines of each side. */
  private readonly open = [0, 0];
  weighed = 0;

  constructor(
    private readonly ground: Ground,
    private readonly rules: Rules,
  ) {
    const cells = ground.below.length;
    this.marks = new Int8Array(cells).fill(-1);
    this.through = Array.from({ length: cells }, () => []);
    for (let cell = 0; cell < cells; cell++) {
      for (const line of lines(ground.shape, rules.row, cell)) {
        if (line[0] !== cell) continue; // each line once, from its first cell
        for (const each of line) this.through[each]!.push(this.all.length);
        this.all.push(line);
      }
    }
    this.counts = [new Uint8Array(this.all.length), new Uint8Array(this.all.length)];
  }

  /** Place or remove a mark; return whether it completes a line. */
  change(cell: number, side: number, by: 1 | -1): boolean {
    const [own, other] = [this.counts[side]!, this.counts[1 - side]!];
    let isComplete = false;
    this.marks[cell] = by === 1 ? side : -1;
    for (const line of this.through[cell]!) {
      const [mine, theirs] = [own[line]!, other[line]!];
      if (!theirs) this.open[side]! += worth(mine + by) - worth(mine);
      if (mine === (by === 1 ? 0 : 1)) this.open[1 - side]! += by === 1 ? -worth(theirs) : worth(theirs);
      own[line] = mine + by;
      isComplete ||= mine + by === this.rules.row;
    }
    return isComplete;
  }

  /** The legal moves, those that matter most to open lines first. */
  moves(side: number): number[] {
    const [own, other] = [this.counts[side]!, this.counts[1 - side]!];
    const rank = (cell: number): number => {
      let sum = 0;
      for (const line of this.through[cell]!) {
        const [mine, theirs] = [own[line]!, other[line]!];
        if (!theirs) sum += 1.5 * worth(mine + 1);
        if (!mine) sum += worth(theirs + 1);
      }
      this.weighed++;
      return (this.rules.misere ? -sum : sum) - Math.abs(cell - this.marks.length / 2) / this.marks.length; // of equals, the middle
    };
    const ranked: [number, number][] = [];
    for (let cell = 0; cell < this.marks.length; cell++) {
      const under = this.ground.below[cell]!;
      if (this.marks[cell] === -1 && (under < 0 || this.marks[under] !== -1)) ranked.push([rank(cell), cell]);
    }
    return ranked.sort(([one], [two]) => two - one).map(([, cell]) => cell);
  }

  /** The value of the position for the side to move, from -WIN to WIN. */
  value(side: number, depth: number, least: number, most: number): number {
    if (depth <= 0 || this.isSpent()) return (this.open[side]! - this.open[1 - side]!) * (this.rules.misere ? -1 : 1);
    const moves = this.moves(side).slice(0, WIDTH);
    if (!moves.length) return 0;
    for (const cell of moves) {
      least = Math.max(least, this.after(cell, side, depth, least, most));
      if (least >= most) break;
    }
    return least;
  }

  isSpent(): boolean {
    return this.weighed > MOST_WEIGHED;
  }

  /** The value of a move for its side; sooner wins are worth more. */
  after(cell: number, side: number, depth: number, least: number, most: number): number {
    const isComplete = this.change(cell, side, 1);
    const value = isComplete ? (WIN + depth) * (this.rules.misere ? -1 : 1) : -this.value(1 - side, depth - 1, -most, -least);
    this.change(cell, side, -1);
    return value;
  }
}

const WORTH = Array.from({ length: 20 }, (_, marks) => (marks ? 8 ** Math.min(marks, 8) : 0));
const worth = (marks: number): number => WORTH[marks]!;

/** Choose a move for the side to move after some moves, at a level from 1 to 8. `random` returns numbers from 0 to 1. */
export function computerMove(ground: Ground, rules: Rules, moves: number[], level: number, random: () => number = Math.random): number {
  const board = new Board(ground, rules);
  for (const [n, cell] of moves.entries()) board.change(cell, n % 2, 1);
  const side = moves.length % 2;
  const legal = board.moves(side);
  const winning = rules.misere ? undefined : legal.find((cell) => board.after(cell, side, 0, -WIN, WIN) >= WIN);
  if (winning !== undefined) return winning;
  if (random() < SLIPS[level - 1]!) return legal[Math.floor(random() * Math.min(legal.length, WIDTH))]!;
  // Look further ahead until the positions are spent: an unfinished look is dropped.
  let best = legal[0]!;
  for (let depth = 1; depth <= DEPTHS[level - 1]!; depth++) {
    let least = -2 * WIN;
    let found = best;
    for (const cell of [best, ...legal.slice(0, WIDTH).filter((each) => each !== best)]) {
      const value = board.after(cell, side, depth, least, 2 * WIN);
      if (value > least) [least, found] = [value, cell];
    }
    if (board.isSpent() && depth > 1) break;
    best = found;
    if (Math.abs(least) >= WIN) break;
  }
  return best;
}
