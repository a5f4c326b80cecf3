/** Everything that the first screen does not need: loaded after it is shown, or on demand. */

import { bring } from "./i18n.js";

export { cups } from "./cups.js";
export { challenges } from "./challenges.js";
export { confetti } from "./cheer.js";
export { anotherSheet } from "./another.js";
export { puzzleScreen } from "./puzzle.js";
export { rulesSheet } from "./rules.js";
export { lobbyScreen, sendInvitation } from "./lobby.js";
export { beginHere, beginInPlace, localBoard, localScreen, tookOver } from "./ondevice.js";
export { invite } from "./requests.js";
export { matchScreen } from "./match.js";
export { follow, heardOfShown, offerDeclined, stepped } from "./news.js";
export { leadersScreen, playerScreen } from "./people.js";
export { settingsSheet } from "./sheet.js";

import { awaitOffer } from "./install.js";
import { keepPage } from "./offline.js";
import { keepMatch, wakeComputer } from "./ondevice.js";
import { enMore } from "./words/en-more.js";

bring(enMore);
awaitOffer();
keepPage();
wakeComputer();
keepMatch();
