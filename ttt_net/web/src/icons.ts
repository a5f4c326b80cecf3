/** Icons that the first screen does not need. */

import type { Tree } from "./dom.js";
import { drawnIcon } from "./pieces.js";

const ICONS = {
  share: "M12 15V3.5M8 7l4-4 4 4M5 12.5V20h14v-7.5",
  help: "M12 2.8a9.2 9.2 0 1 0 0 18.4a9.2 9.2 0 1 0 0-18.4M9.3 9.4a2.8 2.8 0 1 1 4.3 2.3c-1 .7-1.6 1.3-1.6 2.6M12 17.6v.1",
  play: "M8 5.5v13l10.5-6.5z",
  pause: "M8 5.5v13M16 5.5v13",
  trophy: "M8 4h8v6a4 4 0 0 1-8 0zM8 6H4.5a4 4 0 0 0 3.7 4.5M16 6h3.5a4 4 0 0 1-3.7 4.5M12 14v4M8.5 20h7",
  puzzle: "M5 9h3.2a2 2 0 1 1 3.6 0H15v3.2a2 2 0 1 1 0 3.6V19H5z",
  devices: "M7 3.5h10v17H7zM7 12h10",
};

export const icon = (name: keyof typeof ICONS): Tree => drawnIcon(name, ICONS[name]);
