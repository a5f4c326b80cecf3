/** The screens before the lobby or a match. */

import { comeIn, giveUpBeginning, link, playApart, wantBot } from "./actions.js";
import { CATALOGUE } from "./catalogue.js";
import { afterPaint, button, form, h, line, screen, type Tree } from "./dom.js";
import { ruleOf, terms, wishOf } from "./games.js";
import { f, w } from "./i18n.js";
import { fetchNow, later, withLater } from "./later.js";
import { aloneBoard, offers } from "./local.js";
import { faultOf } from "./names.js";
import { emblem, pulse } from "./pieces.js";
import { go, place } from "./place.js";
import type { PlayerInfo, TimeControl } from "./protocol.js";
import { capital, decided, label, sentence } from "./sentences.js";
import { gear } from "./settings.js";
import { choose, ownLive, redraw, set, state, ui } from "./store.js";

const ELSEWHERE = 4001;
/** How long a first move waits for a match on the server before the computer of the page answers. */
const ALONE_MS = 900;
/** An open invitation, or that a code is that of a tournament of guests. */
type Invitation = { by: PlayerInfo | null; title: string; game: string; time?: TimeControl } | { guests_only: true };
let offer: Invitation | null = null;

/** Request the invitation at its address. The code is in a header, because addresses are logged. */
export async function askOffer(): Promise<void> {
  const { kind, id } = place();
  if (kind !== "j" || offer) return;
  const answer = await fetch("/j", { headers: { Invitation: id } }).catch(() => null); // offline; shown without details
  offer = await answer?.json().catch(() => null);
  redraw();
}

/** Why the server does not answer. */
const silence = (): string => (navigator.onLine === false ? sentence(w.offlineHere) : w.silent);

/** Why the server rejected our login, or does not answer. */
function trouble(): string {
  const { parted, ban } = state;
  const troubles: Record<string, string> = { unknown_token: w.unknownHere, 4004: w.forgotten };
  if (link.trouble) return silence();
  return ban ? decided(ban) : parted ? (troubles[parted.code] ?? sentence(parted.message)) : "";
}

/** The first screen: a board that is playable immediately, and a name for playing others. A link asks only for a name. */
export function nameScreen(): Tree {
  const at = place().kind;
  const kind = at === "t" ? "j" : at; // a tournament invites too
  const isFirst = ui.isBeginning || (kind !== "j" && kind !== "m");
  return h(
    "main.welcome",
    { class: isFirst && "first" },
    h("header.bar", h("h1", emblem(), kind === "j" ? w.youAreInvited : kind === "m" ? w.comeAndWatch : w.family), gear()),
    isFirst ? opening() : kind === "j" && offer && "game" in offer ? offered(offer) : pulse(),
    h(
      "div.entrance",
      kind === "j" && offer && "guests_only" in offer ? button(w.asGuest, () => comeIn(), "primary large") : ui.opening.isRunning && state.you && !state.parted ? button(w.toTheLobby, () => set({ opening: { ...ui.opening, isRunning: false } }), "large") : form(
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

/** Get an invitation to the game of the first screen, without a name; the share sheet opens as soon as it is there. */
function inviteFriend(): void {
  choose({ game: ui.opening.game });
  ui.isInviting = true;
  fetchNow();
  comeIn();
}

/** Show why a name is not allowed while it is typed; a short one only once it was longer. */
function typed({ target }: Event): void {
  const { value } = target as HTMLInputElement;
  const fault = [...value.trim()].length < 2 ? "" : faultOf(value);
  if (fault !== ui.fault) set({ fault });
}

/** A board that is playable immediately: against the computer, or by two people on this device. */
function opening(): Tree {
  const { opening: now, isBeginning } = ui;
  const change = (changed: Partial<typeof now>) => {
    if (changed.isAlone === false) later()?.beginHere(now.game, 0);
    set({ opening: { ...now, isRunning: false, ...changed } });
  };
  const isWaiting = now.isAlone && !now.isRunning;
  return h(
    "section.here",
    { label: w.newMatch },
    offers(now, change, isBeginning),
    (!isWaiting && later()?.localBoard(now.game, now.isAlone ? () => playComputer(-1) : undefined)) || aloneBoard(now.game, now.isAlone ? playComputer : fetchNow, ui.wantedCell),
    isWaiting && h("p.status", { role: "status" }, ((ui.botWanted || isBeginning) && trouble()) || (isBeginning ? w.oneMoment : w.tapToBegin)),
    h("div.actions", isWaiting && button(w.playComputer, () => playComputer(-1)), button(w.inviteFriend, inviteFriend)),
  );
}

/**
 * Play a bot immediately, without a name, with a cell as the first move: the visitor begins. The mark is on the screen
 * before anything else is done. Until the match arrives, another tap chooses another cell.
 */
function playComputer(cell: number): void {
  if (ui.isBeginning) {
    if (cell >= 0 && !ownLive().length) set({ wantedCell: cell });
    return;
  }
  ui.opening.isRunning = false;
  set({ wantedCell: cell });
  afterPaint(() => {
    if (ui.isBeginning) return;
    set({ isBeginning: true });
    setTimeout(playHereInstead, ALONE_MS);
    wantBot({ ...wishOf({ ...ui.choice, game: ui.opening.game, pace: "", swap: false }), rated: false, side: 0 });
    fetchNow();
    comeIn();
  });
}

/**
 * Have the computer of the page answer the first move if no match has come from the server; once the server is there,
 * that match is handed over to it. A challenge that is on its way gets one more wait.
 */
function playHereInstead(isLast = false): void {
  const { game } = ui.opening;
  if (!ui.isBeginning || ownLive().length || !CATALOGUE.find(({ name }) => name === game)?.line) return;
  if (!isLast && !ui.botWanted && link.isUp()) {
    setTimeout(() => playHereInstead(true), ALONE_MS);
    return;
  }
  fetchNow().then(() => {
    const more = later();
    if (!ui.isBeginning || ownLive().length || !more) return; // without the code, the next change of the connection tries again
    const { wantedCell } = ui;
    giveUpBeginning();
    ui.opening.isRunning = true;
    more.beginHere(game, ui.choice.level, wantedCell);
  });
}

/** Draw a change of the connection; a first move does not wait for a server that does not answer. */
export function linkChanged(): void {
  if (link.trouble) playHereInstead(true);
  redraw();
}

/** The invitation, for a visitor without a name: a tap on the board takes it up as a guest. */
function offered({ by, game, time }: Exclude<Invitation, { guests_only: true }>): Tree {
  const listed = CATALOGUE.find(({ name }) => name === game.split("+")[0]);
  return h(
    "section.panel.offered",
    { label: w.invitation },
    h("p", h("strong", by ? f(w.invitesYou, label(by)) : w.youAreInvited)),
    h("p", terms([game], time, false)),
    h("p.quiet", listed && `${capital(ruleOf(listed))}${w.stop}`),
    listed && aloneBoard(listed.name, () => comeIn()),
    listed && h("p.status", w.tapToBegin),
  );
}

/** Play on this device, without the server: against the computer at a level, or two players. */
function playHere(level: number): void {
  withLater((more) => more.beginHere(ui.choice.game, level));
  go(`/#here=${ui.choice.game}`);
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
    h("p", { role: "status" }, link.trouble ? silence() : kind === "j" ? w.joining : w.oneMoment),
    link.isUp() ? button(w.toTheLobby, () => go("/")) : link.trouble && [button(w.playComputer, () => playHere(ui.choice.level)), button(w.onThisDevice, () => playHere(0))],
  );
}
