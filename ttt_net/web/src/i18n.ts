/** The language of the page: which sentences it speaks, and how names and numbers are put into them. */

import { keep, kept } from "./kept.js";
import type { enMore } from "./words/en-more.js";
import { en, type Words } from "./words/en.js";

/** The languages there are, by their codes, as they call themselves: those of most who use the Internet. */
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

/** English as far as it has been fetched: code that is fetched later brings its own sentences. */
const english = { ...en } as Words;
export let w: Words = english;
export let language: Language = "en";
export let direction: "ltr" | "rtl" = "ltr";

/** Speak the language that was chosen here, or else the first that the browser asks for and there is. */
export async function chooseLanguage(): Promise<void> {
  const asked = [kept(KEPT) ?? "", ...navigator.languages].map((each) => each.slice(0, 2));
  const found = asked.find((each) => LANGUAGES.some(([code]) => code === each));
  await speak((found ?? "en") as Language);
}

/** Speak another language from now on; if its sentences do not come, the one spoken stays. */
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

/** Take in the English sentences of code that has been fetched. */
export function bring(sentences: typeof enMore): void {
  Object.assign(english, sentences);
  w = { ...sentences, ...w };
}

/** Fetch the sentences of a language. */
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

/** Put what is known into a sentence, for `{0}`, `{1}` and so on. */
export const f = (sentence: string, ...values: (string | number)[]): string =>
  sentence.replace(/\{(\d)\}/g, (_, n) => isolated(String(values[n] ?? "")));

/** The same where the sentence depends on a number, which is `{0}`. */
export function many(sentences: Record<string, string>, count: number, ...values: (string | number)[]): string {
  const rule = count === 0 && sentences.zero ? "zero" : new Intl.PluralRules(language).select(count);
  return f(sentences[rule] ?? sentences.other ?? "", count.toLocaleString(`${language}-u-nu-latn`), ...values);
}

/** Keep a text that is written the other way from mixing with the sentence around it. */
function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) || direction === "rtl" ? `\u2068${text}\u2069` : text;
}

/** Several of which one: `a, b or c`. */
export const either = (words: string[]): string => new Intl.ListFormat(language, { type: "disjunction" }).format(words);

/** Several at once: `a, b, c`. */
export const listed = (words: unknown[]): string => words.filter(Boolean).join(w.comma);
