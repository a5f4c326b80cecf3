/** The form of the files in `explained/`: translations of what the server sends in English. */

/** Explanations of games in another language. */
export type Explained = {
  /** By the name of the game: its goal, its special rules, two tips, and a description of the end of its example. */
  pages: Record<string, readonly [string, string, string, string, string]>;
  /** The text for swap, and the tip that replaces the first. */
  swap: readonly [string, string];
  /** The goal of a game of any size, with the number in a row; the special rule without gravity, and its first tip. */
  sized: readonly [string, string, string];
  why: Reasons;
};
/** Why a move is good or bad. */
export type Reasons = {
  /**
   * Sentences by kind. Placeholders: the addressed player's moves, the other side's moves, what that side has, the
   * number of moves, the number otherwise, and the number of marks.
   */
  said: Record<string, string>;
  /** N marks in a row, N in one line, both with open ends, and a line that lacks one mark. */
  rows: readonly string[];
  /** The moves that follow it. */
  follows: string;
  winWith: string;
  others: string;
  another: string;
  atMost: string;
};
