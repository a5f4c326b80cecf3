/** What is shown before there is a lobby or a match to show. */

import { page, ui } from "./app.js";
import { picture, symbol } from "./board.js";
import { CATALOGUE, type Offered, OFFERED } from "./catalogue.js";
import { button, form, h, line, screen, type Tree } from "./dom.js";
import { ruleOf, terms } from "./games.js";
import { f, w } from "./i18n.js";
import { link, start } from "./link.js";
import { localBoard } from "./local.js";
import { go, place } from "./place.js";
import { capital, label, sentence } from "./sentences.js";
import { gear } from "./settings.js";
import { state } from "./state.js";

const ELSEWHERE = 4001;
let offer: Offered | null = OFFERED;

/** Ask who invites to what, at the address of an invitation. The code is in a header: addresses are written to logs. */
export async function askOffer(): Promise<void> {
  const { kind, id } = place();
  if (kind !== "j" || offer) return;
  const answer = await fetch("/j", { headers: { Invitation: id } }).catch(() => null); // without a link, it is shown without
  offer = await answer?.json().catch(() => null);
  page.draw();
}

export const pulse = (): Tree => h("div.pulse", { hidden: true }, symbol("X"), symbol("O"));

/** The first screen: a board that can be played at once, and a name to play others under. */
export function nameScreen(): Tree {
  const { kind } = place();
  const { parted } = state;
  const troubles: Record<string, string> = { unknown_token: w.unknownHere, 4004: w.forgotten };
  const said = parted && (troubles[parted.code] ?? sentence(parted.message));
  const isFirst = kind !== "j" && kind !== "m";
  return h(
    "main.welcome",
    { class: isFirst && "first" },
    h("header.bar", h("h1", kind === "j" ? w.youAreInvited : kind === "m" ? w.comeAndWatch : w.family), gear()),
    isFirst ? localBoard() : kind === "j" && offer ? offered(offer) : pulse(),
    h(
      "div.entrance",
      form(
        "form",
        ({ name = "" }) => start(name.trim()),
        h("label", { for: "name" }, w.whatName),
        line("name", "", { id: "name", autocomplete: "nickname", maxlength: 20, focus: !isFirst, "aria-describedby": "trouble" }),
        h("p.trouble", { id: "trouble", role: "alert" }, link === "lost" ? w.silent : said),
        h("button.primary.large", w.play),
        button(w.asGuest, () => start(), "large"),
        isFirst && button(w.playComputer, playComputer, "large"),
      ),
      h("p.quiet", w.noAccount),
    ),
  );
}

/** Play a bot at once, without giving a name. */
function playComputer(): void {
  ui.wantsBot = true;
  start();
}

/** Who invites to what, for one who has not said who they are. */
function offered({ by, game, time }: Offered): Tree {
  const listed = CATALOGUE.find(({ name }) => name === game.split("+")[0]);
  return h(
    "section.panel.offered",
    { label: w.invitation },
    listed && picture(listed.shape, !!listed.line?.gravity),
    h("p", h("strong", by ? f(w.invitesYou, label(by)) : w.youAreInvited)),
    h("p", terms([game], time, false)),
    h("p.quiet", listed && `${capital(ruleOf(listed))}${w.stop}`),
  );
}

export function messageScreen(): Tree {
  const { parted } = state;
  const { kind } = place();
  if (kind === "nowhere") {
    return screen("main.welcome", "nowhere", h("h1", w.nothingHere), button(w.toTheLobby, () => go("/"), "primary large"));
  }
  if (link === "stopped" && parted) {
    const isElsewhere = parted.code === ELSEWHERE;
    return screen(
      "main.welcome",
      "parted",
      h("h1", isElsewhere ? w.otherWindow : w.ended),
      h("p.quiet", isElsewhere ? w.oneWindow : sentence(parted.message || w.saidNo)),
      // There may be a newer page.
      button(isElsewhere ? w.playHere : w.tryAgain, () => (isElsewhere ? start() : location.reload()), "primary large"),
    );
  }
  return screen(
    "main.welcome",
    "moment",
    pulse(),
    h("p", { role: "status" }, link === "lost" ? w.silent : kind === "j" ? w.joining : w.oneMoment),
    link === "online" && button(w.toTheLobby, () => go("/")),
  );
}
