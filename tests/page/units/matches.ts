/** Matches as the server shows them: their games, positions and snapshots. */

const cells = (count: number): number[] => Array.from({ length: count }, (_, cell) => cell);
const NAMES = ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1"];
export const GAME = { name: "tictactoe", title: "Tic-tac-toe", rule: "three in a row wins", shape: [3, 3], gravity: false, move_cells: cells(9), move_names: NAMES };
export const WILD = { ...GAME, name: "wild", move_cells: [...cells(9), ...cells(9)], move_names: ["X", "O"].flatMap((mark) => NAMES.map((name) => mark + name)) };
/** All moves of a column have its name. */
export const CONNECT4 = { ...GAME, name: "connect4", title: "Connect Four", shape: [6, 7], gravity: true, move_cells: cells(42), move_names: cells(42).map((cell) => `${(cell % 7) + 1}`) };
/** Layers count from the ground. */
export const QUBIC = { ...GAME, name: "qubic", title: "Qubic", shape: [4, 4, 4], move_cells: cells(64), move_names: cells(64).map((cell) => `${(cell >> 4) + 1}:${"abcd"[cell & 3]}${4 - ((cell >> 2) & 3)}`) };

export function position(board: string, more: object = {}) {
  const ply = [...board].filter((mark) => mark !== ".").length;
  return { ply, board, to_move: ply % 2, legal: [...board].flatMap((mark, cell) => (mark === "." ? [cell] : [])), line: [] as number[], marks: ["X", "O"], ...more };
}

/** The position after moves by turns; in a game where each move is the cell that it marks. */
export function after(moves: number[], count = 9, more: object = {}) {
  return position(cells(count).map((cell) => (moves.includes(cell) ? "XO"[moves.indexOf(cell) % 2] : ".")).join(""), more);
}

/** A match of Ann, who begins, and Ben. */
export const snapshot = (more: object = {}) => ({
  type: "snapshot",
  match: "m1",
  seq: 1,
  game: GAME,
  players: [{ name: "Ann" }, { name: "Ben" }],
  present: [true, true],
  moves: [] as number[],
  last: null,
  position: position("........."),
  offers: [],
  you: 0,
  ...more,
});

/** The same after moves of which the last completes a line, if one is given. */
export function finished(moves: number[], winner: number | null, more: { game?: typeof GAME; line?: number[]; [name: string]: unknown } = {}) {
  const { game = GAME, line = [], ...rest } = more;
  const reason = winner === null ? "draw" : line.length ? "line" : "resign";
  const now = after(moves, game.shape.reduce((product, side) => product * side), { to_move: null, legal: [], line });
  return snapshot({ game, moves, last: moves.at(-1) ?? null, position: now, outcome: { winner, reason }, ...rest });
}

export const ended = (winner: number | null, reason: string, seq = 2) => ({ type: "ended", match: "m1", seq, at_ms: 0, winner, reason });

/** The positions of the match so far, as a replay. */
export function replay(moves: number[], count = 9, starts: string[] = []) {
  const positions = Array.from({ length: moves.length + 1 }, (_, ply) => after(moves.slice(0, ply), count));
  return { type: "replay", match: "m1", ply: 0, positions, last: moves.length, starts };
}
