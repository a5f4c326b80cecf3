/** The named games, which the server writes into index.html. */

export type Listed = {
  name: string;
  title: string;
  rule: string;
  shape: number[];
  /** Height and width of the small boards that it consists of. */
  block?: number[];
  /** Whether it may be played with swap, and for ratings. */
  swap: boolean;
  rated: boolean;
  /** The rules, where they are those of a line on a board: so many in a row, whether marks fall, whether a line loses. */
  line?: { row: number; gravity: boolean; misere: boolean };
};

export const CATALOGUE: Listed[] = JSON.parse(document.getElementById("catalogue")?.textContent || "[]");
