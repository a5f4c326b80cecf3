/** The lobby: own unfinished matches, a game to choose, seeks, players and live matches. */

import { challengeBot, link, nearestBot, plays, say, seek, site, unseek, wantBot } from "./actions.js";
import { bar, linkWord, shelf } from "./bar.js";
import { around, extent, isHexes } from "./added.js";
import { board, token } from "./board.js";
import { CATALOGUE } from "./catalogue.js";
import { listedTournaments } from "./cups.js";
import { button, check, type Child, choices, form, h, joined, line, panel, screen, type Tree } from "./dom.js";
import { face, voice } from "./faces.js";
import { chosenOf, games, PACES, terms, timeName, titleOf, wishOf } from "./games.js";
import { f, many, w } from "./i18n.js";
import { icon } from "./icons.js";
import { installing } from "./install.js";
import { forgetInvitation } from "./invitation.js";
import { once, part, select } from "./parts.js";
import { emblem, picture, pulse } from "./pieces.js";
import { filter, filters, go, place } from "./place.js";
import type { ListedPlayer, LiveMatch, SeekInfo, TimeControl } from "./protocol.js";
import { accept, challenge, explain, invite, send } from "./requests.js";
import { capital, isBot, label, ratingOf } from "./sentences.js";
import { gear } from "./settings.js";
import { choose, isMyTurn, KINDS, know, type Match, ownLive, redraw, set, state, ui, type Wish } from "./store.js";

/** The number of entries of a list to show at first; lists with more than twice as many have a filter. */
const FEW = 12;
/** The same of our matches, which stand above everything else. */
const FEWEST = 3;
/** How many boards of live matches there are, and after which time one is requested again. */
const BOARDS = 2;
const AGAIN_MS = 5000;
/** With more players here no board is live, because the server would send every move to all of them. */
const CROWD = 100;
const LEVELS = ["1", "2", "3", "4", "5", "6", "7", "8"];

/** A screen with a bar that leads back to the lobby. */
export const framed = (title: string, kind: string, ...children: Child[]): Tree => screen(`main.lobby.${kind}`, title, bar(title), children);

export function lobbyScreen(): Tree {
  const { you, server, players, live, seeks, seeking, invitation, features } = state;
  const chosen = JSON.stringify(ui.choice);
  const { hash } = location;
  return screen(
    "main.lobby.wide",
    "lobby",
    h("header.bar", h("h1", emblem(), h("span", server)), linkWord(), you && button([face(you), h("bdi", you.name)], () => go("/#player"), "plain me", "", { key: "me" }), gear()),
    h(
      "div.start",
      list(w.yourMatches, ownLive(), unfinished, null, FEWEST),
      invitation ? invited() : seeking ? part("alone", [w, seeking, players, you, chosen], alone) : part("play", [w, chosen, features], play),
    ),
    h(
      "div.news",
      part("tiles", [w, features], tiles),
      installing(),
      listedTournaments(),
      part("waiting", [w, seeks, live, you, hash, ui.all], waiting),
      part("bots", [w, players, you, chosen, !seeking, ui.all], bots),
      part("live", [w, live, you, hash, ui.all, ...followed().map(({ position }) => position)], played),
      part("people", [w, players, seeks, you, hash, ui.all], people),
      part("code", [w], codeForm),
    ),
  );
}

const isOther = ({ name }: { name: string }): boolean => name !== state.you?.name;
const seeksOfOthers = (): SeekInfo[] => state.seeks.filter(({ by }) => isOther(by) && !isBot(by));
const liveOfOthers = (): LiveMatch[] => state.live.filter((match) => match.players.every(isOther));

/** The bots that would play the seek, or else the chosen match, now. */
function botsFor(wish: Wish): ListedPlayer[] {
  const nearest = nearestBot(wish);
  return state.players.filter((player) => isOther(player) && plays(player, wish) && (!player.any_level || player === nearest));
}

const tiles = (): Tree =>
  h(
    "div.buttons.tiles",
    button([icon("devices"), w.onThisDevice], () => go("/#here"), "large", "", { key: "here" }),
    state.features.includes("puzzle") && button([icon("puzzle"), w.puzzleOfDay], () => go("/#puzzle"), "large", "", { key: "puzzle" }),
    button([icon("trophy"), w.leaderboard], () => go("/#leaders"), "large", "", { key: "leaders" }),
    state.features.includes("organise") && button([icon("trophy"), w.makeTournament], () => go("/#t=new"), "large", "", { key: "tournament" }),
  );

function waiting(): Child {
  const seeks = seeksOfOthers();
  return [
    seeks.length + liveOfOthers().length > FEW / 2 && sieve(),
    list(w.waitingForOpponent, sifted(seeks, ({ by, games, time }) => ({ players: [by], games, time })), (each) => seekEntry(each, w)),
  ];
}

function bots(): Child {
  const wish = wishOf(ui.choice);
  const found = botsFor(wish);
  const hasLevels = found.length > 0 && state.players.some((player) => player.any_level);
  return !state.seeking && list(w.playBot, found, (bot) => botEntry(bot, wish), hasLevels && strength());
}

const played = (): Child =>
  list(w.beingPlayed, sifted(liveOfOthers(), ({ players, game, time }) => ({ players, games: [game], time })), (each) => liveEntry(each, w), living());

/** When matches were requested for their boards. */
const asked = new Map<string, number>();

/** The matches that the lobby lists, and whose boards may be live in it. */
const watchable = (): string[] => (state.online > CROWD ? [] : liveOfOthers().map(({ match }) => match));

/** The matches whose boards are live in the lobby. */
const followed = (): Match[] => watchable().flatMap((match) => state.matches.get(match) ?? []);

/** Watch the first matches of a list that has come, and leave those that are listed no longer. */
export function followLive(): void {
  if (place().kind !== "lobby" || !state.you || !link.isUp() || document.hidden) return;
  const listed = watchable();
  const nowMs = performance.now();
  for (const { match, you } of state.matches.values()) if (you === undefined && !listed.includes(match)) leave(match);
  for (const match of listed.slice(0, BOARDS)) {
    if (followed().length >= BOARDS || state.matches.has(match) || nowMs - (asked.get(match) ?? -AGAIN_MS) < AGAIN_MS) continue;
    asked.set(match, nowMs);
    say({ type: "watch", match });
  }
}

function leave(match: string): void {
  asked.delete(match);
  state.matches.delete(match);
  say({ type: "unwatch", match });
}

/** The boards of live matches; a tap on one watches it, as its button in the list does. */
function living(): Tree | false {
  const still = { canMove: false, ghost: -1, ghostMark: "", isPending: false, focus: -1, fading: -1, hints: "", alarms: "", isLoss: false, isFlat: false }; // small cubes need less room as a stack
  const none = { choose: () => {}, hover: () => {}, focus: () => {} };
  const boards = followed().map(({ match, game, position, moves, players }) => {
    const last = game.move_cells[moves[moves.length - 1] ?? -1] ?? -1;
    const look = { game, position: { ...position, legal: [] }, last, ...still, prefix: `${match}-`, ...(isHexes(game) && { extent: extent(game), around: around(game) }) };
    return h("figure", { key: match, onclick: () => go(`/m/${match}`) }, h("div", { inert: "yes", hidden: true }, board(look, none)), h("figcaption.quiet", { hidden: true }, players.map(({ name }) => name).join(" – ")));
  });
  return boards.length > 0 && h("div.living", boards);
}

const codeForm = (): Tree =>
  form(
    "form.row.panel",
    ({ code = "" }) => go(`/j#${code.trim()}`),
    line("code", w.invitationCode, { pattern: " *[0-9A-Za-z]{1,32} *", autocapitalize: "characters" }),
    h("button", w.join),
  );

/**
 * A list below its title. A long list shows only its beginning until the player expands it, and then scrolls
 * separately.
 */
function list<T>(title: string, values: T[], entry: (value: T) => Tree, filter: Child = null, few = FEW): Tree | false {
  const isWhole = ui.all === title;
  const shown = isWhole ? values : values.slice(0, few);
  const rest = values.length - shown.length;
  return (
    (values.length > 0 || !!filter) &&
    panel(
      title,
      h("h2", title, values.length > 1 && h("span.quiet", ` ${values.length}`)),
      filter,
      h("ul.entries", { class: isWhole && "long" }, shown.map(entry)),
      rest > 0 && button(many(w.showMore, rest), () => set({ all: title }), "", "", { key: "more" }),
    )
  );
}

/** The filter by game and the order of matches and seeks, both stored in the address. */
function sieve(): Tree {
  const said = filters();
  const all = CATALOGUE.map(({ name }) => [name, titleOf(name)] as const);
  return h(
    "div.sizes",
    select(w.game, [["", w.allGames], ...all], said.get("game") ?? "", (game) => filter({ game })),
    select(w.order, [["", w.newest], ["rating", w.bestFirst], ["clock", w.quickFirst]], said.get("sort") ?? "", (sort) => filter({ sort })),
  );
}

type Listed = { games: string[]; players: { rating?: number }[]; time?: TimeControl };

/** The entries that the address selects, in its order. */
function sifted<T>(all: T[], look: (each: T) => Listed): T[] {
  const [game, sort] = [filters().get("game"), filters().get("sort")];
  const rank = ({ players, time }: Listed) =>
    sort === "rating" ? -Math.max(...players.map(({ rating = 0 }) => rating)) : (time?.initial_ms ?? Infinity) + 40 * (time?.increment_ms ?? 0);
  const found = all.filter((each) => !game || look(each).games.some((name) => name.split("+")[0] === game) || !look(each).games.length);
  return sort ? found.sort((one, other) => rank(look(one)) - rank(look(other)) || 0) : found;
}

/** The connected people, free ones first; from two dozen on, with a search field. */
function people(): Tree | false {
  const waiting = new Set(seeksOfOthers().map(({ by }) => by.name));
  const people = state.players.filter((player) => isOther(player) && !isBot(player) && !waiting.has(player.name));
  const wanted = filters().get("find") ?? "";
  const found = people.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
  found.sort((one, other) => Number(!!one.playing) - Number(!!other.playing));
  const oninput = (event: Event) => filter({ find: (event.target as HTMLInputElement).value });
  const field = people.length > 2 * FEW && line("filter", w.lookForOne, { type: "search", required: false, value: wanted, oninput });
  return list(w.peopleHere, found, (each) => personEntry(each, w), field);
}

/** One row of a list: its title, small details, and actions. */
export const entry = (key: string | number, first: Child, main: Child, detail: Child, actions: Child[]): Tree =>
  h("li.entry", { key }, first, h("span.what", h("span", main), h("span.quiet", detail)), actions);

/** The row of a match, with a picture of its game. */
export function entryIn(key: string, name: string, main: Child, detail: Child, ...actions: Child[]): Tree {
  const [base = ""] = name.split("+");
  const listed = CATALOGUE.find((game) => game.name === base);
  return entry(key, picture(listed ? base : "own", listed?.shape ?? [5, 5], !!listed?.line?.gravity), main, detail, actions);
}

/** The row of a player. */
export const entryOf = (key: string | number, who: { name: string }, main: Child, detail: Child, ...actions: Child[]): Tree =>
  entry(key, face(who), main, detail, actions);

/** A name that links to the profile. */
export const person = (player: { name: string; bot?: string }): Tree =>
  button(h("bdi", label(player)), () => go(`/#player=${encodeURIComponent(player.name)}`), "plain name", label(player));

function unfinished(match: Match): Tree {
  const other = label(match.players[1 - (match.you ?? 0)]!);
  const isMine = isMyTurn(match);
  const word = isMine ? w.yourTurn : match.adjourned ? w.adjourned : w.theirTurnShort;
  const act = button(w.playOn, () => go(`/m/${match.match}`), isMine && "primary", f(w.playOnAgainst, other));
  const mark = token(match.game, match.position.marks[match.you ?? 0]!);
  return entryIn(match.match, match.game.name, [mark, ` ${f(w.against, other)}`], joined([titleOf(match.game.name), word]), act);
}

function play(): Tree {
  const { choice } = ui;
  const chosen = chosenOf(choice);
  const toggle = (name: "swap" | "falls", words: string) => check(words, choice[name], (on) => choose({ [name]: on }));
  return panel(
    w.newMatch,
    shelf(games(choice), chosen, (game) => choose({ game })),
    chosen.name === "own" && ownSize(toggle),
    h("p.row", h("span.quiet", `${capital(chosen.rule)}${w.stop}`), button(icon("help"), () => explain(chosen.asked), "plain ask", w.howToPlay)),
    chosen.swap && toggle("swap", w.maySwap),
    chosen.rated && state.features.includes("or_casual") && choices(w.ratings, KINDS.map((kind) => [kind, capital(w.kinds[kind] ?? "")] as const), choice.kind, (kind) => choose({ kind })),
    choices(w.clock, PACES.map((pace) => [pace, pace === PACES[0] ? capital(w.noClock) : pace] as const), choice.pace, (pace) => choose({ pace })),
    h("div.buttons", button(w.findOpponent, () => seek(), "primary large"), button(w.playComputer, () => wantBot({ ...wishOf(choice), rated: false }), "large"), button(w.inviteFriend, invite, "large")),
  );
}

function ownSize(toggle: (name: "falls", words: string) => Tree): Tree {
  const { choice } = ui;
  const number = (name: "width" | "height" | "row", words: string, max: number) => {
    const onchange = ({ target }: Event) => {
      const field = target as HTMLInputElement;
      if (field.reportValidity()) choose({ [name]: field.valueAsNumber });
    };
    const value = { valueAsNumber: choice[name] };
    return h("label", { key: name }, words, h("input", { type: "number", min: 1, max, required: true, onchange, ...value }));
  };
  return h(
    "div.sizes",
    number("width", w.width, 19),
    number("height", w.height, 19),
    number("row", w.inRow, Math.max(choice.width, choice.height)),
    toggle("falls", w.marksFall),
  );
}

function alone(): Tree {
  const { games = [], time, rated, or_casual: isEither } = state.seeking ?? {};
  const wish = { game: games[0] ?? "tictactoe", time: time ?? null, rated: !!rated, or_casual: isEither };
  const bots = botsFor(wish).map((bot) => botEntry(bot, wish));
  const looking = f(w.lookingFor, terms(games, time, rated, isEither));
  return h(
    "section.panel.waiting",
    { label: w.waiting },
    pulse(),
    h("p", { role: "status" }, bots.length ? `${looking}${w.orBot}` : looking),
    h("ul.entries", bots),
    button(w.stopWaiting, unseek),
  );
}

/** The address of an invitation; its game is for the preview that a chat shows, and never its code. */
const addressOf = ({ code, game }: { code: string; game: string }): string => `${site()}/j?${game}#${code}`;

/** Pass our invitation to the share sheet, where the browser has one; otherwise the lobby shows its address. */
export function sendInvitation(): void {
  if (state.invitation && "share" in navigator) send(addressOf(state.invitation));
}

function invited(): Tree {
  const { code, game, time } = state.invitation!;
  const address = addressOf({ code, game });
  const field = { type: "text", readonly: true, value: address, label: w.address };
  return h(
    "section.panel.waiting",
    { label: w.invitation },
    h("h2", w.sendToFriend),
    h("p.quiet", f(w.beginsWhenOpened, terms([game], time, false))),
    h("input", { ...field, onfocus: (event: Event) => (event.target as HTMLInputElement).select() }),
    h(
      "div.buttons",
      button("share" in navigator ? w.share : w.copyLink, () => send(address), "primary large"),
      button(w.back, () => know({ invitation: forgetInvitation() }), "large"),
    ),
    qrOf(address),
    h("p", w.orCode, " ", h("strong.code", code)),
  );
}

let qr: typeof import("./qr.js") | null = null;

/** An address as a QR code, once the code for it is loaded. */
function qrOf(address: string): Tree | null {
  if (!qr) {
    import("./qr.js").then(
      (found) => {
        qr = found;
        redraw();
      },
      () => {}, // offline; the address is also shown as text
    );
  }
  return qr?.qrCode(address) ?? null;
}

const seekEntry = once((seeking: SeekInfo): Tree => {
  const { by, games, time, rated, or_casual: isEither } = seeking;
  const act = button(w.play, () => accept(seeking), "primary", f(w.playOne, label(by)));
  return entryOf(seeking.seek, by, [person(by), h("span.rating", ` ${ratingOf(by)}`)], terms(games, time, rated, isEither), act);
});

function botEntry(player: ListedPlayer, wish: Wish): Tree {
  const { name, bot, level, any_level: isAny } = player;
  // The strength of bots that play at any level stands above them.
  const detail = voice(player) || joined([bot !== name && bot, !isAny && level && f(w.level, level)], w.comma) || w.bot;
  return entryOf(name, player, h("bdi", name), detail, button(w.play, () => challengeBot(player, wish), "primary", f(w.playOne, name)));
}

/** The strength of bots that play at any level. */
const strength = (): Tree =>
  h(
    "div.levels",
    choices(
      w.strength,
      LEVELS.map((level) => [level, level] as const),
      `${ui.choice.level}`,
      (level) => choose({ level: Number(level) }),
    ),
  );

const personEntry = once((player: ListedPlayer): Tree => {
  const { name, playing, seeking } = player;
  const what = playing ? w.playing : seeking ? w.waitingWord : w.free;
  return entryOf(name, player, person(player), what, button(w.challenge, () => challenge(name), "", f(w.challengeOne, name)));
});

const liveEntry = once(({ match, game, players, time, ply, featured, watchers }: LiveMatch): Tree => {
  const names = players.map(label).join(" – ");
  const detail = [featured && w.featured, titleOf(game), time && timeName(time), f(w.moveNumber, ply), watchers > 0 && many(w.watchersHere, watchers)];
  return entryIn(match, game, names, joined(detail), button(w.watch, () => go(`/m/${match}`), "", f(w.watchThem, names)));
});
