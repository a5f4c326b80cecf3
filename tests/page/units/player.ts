/** The whole page, and what its player can do by a tap: bundled by itself, and begun anew for each scenario. */

import "../../../ttt_net/web/src/main.js";

export { comeIn, link, play, seek, unseek } from "../../../ttt_net/web/src/actions.js";
export { awaitOffer } from "../../../ttt_net/web/src/install.js";
export { agree, challenge, decline, mute, offer } from "../../../ttt_net/web/src/requests.js";
export { drawWith, state, ui } from "../../../ttt_net/web/src/store.js";
