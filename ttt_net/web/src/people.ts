/** Profiles, finished matches, and the leaderboard. */

import { notify, request } from "./actions.js";
import { CATALOGUE } from "./catalogue.js";
import { reporting } from "./chat.js";
import { cups } from "./cups.js";
import { button, check, type Child, choices, form, h, joined, line, panel, type Tree } from "./dom.js";
import { ownDataButton } from "./download.js";
import { face, voice } from "./faces.js";
import { timeName, titleOf } from "./games.js";
import { f, many, w } from "./i18n.js";
import { entry, entryIn, framed, person } from "./lobby.js";
import { faultOf } from "./names.js";
import { select } from "./parts.js";
import { filter, filters, go, place } from "./place.js";
import type { BlockList, FinishedMatch, HistoryReply, LeaderboardReply, ProfileReply, RatingInfo } from "./protocol.js";
import { block, challenge, rename, unmute } from "./requests.js";
import { capital, dateOf, dayOf, isBot, label, ratingOf } from "./sentences.js";
import { state, ui } from "./store.js";

const SPEEDS = ["bullet", "blitz", "rapid", "untimed"] as const;

const record = ({ won, drawn, lost }: { won: number; drawn: number; lost: number }): string => f(w.record, won, drawn, lost);

const speedName = (speed: string): string => w.speeds[speed] ?? speed;

export function playerScreen(): Tree {
  const { profile, history, you, blocks } = state;
  const { id } = place();
  const isMe = !id || id === you?.name;
  return framed(isMe ? (you?.name ?? "") : id, "whole", profile && about(profile, isMe), !!profile?.tournaments?.length && cups()?.playedTournaments(profile.tournaments), history && finished(history), isMe && blocks && blocks.blocked.length + blocks.muted.length > 0 && silenced(blocks), isMe && forgetting());
}

function about(profile: ProfileReply, isMe: boolean): Tree {
  const { player, ratings, against, online, since_ms: since } = profile;
  const cells = (tag: string, words: Child[], key: string) => h("tr", { key }, words.map((word, n) => h(tag, { key: n + 1, scope: tag === "th" && "col" }, word)));
  const total = profile.won + profile.drawn + profile.lost;
  return panel(
    w.about,
    h(
      "div.person",
      face(player),
      h("div", h("h2", h("bdi", label(player))), h("p.quiet", f(w.hereSince, dayOf(since)))),
    ),
    isBot(player) && h("p.voice", voice(player)),
    total > 0 && shares(profile),
    h("p", { class: total > 0 ? "" : "quiet" }, capital(record(profile))),
    !isMe && against && h("p", f(w.youAgainst, player.name, record(against))),
    ratings.length > 0 &&
      h(
        "table",
        h("thead", cells("th", [w.game, w.clock, w.rating, w.matches], "head")),
        h("tbody", ratings.map((each) => cells("td", [titleOf(each.game), capital(speedName(each.speed)), ratingOf(each), each.games], `${each.game} ${each.speed}`))),
      ),
    isMe && form("form.row", ({ name = "" }) => (faultOf(name) ? notify(faultOf(name)) : rename(name.trim())), line("name", w.anotherName, { maxlength: 60 }), h("button", w.takeIt)),
    isMe && ownDataButton(),
    !isMe && online && button(w.challenge, () => challenge(player.name), "primary"),
    !isMe && !isBot(player) && reporting(player.name),
    !isMe && state.features.includes("blocks") && blocking(player.name, !profile.blocked),
  );
}

const blocking = (name: string, on: boolean): Tree => button(f(on ? w.blockOne : w.unblockOne, name), () => block(name, on), "quiet");

/** The blocked and muted players, each with a button to end it. */
function silenced({ blocked, muted }: BlockList): Tree {
  const row = (name: string, end: Tree) => h("li.entry", { key: name }, h("bdi.what", name), end);
  return h(
    "details.panel",
    h("summary", w.blockedPlayers),
    h(
      "ul.entries",
      blocked.map((name) => row(name, blocking(name, false))),
      muted.map((name) => row(name, button(f(w.unmuteOne, name), () => unmute(name), "quiet"))),
    ),
  );
}

/** Results as a bar: won, drawn, lost. */
const shares = ({ won, drawn, lost }: ProfileReply): Tree =>
  h(
    "svg.shares",
    { viewBox: `0 0 ${won + drawn + lost} 1`, preserveAspectRatio: "none", hidden: true },
    h("rect.won", { width: won, height: 1 }),
    h("rect.even", { x: won, width: drawn, height: 1 }),
    h("rect.lost", { x: won + drawn, width: lost, height: 1 }),
  );

const forgetting = (): Tree =>
  h(
    "details.panel",
    h("summary", w.forgetMe),
    h("p.quiet", w.forgetMeans),
    form("form.row", ({ name = "" }) => request({ type: "forget", name }), line("name", w.yourName), h("button", w.forgetMe)),
  );

function finished({ player, matches, before }: HistoryReply): Tree {
  const chosen = select(w.game, [["", w.allGames], ...CATALOGUE.map(({ name }) => [name, titleOf(name)] as const)], filters().get("game") ?? "", (game) => filter({ game, before: "" }, true));
  const row = ({ match, game, players, winner, time, plies, at_ms: at }: FinishedMatch) => {
    const side = players.findIndex((each) => each.name === player.name);
    const other = players[side === 1 ? 0 : 1];
    const how = winner === null ? "drawn" : winner === side ? "won" : "lost";
    const replay = button(w.replay, () => go(`/m/${match}`), "", f(w.replayAgainst, other.name));
    const detail = joined([titleOf(game), timeName(time), many(w.moveCount, plies), dateOf(at)]);
    return entryIn(match, game, [h("strong", { class: how }, w.results[how]), " ", f(w.against, label(other))], detail, replay);
  };
  return panel(
    w.finishedMatches,
    h("h2", w.finishedMatches),
    chosen,
    course(player.name, matches, filters().get("before") ? [] : (state.profile?.ratings ?? [])),
    matches.length ? h("ul.entries", matches.map(row)) : h("p.quiet", w.noneFinished),
    before && button(w.older, () => filter({ before }, true)),
  );
}

/**
 * The player's ratings at the start of the listed rated matches of one game and clock, oldest first, and the current
 * one.
 */
function course(name: string, matches: FinishedMatch[], now: RatingInfo[]): Tree | false {
  const rated = matches.filter((match) => match.rated);
  const [newest] = rated;
  const alike = rated.filter(({ game, time }) => game === newest?.game && timeName(time) === timeName(newest.time)).reverse();
  const ratings = alike.map(({ players }) => players.find((each) => each.name === name)?.rating ?? 0).filter(Boolean);
  const [last, other] = now.filter(({ game }) => game === newest?.game);
  if (last?.rating && !other) ratings.push(last.rating); // otherwise it may be the rating of another clock
  if (!newest || ratings.length < 2) return false;
  const [least, most] = [Math.min(...ratings), Math.max(...ratings)];
  const points = ratings.map((rating, n) => [4 + (n * 292) / (ratings.length - 1), 72 - (62 * (rating - least)) / (most - least || 1)]);
  const [x, y] = points[points.length - 1]!;
  const words = f(w.ratingCourse, titleOf(newest.game), ratings[0]!, ratings[ratings.length - 1]!);
  return h(
    "figure",
    h("figcaption.quiet", words),
    h(
      "div.plot",
      h(
        "svg.chart",
        { viewBox: "0 0 300 84", role: "img", label: words },
        h("path", { d: "M0 10H300M0 72H300" }),
        h("path.area", { d: `M4 84L${points.join("L")}L${x} 84Z` }),
        h("polyline.course", { points: points.join(" ") }),
        h("circle.turn", { cx: x, cy: y, r: 4 }),
      ),
      h("span.quiet", { hidden: true }, most),
      h("span.quiet", { hidden: true }, least),
    ),
  );
}

export function leadersScreen(): Tree {
  const { game, speed, bots } = ui.leaders;
  const shown = state.leaderboard;
  const rated = CATALOGUE.filter((each) => each.rated).map(({ name }) => [name, titleOf(name)] as const);
  return framed(
    w.leaderboard,
    "ranking",
    panel(
      w.which,
      select(w.game, rated, game, (chosen) => rank({ game: chosen })),
      choices(w.clock, SPEEDS.map((each) => [each, capital(speedName(each))] as const), speed, (chosen) => rank({ speed: chosen })),
      check(capital(w.withBots), bots, (on) => rank({ bots: on })),
    ),
    shown && ranks(shown),
  );
}

/** Show other ratings, selected by the address. */
function rank(change: Partial<typeof ui.leaders>): void {
  const { game, speed, bots, page } = { ...ui.leaders, page: 1, ...change };
  go(`/#${new URLSearchParams({ leaders: game, speed, bots: bots ? "yes" : "no", page: `${page}` })}`);
}

function ranks({ leaders, you, page, pages }: LeaderboardReply): Tree {
  if (!leaders.length) return panel(w.ranks, h("p.quiet", w.noRatings));
  const turn = (words: string, to: number) => button(words, () => rank({ page: to }), "", "", { disabled: to < 1 || to > pages });
  return panel(
    w.ranks,
    you && h("p", f(w.youAreNumber, you)),
    h(
      "ol.entries",
      leaders.map(({ rank, player, games }) =>
        entry(rank, [h("span.rank", `${rank}.`), face(player)], person(player), many(w.ratedMatches, games), [h("strong.rating", ratingOf(player))]),
      ),
    ),
    pages > 1 && h("div.buttons", turn(w.higher, page - 1), turn(w.lower, page + 1)),
  );
}
