/** Tournaments: the list in the lobby, the page of one, and the wall, which shows one to a whole room. */

import { clockNow, link, request, say, site, unseek } from "./actions.js";
import { bar } from "./bar.js";
import { board, colours } from "./board.js";
import { button, check, type Child, choices, form, h, joined, line, panel, screen, type Tree } from "./dom.js";
import { terms, titleOf, wishOf } from "./games.js";
import { f, type Language, language, listed, many, w } from "./i18n.js";
import { go, place, turnBack } from "./place.js";
import type { DirectRequest, ListedTournament, OrganiseRequest, PlayedTournament, TournamentBoard, TournamentReply, TournamentStanding } from "./protocol.js";
import { capital, clockFace } from "./sentences.js";
import { leftMs, type Match, redraw, set, state, ui } from "./store.js";
import { told as english, type Told } from "./tournaments/en.js";

const SECOND_MS = 1000;
/** On the wall: the number of boards, the rows of the standings, and how long a page of them stays. */
const BOARDS = 6;
const ROWS = 26;
const TURN_MS = 8000;
const AGAIN_MS = 5000;

let t: Told = english;
let spoken: Language = "en";

/** Load the sentences in the language of the page; until they arrive, and without them, English is used. */
function speakAsPage(): void {
  if (spoken === language) return;
  spoken = language;
  sentences(language).then(
    (found) => {
      t = found;
      redraw();
    },
    () => {}, // without a link
  );
}

async function sentences(code: Language): Promise<Told> {
  switch (code) {
    case "en":
      return english;
    case "zh":
      return (await import("./tournaments/zh.js")).told;
    case "es":
      return (await import("./tournaments/es.js")).told;
    case "ar":
      return (await import("./tournaments/ar.js")).told;
    case "pt":
      return (await import("./tournaments/pt.js")).told;
    case "fr":
      return (await import("./tournaments/fr.js")).told;
    case "ru":
      return (await import("./tournaments/ru.js")).told;
  }
}

/** The tournament that we follow, and the welcome after which it was requested. */
let followed: { code: string; for: unknown } = { code: "", for: null };

/** Follow a tournament, or with an empty code, none. */
async function followTournament(code: string): Promise<void> {
  const before = followed;
  if (!state.you || (before.code === code && before.for === state.you)) return;
  followed = { code, for: state.you };
  if (before.code && before.code !== code) say({ type: "attend", tournament: before.code, on: false });
  if (code) turnBack(await say({ type: "attend", tournament: code }));
}

/** Redraw countdowns without messages from the server, and stop following a tournament whose page was left. */
setInterval(() => {
  const { kind } = place();
  if (kind !== "t" && kind !== "wall") followTournament("");
  else if (!document.hidden) redraw();
}, SECOND_MS);

/** In place of a code, in the address of the form for a new tournament. */
const NEW = "new";

// Data.

const ours = (): string | undefined => state.you?.name;
const isOurs = ({ first, second }: TournamentBoard): boolean => !!ours() && [first, second].includes(ours()!);
const isPlaying = ({ result, second }: TournamentBoard): boolean => !result && !!second;
/** The last received tournament, and when it arrived; and the one that we entered here. */
let newest: { told: TournamentReply | null; atMs: number } = { told: null, atMs: 0 };
let entered = "";

/** The tournament of the current page, if it has arrived. */
function here(): TournamentReply | null {
  const { tournament: told } = state;
  followTournament(place().id === NEW ? "" : place().id.toUpperCase());
  if (newest.told !== told) {
    newest = { told, atMs: performance.now() };
    if (isMade && told) {
      isMade = false;
      queueMicrotask(() => go(`/#t=${told.tournament}`));
    }
  }
  return told?.tournament === place().id.toUpperCase() ? told : null;
}

function isEntered({ standings, tournament }: TournamentReply): boolean {
  const row = standings.find(({ player }) => player === ours());
  return row ? !row.gone : entered === tournament;
}

const mayEnter = (told: TournamentReply): boolean =>
  !isEntered(told) && (told.state === "open" || (told.state !== "over" && told.kind !== "round_robin" && told.kind !== "knockout"));

/** The rest of a countdown that began when the tournament arrived. */
function left(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms - (performance.now() - newest.atMs)) / SECOND_MS);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

const points = (score: number): string => many(t.points, score / 2);

/** Whether matches begin whenever two players are free, as in an arena and at a table with a king. */
const hasRounds = ({ kind }: { kind: string }): boolean => kind !== "arena" && kind !== "king";

function stateNow(told: TournamentReply): string {
  const { round, rounds, open_boards: open } = told;
  const number = rounds ? f(t.roundOf, round, rounds) : f(t.round, round);
  if (told.state === "open") return listed([t.open, many(t.players, told.players)]);
  if (told.state === "over") return t.over;
  if (!hasRounds(told)) return listed([told.state === "paused" && t.paused, many(t.playingNow, open)]);
  return listed([told.state === "paused" && t.paused, round > 0 && number, round > 0 && (open ? many(t.still, open) : t.allDone)]);
}

/** The next step, with its countdown, if any; empty while boards are being played. */
function nextStep(told: TournamentReply): string {
  const { starts_in_ms: starts, next_in_ms: next, ends_in_ms: ends, round } = told;
  const by = told.organiser ?? t.host;
  if (told.state === "open") return starts != null ? f(t.startsIn, left(starts)) : told.full ? f(t.startsWith, told.full) : f(t.startsBy, by);
  if (told.state === "running" && ends != null) return f(t.endsIn, left(ends));
  if (told.state !== "running" || told.open_boards || !round || !hasRounds(told)) return "";
  if (next != null) return f(t.nextIn, round + 1, left(next));
  return round === told.rounds ? "" : f(t.nextBy, round + 1, by);
}

/** Our part in the round; empty for visitors. */
function ownState(told: TournamentReply): string {
  if (told.state === "open") return isEntered(told) ? joined([told.anonymous && ours(), t.entered]) : "";
  const own = told.boards.find(isOurs);
  const row = told.standings.find(({ player }) => player === ours());
  const at = row && told.round ? f(t.place, row.place, told.players, points(row.score)) : "";
  if (told.state === "over") return at;
  if (!hasRounds(told)) return isEntered(told) && !(own && isPlaying(own)) ? `${ownTurn(told)} ${at}` : "";
  if (!own) return isEntered(told) && told.round ? t.later : "";
  if (!own.second) return t.bye;
  if (!own.result) return "";
  const isFirst = own.first === ours();
  const kind = own.result === "0-0" ? "none" : own.result === "1/2-1/2" ? "drawn" : (own.result === "1-0") === isFirst ? "won" : "lost";
  return `${f(t.outcomes[kind]!, isFirst ? own.second : own.first)} ${at}`;
}

function ownTurn({ waiting }: TournamentReply): string {
  const before = (waiting ?? []).indexOf(ours() ?? "");
  return before < 0 ? t.byItself : before ? many(t.before, before) : t.youNext;
}

/** The points of both players from the finished matches of a pairing of two; empty for a single match. */
const scoreOf = ({ legs }: TournamentBoard): string => (legs ? legs.map((half) => half / 2).join("–") : "");

function resultOf(each: TournamentBoard, { kind }: TournamentReply): string {
  const { first, second, result, corrected, forfeit, void: isVoid } = each;
  if (isVoid) return t.notCounted;
  if (!second) return t.noOpponent;
  const goesOn = kind === "knockout" && (result === "1/2-1/2" || result === "0-0") && f(t.goesThrough, second);
  return joined([!result ? t.playing : outcomeOf(first, second, result, corrected, forfeit), scoreOf(each), goesOn]);
}

function outcomeOf(first: string, second: string, result: string, corrected?: boolean, forfeit?: boolean): string {
  const said = result === "1/2-1/2" ? t.draw : result === "0-0" ? t.noPoints : f(t.winner, result === "1-0" ? first : second);
  return corrected ? f(t.corrected, said) : forfeit ? f(t.byForfeit, said) : said;
}

// The list of the lobby.

export function tournamentList(all: ListedTournament[]): Child {
  speakAsPage();
  const open = all.filter((each) => each.state !== "over");
  return open.length > 0 && panel(t.tournaments, h("h2", t.tournaments), h("ul.entries", open.map(entry)));
}

function entry({ tournament, name, kind, game, time, state: now, round, rounds, players, rated }: ListedTournament): Tree {
  const isOpen = now === "open" || !hasRounds({ kind });
  const stands = isOpen ? listed([now === "paused" ? t.paused : t.open, many(t.players, players)]) : rounds ? f(t.roundOf, round, rounds) : f(t.round, round);
  const about = [t.kinds[kind] ?? kind, terms([game], time, rated)];
  return h(
    "li.entry",
    { key: tournament },
    h("span.what", h("span", h("bdi", name)), h("span.quiet", listed([stands, ...about]))),
    button(isOpen ? w.join : w.watch, () => go(`/#t=${tournament}`), isOpen && "primary", name),
  );
}

/** The tournaments in the profile of a player. */
export function playedTournaments(all: PlayedTournament[]): Tree {
  speakAsPage();
  const row = ({ tournament, name, kind, game, place, players, over = true }: PlayedTournament) =>
    h(
      "li.entry",
      { key: tournament },
      h("span.what", h("span", h("bdi", name)), h("span.quiet", listed([f(over ? t.placed : t.placedSoFar, place, players), t.kinds[kind] ?? kind, titleOf(game)]))),
      button(w.watch, () => go(`/#t=${tournament}`), "", f(w.watchThem, name)),
    );
  return panel(t.tournaments, h("h2", t.tournaments), h("ul.entries", all.map(row)));
}

/** The button back from a match, highlighted once the match is over. */
export const toTournament = ({ tournament, outcome }: Match): Child => {
  speakAsPage();
  return !!tournament && button(t.back, () => go(`/#t=${tournament.tournament}`), outcome && "primary large");
};

// One tournament.

export function tournamentScreen(): Tree | null {
  speakAsPage();
  const told = here();
  if (place().id === NEW) return organiseScreen();
  if (!told) return null;
  const { boards, standings } = told;
  const playing = boards.filter(isPlaying);
  const done = boards.filter((each) => !isPlaying(each));
  return screen(
    "main.lobby.cup",
    "tournament",
    bar([h("bdi", told.name), h("span.quiet", ` ${listed([t.kinds[told.kind] ?? told.kind, terms([told.game], told.time, told.rated)])}`)]),
    h("p.stands", { role: "status" }, stateNow(told)),
    now(told),
    isOrganiser(told) && directing(told),
    queue(told),
    playing.length > 0 && panel(t.notFinished, h("h2", t.notFinished, h("span.quiet", ` ${told.open_boards}`)), h("ul.entries", playing.map((each) => boardEntry(each, told)))),
    standings.length > 0 && panel(t.standings, h("h2", told.round ? t.standings : t.playersHead), told.round ? table(told) : h("p", listed(standings.map(nameOf))), told.pages > told.page && further(told)),
    done.length > 0 && panel(t.results, h("h2", t.results), h("ul.entries", done.map((each) => boardEntry(each, told)))),
    told.state === "open" && panel(w.invitation, invitation(told)),
    h("div.buttons", button(t.wall, () => open(`/#wall=${told.tournament}`, "_blank")), told.state !== "over" && isEntered(told) && leaving(told)),
  );
}

/** The queue of a king of the table. */
function queue({ waiting }: TournamentReply): Child {
  return !!waiting?.length && panel(t.nextAtTable, h("h2", t.nextAtTable), h("p", listed(waiting)));
}

/** Our match, or what we wait for, and the button to enter. */
function now(told: TournamentReply): Child {
  const own = told.boards.find((each) => isOurs(each) && isPlaying(each));
  if (own && told.state !== "over") {
    const other = own.first === ours() ? own.second! : own.first;
    return own.match && button(f(t.against, other), () => go(`/m/${own.match}`), "primary large");
  }
  const [state, next] = [ownState(told), nextStep(told)];
  return [
    (state || next) && h("section.panel.now", { key: "now" }, state && h("p", state), next && h("p.next", next)),
    mayEnter(told) && button(told.anonymous ? w.asGuest : t.enter, () => enter(told), "primary large"),
  ];
}

async function enter({ tournament, anonymous }: TournamentReply): Promise<void> {
  if (anonymous) return go(`/j#${tournament}`); // which makes a guest of us
  if (await request({ type: "enter", tournament })) {
    entered = tournament;
    if (state.seeking) unseek(); // another match would keep us from the round
  }
  redraw();
}

const nameOf = ({ player, gone }: Pick<TournamentStanding, "player" | "gone">): string => (gone ? f(t.left, player) : player);

function boardEntry(each: TournamentBoard, told: TournamentReply): Tree {
  const { board: number, first, second, match, result } = each;
  const look = result ? w.replay : isOurs(each) ? w.playOn : w.watch;
  const correcting = Number(/^board (\d+)$/.exec(ui.all)?.[1]);
  return h(
    "li.entry",
    { key: number, class: isOurs(each) && "own" },
    h("span.rank", number),
    h("span.what", h("span", h("bdi", first), second && [" – ", h("bdi", second)]), h("span.quiet", resultOf(each, told))),
    isOrganiser(told) && result && second && told.state !== "over" && button(t.correct, () => set({ all: correcting === number ? "" : `board ${number}` }), "", `${t.correct}: ${number}`),
    !!match && button(look, () => go(`/m/${match}${told.private ? `#${told.tournament}` : ""}`), "", `${look} ${first} – ${second}`),
    correcting === number && correction(each, told),
  );
}

// For the organiser.

const isOrganiser = ({ organiser, state: now }: TournamentReply): boolean => now !== "over" && !!organiser && organiser === ours();

async function direct(fields: Omit<DirectRequest, "type" | "id" | "tournament">): Promise<void> {
  if (await request({ type: "direct", tournament: newest.told!.tournament, ...fields } as DirectRequest)) set({ all: "" });
}

function directing(told: TournamentReply): Tree {
  const { state: now, open_boards: open, round } = told;
  return panel(
    t.organiser,
    h("h2", t.organiser),
    h(
      "div.buttons",
      now === "open" && button(t.start, () => direct({ act: "start" }), "primary"),
      now !== "open" && hasRounds(told) && !open && round > 0 && button(t.nextRound, () => direct({ act: "next" }), "primary"),
      now === "running" && button(t.pause, () => direct({ act: "pause" })),
      now === "paused" && button(t.goOn, () => direct({ act: "resume" })),
      ui.all === "ending" ? [h("span", t.ends), button(t.end, () => direct({ act: "end" }), "primary"), button(w.no, () => set({ all: "" }))] : button(t.end, () => set({ all: "ending" })),
    ),
  );
}

let corrected: NonNullable<TournamentBoard["result"]> = "1-0";

/** The form that replaces the result of a board, with a note. */
function correction({ board: number, first, second }: TournamentBoard, { round }: TournamentReply): Tree {
  const results = [["1-0", f(t.winner, first)], ["1/2-1/2", t.draw], ["0-1", f(t.winner, second!)], ["0-0", t.noPoints]] as const;
  return form(
    "form.panel",
    ({ note = "" }) => direct({ act: "correct", round, board: number, result: corrected, note: note.trim() }),
    choices(t.results, results, corrected, (result) => {
      corrected = result;
      redraw();
    }),
    line("note", t.note, { maxlength: 80 }),
    h("button", t.correct),
  );
}

// A new one.

const KINDS = ["swiss", "round_robin", "knockout", "arena", "king"] as const;
const CLOCKS = ["1+0", "3+2", "5+3", "10+5"] as const;
const ROUNDS = ["3", "5", "7"] as const;
const MINUTES = ["20", "40", "60"] as const;
const LEGS = ["1", "2"] as const;
const wanted = { isAnonymous: false, legs: "" as (typeof LEGS)[number] | "", kind: "swiss" as (typeof KINDS)[number], pace: "3+2" as (typeof CLOCKS)[number], rounds: "5" as (typeof ROUNDS)[number], minutes: "40" as (typeof MINUTES)[number] };

/** Choices that are shown as they are called. */
const alike = <T extends string>(all: readonly T[]) => all.map((each) => [each, each] as const);

function organiseScreen(): Tree {
  const choose = (fields: Partial<typeof wanted>): void => {
    Object.assign(wanted, fields);
    redraw();
  };
  const { game, time } = wishOf({ ...ui.choice, pace: wanted.pace });
  return screen(
    "main.lobby.cup",
    "tournament",
    bar([w.makeTournament, h("span.quiet", ` ${terms([game], time, false)}`)]),
    form(
      "form.panel",
      ({ name = "" }) => organise(name.trim(), game),
      line("name", t.name, { maxlength: 40, value: f(t.nameOf, ours() ?? "") }),
      choices(t.kind, KINDS.map((kind) => [kind, capital(t.kinds[kind] ?? kind)] as const), wanted.kind, (kind) => choose({ kind })),
      wanted.kind === "swiss" && choices(t.rounds, alike(ROUNDS), wanted.rounds, (rounds) => choose({ rounds })),
      wanted.kind === "arena" && choices(t.minutes, alike(MINUTES), wanted.minutes, (minutes) => choose({ minutes })),
      hasRounds(wanted) && choices(t.legs, [["", t.legsByGame], ...alike(LEGS)] as const, wanted.legs, (legs) => choose({ legs })),
      choices(w.clock, alike(CLOCKS), wanted.pace, (pace) => choose({ pace })),
      check(t.guestsOnly, wanted.isAnonymous, (isAnonymous) => choose({ isAnonymous })),
      h("button.primary.large", w.makeTournament),
    ),
  );
}

async function organise(name: string, game: string): Promise<void> {
  const { kind, pace, rounds, minutes, legs, isAnonymous } = wanted;
  const { time } = wishOf({ ...ui.choice, pace });
  const length = kind === "swiss" ? { rounds: Number(rounds) } : kind === "arena" ? { minutes: Number(minutes) } : { rounds: 1 };
  const before = state.tournament;
  if (!(await request({ type: "organise", name, kind, game, time: time!, ...length, legs: legs && hasRounds(wanted) ? Number(legs) : null, anonymous: isAnonymous } as OrganiseRequest))) return;
  if (state.tournament !== before) go(`/#t=${state.tournament!.tournament}`);
  else isMade = true;
}

/** Whether the tournament that we made has not arrived yet. */
let isMade = false;

function table(told: TournamentReply): Child {
  const { standings, tie_breaks: breaks } = told;
  const row = (each: TournamentStanding) =>
    h(
      "tr",
      { key: each.player, class: each.player === ours() && "own" },
      h("td", `${each.place}.`),
      h("th", { scope: "row" }, h("bdi", nameOf(each)), each.player === ours() && ` (${w.you})`),
      h("td", h("strong", each.score / 2)),
      isOrganiser(told) && h("td", !each.gone && button("×", () => direct({ act: "remove", name: each.player }), "", f(t.remove, each.player))),
      h("td.quiet", (each.streak ?? 0) > 1 && `${f(t.inARow, each.streak!)}  `, (each.breaks ?? []).map(Math.abs).join("  ")),
    );
  return [
    h("table", h("tbody", standings.map(row))),
    breaks.length > 0 && h("p.quiet", f(t.separated, listed(breaks.map((each) => t.breaks[each] ?? each)))),
  ];
}

const further = ({ tournament, page }: TournamentReply): Tree => button(t.further, () => request({ type: "attend", tournament, page: page + 1 }));

/** The button to leave, which needs a second tap. */
function leaving({ tournament }: TournamentReply): Child {
  if (ui.all !== "leaving") return button(t.leave, () => set({ all: "leaving" }));
  return h(
    "section.panel",
    { role: "alertdialog", label: t.leave },
    h("p", t.leaves),
    h("div.buttons", button(t.leave, () => withdraw(tournament), "primary"), button(w.no, () => set({ all: "" }))),
  );
}

async function withdraw(tournament: string): Promise<void> {
  set({ all: "" });
  if (await request({ type: "withdraw", tournament })) entered = "";
  redraw();
}

/** The address, the code and a QR code to enter by. */
function invitation({ tournament }: TournamentReply): Child {
  const address = `${site()}/j#${tournament}`;
  return [
    h("p", f(t.joinAt, "")),
    h("p.address", { dir: "ltr" }, site().replace(/^https?:\/\//, "")),
    h("p", t.code, " ", h("strong.code", tournament)),
    qr?.qrCode(address) ?? fetchQr(),
  ];
}

let qr: typeof import("./qr.js") | null = null;
function fetchQr(): null {
  import("./qr.js").then(
    (found) => {
      qr = found;
      redraw();
    },
    () => {}, // without a link: the address is there in letters
  );
  return null;
}

// The wall.

export function wallScreen(): Tree | null {
  speakAsPage();
  const told = here();
  if (!told) return null;
  const playing = told.boards.filter(isPlaying);
  follow(playing, told.private ? told.tournament : undefined);
  const next = nextStep(told);
  return screen(
    "main.wall",
    "wall",
    h("header", h("h1", h("bdi", told.name)), h("p.stands", { role: "status" }, stateNow(told))),
    told.round ? standingsOf(told) : h("section.joined", h("p", listed(told.standings.map(nameOf)))),
    h(
      "section.boards",
      told.state === "open" && h("div.invitation", invitation(told)),
      next && h("p.next", next),
      !!told.waiting?.length && h("p.next", `${t.nextAtTable}: `, h("bdi", listed(told.waiting.slice(0, BOARDS)))),
      playing.slice(0, BOARDS).map(small),
      !playing.length && told.round > 0 && h("ul.entries", told.boards.slice(0, ROWS).map((each) => h("li", { key: each.board }, h("bdi", each.first), each.second && [" – ", h("bdi", each.second)], h("span.quiet", ` ${resultOf(each, told)}`)))),
    ),
    playing.length > 0 && h("footer", h("strong", `${t.notFinished}: `), playing.map(({ first, second }) => h("span.pair", h("bdi", first), " – ", h("bdi", second!)))),
    !link.isUp() && h("p.banner", w.silent),
  );
}

/** The standings, page by page if they are long. */
function standingsOf({ standings, tournament }: TournamentReply): Tree {
  const pages = Math.max(1, Math.ceil(standings.length / ROWS));
  const page = Math.floor(Date.now() / TURN_MS) % pages;
  const most = Math.ceil(standings.length / pages);
  const rows = standings.slice(page * most, (page + 1) * most);
  return h(
    "section.table",
    { key: tournament, style: { "--rows": Math.max(10, most) } },
    h("table", h("tbody", rows.map((each) => h("tr", { key: each.player }, h("td", `${each.place}.`), h("th", { scope: "row" }, h("bdi", nameOf(each))), h("td", h("strong", each.score / 2)))))),
    pages > 1 && h("p.quiet", `${page + 1} / ${pages}`),
  );
}

/** A small running board, with both names and clocks. */
function small({ board: number, first, second, match: id, legs }: TournamentBoard): Tree {
  const match = state.matches.get(id ?? "");
  const look = match && { game: match.game, position: match.position, last: match.game.move_cells[match.moves.at(-1) ?? -1] ?? -1, prefix: `b${number}-` };
  const still = { canMove: false, ghost: -1, ghostMark: "", isPending: false, focus: -1, fading: -1, hints: "", alarms: "", isLoss: false, isFlat: true };
  const side = (name: string, n: number) => {
    const ms = match ? leftMs(match, n, clockNow()) : null;
    return h("span.side", { class: [`of-${n ? "O" : "X"}`, match?.position.to_move === n && "active"] }, h("bdi", name), legs && h("strong", legs[n]! / 2), ms !== null && h("span.clock", clockFace(ms)));
  };
  return h(
    "figure.board-of",
    { key: number, class: match && colours(match.game) },
    h("figcaption", h("span.number", number), side(first, 0), side(second!, 1)),
    look && board({ ...look, ...still }, { choose: () => {}, hover: () => {}, focus: () => {} }),
  );
}

/** Watch the first running boards, and stop watching finished ones. */
function follow(playing: TournamentBoard[], code?: string): void {
  if (!link.isUp()) return;
  const wanted = playing.slice(0, BOARDS).flatMap(({ match }) => match ?? []);
  const nowMs = performance.now();
  for (const match of wanted) {
    if (state.matches.has(match) || nowMs - (asked.get(match) ?? -AGAIN_MS) < AGAIN_MS) continue;
    asked.set(match, nowMs);
    say({ type: "watch", match, code });
  }
  for (const match of asked.keys()) {
    if (wanted.includes(match)) continue;
    asked.delete(match);
    if (state.matches.delete(match)) say({ type: "unwatch", match });
  }
}

/** The requested boards, and the connection: a new connection requests them again. */
const asked = new Map<string, number>();
