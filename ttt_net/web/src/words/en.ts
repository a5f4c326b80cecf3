/** The sentences of the page in English. In another language what is left out here is English. */

import type { enMore } from "./en-more.js";

/** The sentences by their names; where one depends on a number, one for each plural category of the language. */
export type Words = typeof en & typeof enMore;

export const en = {
  strength: "Strength, from 1 to 8",
  playComputer: "Play the computer",
  computer: "The computer",
  tapToBegin: "Tap a cell to start.",
  noBotHere: "No bot is free for this game. Find a person, or play with two on this device.",
  // Signs between words.
  comma: ", ",
  or: " or ",
  stop: ".",

  // The link.
  noConnection: "no connection; try again",
  unknownOutcome: "the connection dropped before the server answered; look before you try again",
  noAnswer: "the server does not answer",
  offlineHere: "this device is offline",
  serverRestarts: "the server is restarting",
  linkCut: "the connection dropped",
  serverClosed: "the host has closed the server",
  reconnecting: "Reconnecting: {0}.",
  matchIsSafe: "Your match is safe.",
  restartsAt: "{0} The server restarts at {1}. No new matches start until then.",
  silent: "The server does not answer or is full. Trying again …",
  linkWords: { offline: "offline", fast: "fast", good: "good", slow: "slow" } as Record<string, string>,

  // The first screen.
  family: "Tic-tac-toe and its family",
  youAreInvited: "You are invited to play",
  invitesYou: "{0} invites you",
  comeAndWatch: "Come and watch",
  playPeople: "Play other people",
  whatName: "Choose a name",
  play: "Play",
  asGuest: "Play as a guest",
  inviteFriend: "Invite a friend",
  noAccount: "No account, no password: this browser remembers you.",
  unknownHere: "This server does not know you. Choose a name.",
  forgotten: "Your name and ratings were deleted.",
  otherWindow: "You are playing in another tab",
  oneWindow: "Only one tab can be active.",
  playHere: "Play here",
  playApart: "Play here under another name",
  playApartMeans: "Both tabs are active then, each under its own name.",
  nameSign: "A name cannot contain “{0}”.",
  nameStart: "A name must begin with a letter or a digit.",
  nameScripts: "All letters must be of one script.",
  nameLong: "At most {0} letters; wide letters count twice.",
  nameShort: "At least {0} letters.",
  ended: "The connection was closed",
  saidNo: "the server refused the connection",
  tryAgain: "Try again",
  joining: "Joining …",
  oneMoment: "One moment …",
  toTheLobby: "To the lobby",
  nothingHere: "There is nothing at this address",
  onThisDevice: "Two on this device",

  // The lobby.
  toLobby: "‹ Lobby",
  newMatch: "New match",
  game: "Game",
  noClock: "no clock",
  perMove: "{0} s per move",
  rated: "rated",
  ratedOrCasual: "rated or casual",
  anySize: "Any size",
  ruleOfSize: "{0} in a row on a {1} board wins",
  ruleOfFalling: "marks fall; {0} in a row on a {1} board wins",
  rowOf: "{0} in a row on {1}",
  connectOf: "Connect {0} on {1}",
  withSwap: "{0} with swap",
  anyGame: "any game",
  invitation: "Invitation",
  copyThis: "Copy this link:",
  level: "level {0}",
  nameOfBot: "{0} (bot)",
  leaderboard: "Leaderboard",

  // Challenges.
  challengeOver: "The challenge was not accepted: {0}.",
  declineReasons: {
    later: "not now",
    generic: "no, thank you",
    another_game: "another game",
    another_time: "another clock",
    no_bots: "no bots",
    expired: "no answer came in time",
    gone: "the other player left",
  } as Record<string, string>,

  // A match.
  board: "Board",
  layer: "Layer {0}",
  placeOnBoard: "row {0} column {1}",
  placeInLayer: "layer {0} row {1} column {2}",
  empty: "empty",
  onTheWay: "{0}, sending",
  notInPlay: "not in play",
  lastMove: "last move",
  winningLine: "winning line",
  losingLine: "losing line",
  vanishesNext: "vanishes with the next move",
  yourTurnPlace: "Your turn: place {0}.",
  yourTurnTitle: "Your turn",
  yourTurnAgainst: "Your turn against {0}",
  theirTurn: "{0}’s turn.",
  thinking: "{0} is thinking …",
  onItsWay: "Sending your move {0} …",
  adjournedNow: "Adjourned. The match continues when both players are here.",
  markAt: "{0} on {1}",
  matchAgainst: "{0} against {1}.",

  // Chat.
  youAreMuted: "The host has muted you {0}. Nobody sees what you write, and you can keep playing.",
  youAreBanned: "The host has banned you {0}: you cannot play on this server.",
  untilThen: "until {0}",
  forGood: "for good",
  theReason: "Reason: {0}",
  heardAgain: "Others can see what you write again.",

  // People.

  // Settings.
  settings: "Settings",
  close: "Close",

  // Games, by their names; what is not here is as the server says it.
  titles: {} as Record<string, string>,
  rules: {} as Record<string, string>,
  puzzleOfDay: "Puzzle of the day",
};
