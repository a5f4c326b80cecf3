/** What the server has written into index.html: the games that have a name of their own, and the invitation it is for. */

import type { PlayerInfo, TimeControl } from "./protocol.js";

export type Listed = {
  name: string;
  title: string;
  rule: string;
  shape: number[];
  /** Whether it may be played with swap, and for ratings. */
  swap: boolean;
  rated: boolean;
  /** The rules, where they are those of a line on a board: so many in a row, whether marks fall, whether a line loses. */
  line?: { row: number; gravity: boolean; misere: boolean };
};

const written = (id: string, nothing: string) => JSON.parse(document.getElementById(id)?.textContent || nothing);

export const CATALOGUE: Listed[] = written("catalogue", "[]");
/** Who invites to what. */
export type Offered = { by: PlayerInfo | null; title: string; game: string; time?: TimeControl };
/** The invitation whose code stands in the path; none for one whose code does not. */
export const OFFERED: Offered | null = written("invitation", "null");
