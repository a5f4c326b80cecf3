/** What the code that is fetched later takes from the code that is there: `main.ts` exports it all. */

export {
  accept, analyse, announce, ask, autoplay, challenge, challengeBot, choose, claim, clockNow, decline, explain, hint, invite, know, mute, nearestBot, notify, agree, offer, page, play, playOnFrom, plays, rename, report, request, review,
  seek, send, set, speakOf, ui, unseek, wantBot,
} from "./app.js";
export { board, colours, isSmall, landing, type Look, moveName, type On, sizes, token } from "./board.js";
export { CATALOGUE } from "./catalogue.js";
export { button, check, type Child, choices, form, h, joined, line, panel, screen, select, type Tree } from "./dom.js";
export { felt } from "./feel.js";
export { chosenOf, games, kindOf, KINDS, PACES, ruleOf, terms, timeName, titleOf, type Wish, wishOf } from "./games.js";
export { bring, either, f, type Language, language, LANGUAGES, many, speak, w } from "./i18n.js";
export { keep, keptFields } from "./kept.js";
export { lines } from "./lines.js";
export { forgetInvitation } from "./invitation.js";
export { link, site } from "./link.js";
export { bar, linkWord, shelf } from "./bar.js";
export { filter, filters, go, place } from "./place.js";
export { faultOf } from "./names.js";
export { emblem, icon, picture, pulse } from "./pieces.js";
export { capital, clockFace, dateOf, dayOf, decided, gradeOf, isBot, label, ratingOf, resultParts, status } from "./sentences.js";
export { change, gear, settings } from "./settings.js";
export { fadingCell, type Game, isMyTurn, leftMs, lineSide, type Match, mayHint, movesAt, ownLive, type Position, state } from "./state.js";
