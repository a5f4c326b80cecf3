/** The form of the files in `explained/`: translations of what the server sends in English. */

/** Explanations of games in another language. */
export type Explained = {
  /** By the name of the game: its goal, what is peculiar to it, two tips, and what can be seen at the end of its example. */
  pages: Record<string, readonly [string, string, string, string, string]>;
  /** The text for swap, and the tip that replaces the first. */
  swap: readonly [string, string];
  /** The goal of a game of any size, of so many in a row; what is peculiar to one without gravity, and the first tip for it. */
  sized: readonly [string, string, string];
  why: Reasons;
};
/** Why a move is good or bad. */
export type Reasons = {
  /** By kind, for the moves of whom it is said to, those of the other side, what that has, after how many moves, instead of how many, and of how many marks. */
  said: Record<string, string>;
  /** N marks in a row, N in one line, both with open ends, and a line with one mark missing. */
  rows: readonly string[];
  /** The moves that come after it. */
  follows: string;
  winWith: string;
  others: string;
  another: string;
  atMost: string;
};
