/** Files for the player: the record of a match, and everything that the server stores about them. */

import { ask, refuse, say } from "./actions.js";
import { button, type Tree } from "./dom.js";
import { w } from "./i18n.js";
import { type Heard, isLost } from "./link.js";
import type { FinishedMatch, OwnMistake, Refused, Request } from "./protocol.js";
import { type Match, redraw, state } from "./store.js";

type Kind = "profile" | "blocks" | "mistakes" | "history" | "record";
type Reply<K extends Kind> = Extract<Heard, { type: K }>;

const REPLY_MS = 30_000;
/** The reply that the export waits for. */
let awaited: { request: Request & { type: Kind }; resolve: (message: Heard) => void } | null = null;
/** How many matches the running export has. */
let exported: number | null = null;

/** Have the browser save a text as a file. */
function save(name: string, type: string, text: string): void {
  const file = document.createElement("a");
  file.href = URL.createObjectURL(new Blob([text], { type }));
  file.download = name;
  file.click();
  setTimeout(() => URL.revokeObjectURL(file.href), REPLY_MS);
}

/** A button that saves the record of a finished match. */
export const recordButton = ({ match }: Match): Tree => button(w.download, () => ask({ type: "record", match }), "plain save");

/** Whether a message is the reply to a request of the export; the player may request another record meanwhile. */
const isReply = (message: Heard, { type, ...request }: Request & { type: Kind }): boolean =>
  message.type === type && !(message.type === "record" && "match" in request && message.match !== request.match);

/** Take up a message: a record that the player requested, or a reply that the export waits for. */
export function received(message: Heard): void {
  if (awaited && isReply(message, awaited.request)) awaited.resolve(message);
  else if (message.type === "record") save(`ttt_net-${message.match}.txt`, "text/plain", message.text);
}

/** A button that saves all that the server stores about this player as JSON, as `--my-data` of the terminal does. */
export const ownDataButton = (): Tree => button(w.downloadMine + (exported === null ? "" : ` (${exported})`), exportOwnData, "quiet", "", { key: "mine", disabled: exported !== null });

async function exportOwnData(): Promise<void> {
  count(0);
  try {
    const profile = await replyTo({ type: "profile" });
    const blocks = await replyTo({ type: "blocks" });
    const mistakes: OwnMistake[] = [];
    for (let number = 1, count = Number(state.features.includes("mistakes")); mistakes.length < count; number++) {
      const list = await replyTo({ type: "mistakes", all: true, page: number });
      mistakes.push(...list.mistakes);
      count = list.mistakes.length && list.count;
    }
    const matches: { match: FinishedMatch; record: string | null }[] = [];
    let page = await replyTo({ type: "history" });
    for (;;) {
      for (const match of page.matches) {
        const record = await replyTo({ type: "record", match: match.match }).catch(deleted);
        matches.push({ match, record: record && record.text });
        count(matches.length);
      }
      if (!page.before) break;
      page = await replyTo({ type: "history", before: page.before });
    }
    const data = { server: state.server, at: new Date().toISOString(), profile, blocks, mistakes, matches };
    save("ttt_net.json", "application/json", JSON.stringify(data, null, 2));
  } catch (refusal) {
    refuse(refusal as Refused);
  }
  count(null);
}

function count(matches: number | null): void {
  exported = matches;
  redraw();
}

/** A match that the server has deleted meanwhile has no record. */
function deleted(refusal: Refused): null {
  if (isLost(refusal)) throw refusal;
  return null;
}

/** Send a request and return the reply, which does not change the list on the screen. Throws a refusal. */
function replyTo<K extends Kind>(request: Request & { type: K }): Promise<Reply<K>> {
  const { history } = state;
  const late: Refused = { type: "refused", id: null, code: "unknown_outcome", message: "" };
  return new Promise<Reply<K>>((resolve, reject) => {
    const got = (message: Heard) => {
      state.history = history;
      resolve(message as Reply<K>);
    };
    awaited = { request, resolve: got };
    say(request).then((answer) => answer.type === "refused" && reject(answer));
    setTimeout(() => reject(late), REPLY_MS);
  }).finally(() => (awaited = null));
}
