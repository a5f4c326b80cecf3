/** What the code that is fetched later takes from the code that is there: `main.ts` exports it all. */

export { challenge, page, rename, request, review, set, ui } from "./app.js";
export { CATALOGUE } from "./catalogue.js";
export { button, check, type Child, choices, form, h, joined, line, panel, screen, select, type Tree } from "./dom.js";
export { ruleOf, timeName, titleOf } from "./games.js";
export { bring, either, f, language, LANGUAGES, many, speak, w } from "./i18n.js";
export { entry, framed, person } from "./lobby.js";
export { go, lookBack, place } from "./place.js";
export { capital, dateOf, gradeOf, label, ratingOf } from "./sentences.js";
export { change, settings } from "./settings.js";
export { type Match, state } from "./state.js";
