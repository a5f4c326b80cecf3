/** What the first screen does without: it is fetched once that is shown, or as soon as it is wanted. */

import { bring } from "./i18n.js";

export { noteOf } from "./analysis.js";
export { challenges } from "./challenges.js";
export { confetti } from "./cheer.js";
export { coachedWords } from "./deck.js";
export { anotherSheet } from "./another.js";
export { puzzleScreen } from "./puzzle.js";
export { rulesSheet } from "./rules.js";
export { lobbyScreen } from "./lobby.js";
export { matchScreen } from "./match.js";
export { analyseAgain, review } from "./requests.js";
export { leadersScreen, playerScreen } from "./people.js";
export { settingsSheet } from "./sheet.js";

import { enMore } from "./words/en-more.js";

bring(enMore);
