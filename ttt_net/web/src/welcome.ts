/** The screens before the lobby or a match. */

import { comeIn, link, wantBot } from "./actions.js";
import { CATALOGUE } from "./catalogue.js";
import { button, choices, form, h, line, screen, type Tree } from "./dom.js";
import { ruleOf, terms, wishOf } from "./games.js";
import { f, w } from "./i18n.js";
import { keepApart } from "./kept.js";
import { fetchNow } from "./later.js";
import { aloneBoard, localBoard, localShelf } from "./local.js";
import { faultOf } from "./names.js";
import { emblem, picture, pulse } from "./pieces.js";
import { go, place } from "./place.js";
import type { PlayerInfo, TimeControl } from "./protocol.js";
import { capital, decided, label, sentence } from "./sentences.js";
import { gear } from "./settings.js";
import { choose, know, redraw, set, state, ui } from "./store.js";

const ELSEWHERE = 4001;
/** An open invitation. */
type Invitation = { by: PlayerInfo | null; title: string; game: string; time?: TimeControl };
let offer: Invitation | null = null;

/** Request the invitation at its address. The code is in a header, because addresses are logged. */
export async function askOffer(): Promise<void> {
  const { kind, id } = place();
  if (kind !== "j" || offer) return;
  const answer = await fetch("/j", { headers: { Invitation: id } }).catch(() => null); // offline; shown without details
  offer = await answer?.json().catch(() => null);
  redraw();
}

/** Use another player in this window, while the other windows keep theirs. */
function playApart(): void {
  keepApart();
  state.matches.clear();
  know({ you: null, parted: null, seeking: null, invitation: null, unfinished: [] });
  link.forgetWho();
}

/** Why the server rejected our login, or does not answer. */
function trouble(): string {
  const { parted, ban } = state;
  const troubles: Record<string, string> = { unknown_token: w.unknownHere, 4004: w.forgotten };
  if (link.trouble) return w.silent;
  return ban ? decided(ban) : parted ? (troubles[parted.code] ?? sentence(parted.message)) : "";
}

/** The first screen: a board that is playable immediately, and a name for playing others. */
export function nameScreen(): Tree {
  const { kind } = place();
  const isFirst = ui.isBeginning || (kind !== "j" && kind !== "m");
  return h(
    "main.welcome",
    { class: isFirst && "first" },
    h("header.bar", h("h1", emblem(), kind === "j" ? w.youAreInvited : kind === "m" ? w.comeAndWatch : w.family), gear()),
    isFirst ? opening() : kind === "j" && offer ? offered(offer) : pulse(),
    h(
      "div.entrance",
      form(
        "form",
        ({ name = "" }) => {
          const fault = faultOf(name);
          set({ fault });
          if (fault) return;
          ui.botWanted = null;
          comeIn(name.trim());
        },
        isFirst && h("h2", w.playPeople),
        h("label", { for: "name" }, w.whatName),
        h("div.row", line("name", "", { id: "name", autocomplete: "nickname", maxlength: 60, focus: !isFirst, "aria-describedby": "trouble", "aria-invalid": !!ui.fault && "true", oninput: typed }), h("button.primary.large", w.play)),
        h("p.trouble", { id: "trouble", role: "alert" }, ui.fault || (!ui.botWanted && trouble())),
        button(w.asGuest, () => comeIn(), "large"),
      ),
      h("p.quiet", w.noAccount),
    ),
  );
}

/** Show why a name is not allowed while it is typed; a short one only once it was longer. */
function typed({ target }: Event): void {
  const { value } = target as HTMLInputElement;
  const fault = [...value.trim()].length < 2 ? "" : faultOf(value);
  if (fault !== ui.fault) set({ fault });
}

/** A board that is playable immediately: against the computer, or by two people on this device. */
function opening(): Tree {
  const { opening: now, choice } = ui;
  const change = (changed: Partial<typeof now>) => set({ opening: { ...now, ...changed } });
  const level = { type: "range", min: 1, max: 8, value: choice.level, label: w.strength, "aria-valuetext": f(w.level, choice.level) };
  const oninput = ({ target }: Event) => choose({ level: (target as HTMLInputElement).valueAsNumber });
  return h(
    "section.here",
    { label: w.newMatch },
    choices(w.newMatch, [["alone", w.computer], ["two", w.onThisDevice]], now.isAlone ? "alone" : "two", (who) => change({ isAlone: who === "alone" })),
    localShelf(now.game, (game) => change({ game }), now.isAlone, ui.isBeginning),
    now.isAlone && h("label.level", capital(f(w.level, choice.level)), h("input", { ...level, oninput })),
    now.isAlone ? aloneBoard(now.game, playComputer, ui.wantedCell) : localBoard(now.game),
    now.isAlone && h("p.status", { role: "status" }, ((ui.botWanted || ui.isBeginning) && trouble()) || (ui.isBeginning ? w.oneMoment : w.tapToBegin)),
    now.isAlone && h("div.actions", button(w.playComputer, () => playComputer(-1))),
  );
}

/**
 * Play a bot immediately, without a name, with a cell as the first move: the visitor begins. Until the match arrives,
 * another tap chooses another cell.
 */
function playComputer(cell: number): void {
  if (ui.isBeginning) {
    if (cell >= 0) set({ wantedCell: cell });
    return;
  }
  set({ wantedCell: cell, isBeginning: true });
  wantBot({ ...wishOf({ ...ui.choice, game: ui.opening.game, pace: "", swap: false }), rated: false, side: 0 });
  fetchNow();
  comeIn();
}

/** The invitation, for a visitor without a name. */
function offered({ by, game, time }: Invitation): Tree {
  const listed = CATALOGUE.find(({ name }) => name === game.split("+")[0]);
  return h(
    "section.panel.offered",
    { label: w.invitation },
    listed && picture(listed.name, listed.shape, !!listed.line?.gravity),
    h("p", h("strong", by ? f(w.invitesYou, label(by)) : w.youAreInvited)),
    h("p", terms([game], time, false)),
    h("p.quiet", listed && `${capital(ruleOf(listed))}${w.stop}`),
  );
}

export function messageScreen(): Tree {
  const { parted } = state;
  const { kind } = place();
  if (kind === "nowhere") {
    return screen("main.welcome", "nowhere", emblem(), h("h1", w.nothingHere), button(w.toTheLobby, () => go("/"), "primary large"));
  }
  if (parted) {
    const isElsewhere = parted.code === ELSEWHERE;
    return screen(
      "main.welcome",
      "parted",
      emblem(),
      h("h1", isElsewhere ? w.otherWindow : w.ended),
      h("p.quiet", isElsewhere ? w.oneWindow : state.ban ? decided(state.ban) : sentence(parted.message || w.saidNo)),
      // There may be a newer page.
      button(isElsewhere ? w.playHere : w.tryAgain, () => (isElsewhere ? comeIn() : location.reload()), "primary large"),
      isElsewhere && button(w.playApart, playApart, "large"),
      isElsewhere && h("p.quiet", w.playApartMeans),
    );
  }
  return screen(
    "main.welcome",
    "moment",
    pulse(),
    h("p", { role: "status" }, link.trouble ? w.silent : kind === "j" ? w.joining : w.oneMoment),
    link.isUp() ? button(w.toTheLobby, () => go("/")) : link.trouble && button(w.onThisDevice, () => go(`/#here=${ui.choice.game}`)),
  );
}
