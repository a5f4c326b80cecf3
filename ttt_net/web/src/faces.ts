/** Faces: the first letter of a person's name, and drawn portraits of bots, which say something about themselves. */

import { type Child, h, type Tree } from "./dom.js";
import { w } from "./i18n.js";

/** What a portrait shows: hair, its colour and that of the skin by number, glasses, a beard, and how broad the smile is. */
type Looks = { hair: number; colour: number; skin: number; glasses?: boolean; beard?: boolean; smile: number };
type Faced = { name: string; bot?: string; level?: number };

/** The house bots by their character, however they are called on this server. */
const HOUSE: Record<string, Looks> = {
  beginner: { hair: 1, colour: 2, skin: 1, smile: 3 },
  "casual player": { hair: 0, colour: 1, skin: 0, smile: 2 },
  "club player": { hair: 2, colour: 0, skin: 3, smile: 1.5, glasses: true },
  expert: { hair: 4, colour: 4, skin: 1, smile: 0.4, beard: true },
  master: { hair: 3, colour: 4, skin: 2, smile: 1, glasses: true },
};
const SKINS = ["#f6d3b3", "#eab98c", "#c98d5e", "#8f5a36", "#ffe0c7"];
const HAIRS = ["#241a15", "#5a3a22", "#c7883a", "#9c3d22", "#a9adb5"];
/** The outlines of hair in front of and behind the head. */
const FRONT = [
  "M10.8 17C10 8 15 5 20 5s10 3 9.2 12c-1-4-2.5-6-4.2-7-3 1.8-7 2-10 1-2 1-3.2 3-4.2 6z",
  "M11 18C10 8 15 5.5 20 5.5S30 8 29 18c-1-5-4-7-6-9.5-2 3-8 4-12 9.5z",
  "M10.5 20C9 8 15 5 20 5s11 3 9.5 15c-.5-4-1-6-2-8h-15c-1 2-1.5 4-2 8z",
  "M11 17C11 9 15 7 20 7s9 2 9 10c-2-5-5-6.5-9-6.5S13 12 11 17z",
  "M11.3 13.5C12.5 8.5 16 7 20 7s7.5 1.5 8.7 6.5c-3-2.5-14.4-2.5-17.4 0z",
];
const BEHIND = ["", "M10 16C8 28 9 32 11 34h18c2-2 3-6 1-18z", "M10 16C8.5 24 9 27 11 28.5h18c2-1.5 2.5-4.5 1-12.5z", "M20 1.5a4.3 4.3 0 1 1-.1 0z", ""];

const hash = (text: string): number => [...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 100_003, 7);

function looksOf({ name, bot = "", level = 4 }: Faced): Looks {
  const drawn = hash(name);
  const [hair, colour, skin, rest] = [drawn % 5, (drawn >> 2) % 5, (drawn >> 4) % 5, drawn >> 6];
  return HOUSE[bot] ?? { hair, colour, skin, glasses: level > 4 && rest % 2 > 0, beard: hair !== 1 && rest % 5 > 3, smile: 3 - level / 3 };
}

/** The first letter of a person's name on a colour derived from it, or the portrait of a bot. */
export function face(who: Faced): Tree {
  const hue = hash(who.name) % 360;
  return h("span.face", { key: who.name, hidden: true, class: who.bot !== undefined && "portrait", style: { "--hue": hue } }, who.bot === undefined ? [...who.name][0]?.toLocaleUpperCase() : portrait(looksOf(who)));
}

function portrait({ hair, colour, skin, glasses, beard, smile }: Looks): Tree {
  const ink = { fill: "none", stroke: "#2b2320", "stroke-width": 1.1, "stroke-linecap": "round" };
  const both = (draw: (x: number) => Child): Child => [draw(16.3), draw(23.7)];
  const [tint, own] = [HAIRS[colour]!, SKINS[skin]!];
  return h(
    "svg",
    { viewBox: "0 0 40 40" },
    BEHIND[hair] && h("path", { fill: tint, d: BEHIND[hair] }),
    h("path.shirt", { d: "M5 42C5 33 12 30.5 20 30.5S35 33 35 42z" }),
    h("path", { fill: own, d: "M16.5 25h7v6.5a3.5 3 0 0 1-7 0z" }),
    h("ellipse", { fill: own, cx: 20, cy: 18.5, rx: 8.7, ry: 10 }),
    beard && h("path", { fill: tint, d: "M11.3 19c.5 6 3.2 10.5 8.7 10.5S28.2 25 28.7 19c-1.5 3-3 3.5-8.7 3.5S12.8 22 11.3 19z" }),
    h("path", { fill: tint, d: FRONT[hair] }),
    both((x) => h("circle", { fill: "#2b2320", cx: x, cy: 17.8, r: 1.250 })),
    both((x) => h("path", { ...ink, stroke: tint, d: `M${x - 1.9} ${14.6 + smile / 9}q1.9 -1 3.8 0` })),
    glasses && [both((x) => h("circle", { ...ink, "stroke-width": 0.9, cx: x, cy: 17.8, r: 2.9 })), h("path", { ...ink, "stroke-width": 0.9, d: "M19.2 17.5h1.6" })],
    h("path", { ...ink, stroke: beard ? "#f3e3d6" : ink.stroke, d: `M${18.2 - smile / 3} 23.4q${1.8 + smile / 3} ${smile} ${3.6 + (2 * smile) / 3} 0` }),
  );
}

/** What a bot says of itself: house bots in the language of the page, others as their authors wrote it. */
export const voice = ({ bot = "", about }: { bot?: string; about?: string | null }): string => w.voices[bot] ?? about ?? "";
