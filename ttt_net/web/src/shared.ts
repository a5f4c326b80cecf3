/** What the code that is fetched later takes from the code that is there: `main.ts` exports it all. */

export {
  analyse, announce, ask, autoplay, challenge, challengeBot, claim, clockNow, decline, explain, hint, mute, notify, offer, page, play, rename, report, request, review,
  seek, send, set, speakOf, ui,
} from "./app.js";
export { board, isSmall, landing, type Look, moveName, type On, sizes, token } from "./board.js";
export { CATALOGUE } from "./catalogue.js";
export { button, check, type Child, choices, form, h, joined, line, panel, screen, select, type Tree } from "./dom.js";
export { felt } from "./feel.js";
export { games, ruleOf, timeName, titleOf } from "./games.js";
export { bring, either, f, language, LANGUAGES, many, speak, w } from "./i18n.js";
export { keep, keptFields } from "./kept.js";
export { lines } from "./lines.js";
export { link } from "./link.js";
export { bar, entry, face, framed, person, shelf } from "./lobby.js";
export { filter, filters, go, place } from "./place.js";
export { faultOf } from "./names.js";
export { icon } from "./pieces.js";
export { capital, clockFace, dateOf, dayOf, decided, gradeOf, isBot, label, ratingOf, resultParts, status } from "./sentences.js";
export { change, settings } from "./settings.js";
export { fadingCell, type Game, isMyTurn, leftMs, lineSide, type Match, mayHint, movesAt, type Position, state } from "./state.js";
