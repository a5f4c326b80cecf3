/** Check names while they are typed; the server decides. */

import { f, w } from "./i18n.js";

const [LEAST, MOST] = [2, 20];
/** Each script with the scripts that may be mixed with it. */
const SCRIPTS = [
  "Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Thaana", "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu",
  "Kannada", "Malayalam", "Sinhala", "Thai", "Lao", "Tibetan", "Myanmar", "Georgian", "Ethiopic", "Khmer", "Han Hiragana Katakana", "Han Hangul", "Han Bopomofo",
];
const LETTER = /\p{L}/u;
const ALLOWED = /[\p{L}\p{M}0-9 _-]/u;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Why a name is not allowed, in a sentence; empty if it is allowed, or if nothing is typed yet. */
export function faultOf(typed: string): string {
  const signs = [...typed.trim().replace(/\s+/g, " ").normalize("NFC")];
  if (!signs.length) return "";
  const strange = signs.find((sign) => !ALLOWED.test(sign));
  if (strange) return f(w.nameSign, strange);
  if (!/^[\p{L}0-9]/u.test(signs[0]!)) return w.nameStart;
  const letters = signs.filter((sign) => LETTER.test(sign));
  const isOneScript = SCRIPTS.some((names) => {
    const script = new RegExp(`[${["Common", "Inherited", ...names.split(" ")].map((name) => `\\p{Script=${name}}`).join("")}]`, "u");
    return letters.every((letter) => script.test(letter));
  });
  if (!isOneScript) return w.nameScripts;
  const length = signs.reduce((sum, sign) => sum + (/\p{M}/u.test(sign) ? 0 : WIDE.test(sign) ? 2 : 1), 0);
  return length > MOST ? f(w.nameLong, MOST) : length < LEAST ? f(w.nameShort, LEAST) : "";
}
