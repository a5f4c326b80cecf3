/** The named games, which the server writes into index.html. */

export type Listed = {
  name: string;
  title: string;
  rule: string;
  shape: number[];
  /** The height and width of its small boards. */
  block?: number[];
  /** Whether it may be played with swap, and rated. */
  swap: boolean;
  rated: boolean;
  /** The rules of a line game: how many in a row, whether marks fall, whether a line loses. */
  line?: { row: number; gravity: boolean; misere: boolean };
};

export const CATALOGUE: Listed[] = JSON.parse(document.getElementById("catalogue")?.textContent || "[]");
