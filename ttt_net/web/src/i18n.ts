/** The language of the page: its sentences, and the insertion of names and numbers. */

import { keep, kept } from "./kept.js";
import type { enMore } from "./words/en-more.js";
import { en, type Words } from "./words/en.js";

/** The names of the available languages, in these languages, by code. */
export const LANGUAGES = [
  ["en", "English"],
  ["zh", "中文"],
  ["es", "Español"],
  ["ar", "العربية"],
  ["pt", "Português"],
  ["fr", "Français"],
  ["ru", "Русский"],
] as const;
export type Language = (typeof LANGUAGES)[number][0];
const KEPT = "ttt_net.language";
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufefc]/;

/** The loaded English sentences: code that is loaded later adds its own. */
const english = { ...en } as Words;
export let w: Words = english;
export let language: Language = "en";
export let direction: "ltr" | "rtl" = "ltr";

/** Use the language chosen here, or else the first available one of the browser's languages. */
export async function chooseLanguage(): Promise<void> {
  const asked = [kept(KEPT) ?? "", ...navigator.languages].map((each) => each.slice(0, 2));
  const found = asked.find((each) => LANGUAGES.some(([code]) => code === each));
  await speak((found ?? "en") as Language);
}

/** Switch to another language; if its sentences cannot be loaded, keep the current one. */
export async function speak(code: Language, isChosen = false): Promise<void> {
  try {
    w = { ...english, ...(await wordsOf(code)) };
  } catch {
    return;
  }
  language = code;
  direction = code === "ar" ? "rtl" : "ltr";
  if (isChosen) keep(KEPT, code);
  document.documentElement.lang = code;
  document.documentElement.dir = direction;
}

/** Add the English sentences of loaded code. */
export function bring(sentences: typeof enMore): void {
  Object.assign(english, sentences);
  w = { ...sentences, ...w };
}

/** Load the sentences of a language. */
async function wordsOf(code: Language): Promise<Partial<Words>> {
  switch (code) {
    case "en":
      return english;
    case "zh":
      return (await import("./words/zh.js")).words;
    case "es":
      return (await import("./words/es.js")).words;
    case "ar":
      return (await import("./words/ar.js")).words;
    case "pt":
      return (await import("./words/pt.js")).words;
    case "fr":
      return (await import("./words/fr.js")).words;
    case "ru":
      return (await import("./words/ru.js")).words;
  }
}

/** Replace `{0}`, `{1}` and so on in a sentence. */
export const f = (sentence: string, ...values: (string | number)[]): string =>
  sentence.replace(/\{(\d)\}/g, (_, n) => isolated(String(values[n] ?? "")));

/** The same for a sentence that depends on a number, which is `{0}`. */
export function many(sentences: Record<string, string>, count: number, ...values: (string | number)[]): string {
  const rule = count === 0 && sentences.zero ? "zero" : new Intl.PluralRules(language).select(count);
  return f(sentences[rule] ?? sentences.other ?? "", count.toLocaleString(`${language}-u-nu-latn`), ...values);
}

/** Isolate a text of the other writing direction from the surrounding sentence. */
function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) || direction === "rtl" ? `\u2068${text}\u2069` : text;
}

/** A list of alternatives: `a, b or c`. */
export const either = (words: string[]): string => new Intl.ListFormat(language, { type: "disjunction" }).format(words);

/** A list: `a, b, c`. */
export const listed = (words: unknown[]): string => words.filter(Boolean).join(w.comma);
