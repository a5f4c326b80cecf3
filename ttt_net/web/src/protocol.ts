/** The messages of the protocol, as `make docs` writes them from the server's types; see docs/protocol.md. */

export interface AbortRequest {
  type: "abort";
  match: string;
}

export interface AcceptRequest {
  type: "accept";
  seek: number;
}

export interface AddedGame {
  name: string;
  title: string;
  rule: string;
  swap?: boolean;
  rated?: boolean;
}

export interface Adjourned {
  type: "adjourned";
  match: string;
  seq: number;
  at_ms: number;
  side: number;
  clock?: ClockInfo;
}

export interface AgreeRequest {
  type: "agree";
  match: string;
  offer: number;
}

export interface AnalyseRequest {
  type: "analyse";
  match: string;
  brief?: boolean;
}

export interface AnalysedMove {
  ply: number;
  move: number;
  value: number;
  best: string[];
  turning?: boolean;
  score?: number;
  side?: number;
  more?: number;
  sign?: string;
  text?: string;
  why?: ExplanationInfo;
  keeping?: string[];
}

export interface AnalysisReply {
  type: "analysis";
  match: string;
  moves: AnalysedMove[];
  exact: boolean;
  lesson?: MatchLesson;
  partial?: boolean;
}

export interface AnswerRequest {
  type: "answer";
  challenge: number;
  accept: boolean;
  reason?: "another_game" | "another_time" | "generic" | "later" | "no_bots";
}

export interface AttendRequest {
  type: "attend";
  tournament: string;
  on?: boolean;
  page?: number;
}

export interface AwayInfo {
  side: number;
  on_purpose: boolean;
  claim_in_ms: number;
}

export interface BlockList {
  type: "blocks";
  blocked: string[];
  muted: string[];
  everybody?: boolean;
}

export interface BlockRequest {
  type: "block";
  name: string;
  on: boolean;
  match?: string | null;
  side?: 0 | 1 | null;
}

export interface BlocksRequest {
  type: "blocks";
}

export interface ChallengeAccepted {
  type: "challengeaccepted";
  challenge: number;
}

export interface ChallengeOver {
  type: "challengeover";
  challenge: number;
  reason: "another_game" | "another_time" | "expired" | "generic" | "gone" | "later" | "no_bots";
}

export interface ChallengeRequest {
  type: "challenge";
  name: string;
  game?: string;
  time?: TimeControl | null;
  rated?: boolean;
  level?: number | null;
  start?: string | null;
  side?: 0 | 1 | null;
  or_casual?: boolean;
}

export interface Challenged {
  type: "challenged";
  challenge: number;
  by: PlayerInfo;
  to: PlayerInfo;
  game: string;
  expires_in_ms: number;
  time?: TimeControl;
  rated?: boolean;
  level?: number;
  start?: string;
}

export interface ChatRequest {
  type: "chat";
  match: string;
  text?: string | null;
  phrase?: "good_game" | "good_luck" | "hello" | "one_moment" | "oops" | "sorry" | "thanks" | "well_played" | null;
}

export interface Chatted {
  type: "chat";
  match: string;
  room: "players" | "watchers";
  by: PlayerInfo;
  text: string;
  phrase?: "good_game" | "good_luck" | "hello" | "one_moment" | "oops" | "sorry" | "thanks" | "well_played";
}

export interface ClaimRequest {
  type: "claim";
  match: string;
  kind: "adjourn" | "draw" | "win";
}

export interface ClockInfo {
  remaining_ms: [number, number];
  running: number | null;
}

export interface CounterInfo {
  name: string;
  value: number;
  goal?: number;
  side?: number;
}

export interface DeclineRequest {
  type: "decline";
  match: string;
  kind: "draw" | "rematch" | "takeback";
  offer?: number | null;
}

export interface Declined {
  type: "declined";
  match: string;
  seq: number;
  at_ms: number;
  side: number;
  kind: "draw" | "rematch" | "takeback";
}

export interface DirectRequest {
  type: "direct";
  tournament: string;
  act: "add" | "correct" | "end" | "next" | "pause" | "remove" | "resume" | "start";
  name?: string | null;
  round?: number | null;
  board?: number | null;
  result?: "0-0" | "0-1" | "1-0" | "1/2-1/2" | null;
  note?: string;
}

export interface Ended {
  type: "ended";
  match: string;
  seq: number;
  at_ms: number;
  winner: number | null;
  reason: string;
  clock?: ClockInfo;
  fault?: string;
}

export interface EnterRequest {
  type: "enter";
  tournament: string;
}

export interface ExplanationInfo {
  kind: string;
  moves?: string[];
  more?: number;
  theirs?: string[];
  more_theirs?: number;
  row?: ThreatRow;
  plies?: number;
  at_most?: boolean;
  instead?: number;
}

export interface FinishedMatch {
  match: string;
  game: string;
  at_ms: number;
  players: [PlayerInfo, PlayerInfo];
  winner: number | null;
  reason: string;
  plies: number;
  time?: TimeControl;
  rated?: boolean;
  private?: boolean;
}

export interface ForgetRequest {
  type: "forget";
  name: string;
}

export interface GameInfo {
  name: string;
  title: string;
  rule: string;
  shape: number[];
  gravity: boolean;
  move_cells: number[];
  move_names: string[];
  block?: number[];
  geometry?: GeometryInfo;
  pieces?: PieceInfo[];
  endings?: Record<string, string>;
}

export interface GeometryInfo {
  runs: [number, number, number, number][];
  cell?: string;
  step?: number;
  edges?: Record<string, string>;
}

export interface HeadToHead {
  won: number;
  drawn: number;
  lost: number;
}

export interface HelloRequest {
  type: "hello";
  protocols: number[];
  name?: string | null;
  token?: string | null;
  bot?: string | null;
  client?: string | null;
  level?: number | null;
  places?: number | null;
  reserved?: number;
  any_level?: boolean;
  on_request?: boolean;
  about?: string | null;
}

export interface HintReply {
  type: "hint";
  match: string;
  ply: number;
  kind: "move" | "warning";
  moves?: number[];
  text?: string;
  why?: ExplanationInfo;
}

export interface HintRequest {
  type: "hint";
  match: string;
  kind?: "move" | "warning";
}

export interface HistoryReply {
  type: "history";
  player: PlayerInfo;
  matches: FinishedMatch[];
  before: string | null;
}

export interface HistoryRequest {
  type: "history";
  name?: string | null;
  game?: string | null;
  before?: string | null;
}

export interface InvitationReply {
  type: "invitation";
  code: string;
  game: string;
  expires_in_ms: number;
  time?: TimeControl;
}

export interface InviteRequest {
  type: "invite";
  game?: string;
  time?: TimeControl | null;
  side?: 0 | 1 | null;
  start?: string | null;
}

export interface JoinRequest {
  type: "join";
  code: string;
}

export interface Leader {
  rank: number;
  player: PlayerInfo;
  games: number;
  deviation: number;
}

export interface LeaderboardReply {
  type: "leaderboard";
  game: string;
  speed: "blitz" | "bullet" | "rapid" | "untimed";
  page: number;
  pages: number;
  leaders: Leader[];
  you: number | null;
}

export interface LeaderboardRequest {
  type: "leaderboard";
  game: string;
  speed?: "blitz" | "bullet" | "rapid" | "untimed";
  bots?: boolean;
  page?: number;
  people?: boolean;
}

export interface LearnRequest {
  type: "learn";
  mistake: OwnMistake;
}

export interface ListedPlayer {
  name: string;
  bot?: string;
  playing?: number;
  seeking?: string[];
  level?: number;
  places?: number;
  free?: number;
  any_level?: boolean;
  about?: string;
  rating?: number;
}

export interface ListedTournament {
  tournament: string;
  name: string;
  kind: "arena" | "king" | "knockout" | "round_robin" | "swiss";
  game: string;
  time: TimeControl;
  state: "open" | "over" | "paused" | "running";
  round: number;
  rounds: number;
  players: number;
  organiser?: string;
  rated?: boolean;
  starts_in_ms?: number;
}

export interface LiveList {
  type: "live";
  count: number;
  matches: LiveMatch[];
}

export interface LiveMatch {
  match: string;
  game: string;
  players: [PlayerInfo, PlayerInfo];
  ply: number;
  watchers: number;
  time?: TimeControl;
  rated?: boolean;
  featured?: boolean;
}

export interface LobbyRequest {
  type: "lobby";
  on: boolean;
}

export interface MatchLesson {
  type: "lesson";
  ply: number | null;
  side: number | null;
  better: string[];
  text: string;
  why?: ExplanationInfo;
  follows?: string[];
}

export interface MatchesRequest {
  type: "matches";
}

export interface MistakeList {
  type: "mistakes";
  day: string;
  mistakes: OwnMistake[];
  count: number;
  page: number;
}

export interface MistakesRequest {
  type: "mistakes";
  all?: boolean;
  page?: number;
}

export interface MuteRequest {
  type: "mute";
  name: string | null;
  on: boolean;
  match?: string | null;
  side?: 0 | 1 | null;
}

export interface NoteInfo {
  kind: string;
  cells?: number[];
  text?: string;
}

export interface Notice {
  type: "notice";
  text: string;
  restart_in_ms?: number;
}

export interface OfferInfo {
  side: number;
  kind: "draw" | "rematch" | "takeback";
  seq?: number;
}

export interface OfferRequest {
  type: "offer";
  match: string;
  kind: "draw" | "rematch" | "takeback";
  ply?: number | null;
}

export interface Offered {
  type: "offered";
  match: string;
  seq: number;
  at_ms: number;
  side: number;
  kind: "draw" | "rematch" | "takeback";
}

export interface Ok {
  type: "ok";
  id: number;
}

export interface OrganiseRequest {
  type: "organise";
  name: string;
  kind: "arena" | "king" | "knockout" | "round_robin" | "swiss";
  time: TimeControl;
  game?: string;
  rounds?: number;
  rated?: boolean;
  private?: boolean;
  begin_s?: number;
  pause_s?: number | null;
  full?: number | null;
  starts_in_s?: number | null;
  minutes?: number | null;
  chat?: boolean;
  legs?: number | null;
  anonymous?: boolean;
}

export interface OutcomeInfo {
  winner: number | null;
  reason: string;
  fault?: string;
}

export interface OwnMistake {
  puzzle: OwnPuzzle;
  text?: string;
  due?: string;
  times?: number;
}

export interface OwnPuzzle {
  game: string;
  better: number[];
  moves?: number[];
  start?: string;
}

export interface PieceInfo {
  mark: string;
  name: string;
  look: string;
}

export interface PingRequest {
  type: "ping";
}

export interface PlayRequest {
  type: "play";
  match: string;
  ply: number;
  move: number;
}

export interface Played {
  type: "played";
  match: string;
  seq: number;
  at_ms: number;
  side: number;
  ply: number;
  move: number;
  refunded_ms?: number;
  clock?: ClockInfo;
  position?: Position;
}

export interface PlayedTournament {
  tournament: string;
  name: string;
  kind: "arena" | "king" | "knockout" | "round_robin" | "swiss";
  game: string;
  at_ms: number;
  place: number;
  players: number;
  over?: boolean;
  private?: boolean;
}

export interface PlayerInfo {
  name: string;
  bot?: string;
  level?: number;
  rating?: number;
  provisional?: boolean;
}

export interface PlayerList {
  type: "players";
  online: number;
  players: ListedPlayer[];
}

export interface PlayerRenamed {
  type: "playerrenamed";
  match: string;
  side: number;
  name: string;
}

export interface Position {
  ply: number;
  board: string;
  to_move: number | null;
  legal: number[];
  line: number[];
  marks: [string, string];
  blocks?: string;
  line_by?: number;
  vanishing?: number;
  target?: TargetInfo;
  takeover?: number;
  notes?: NoteInfo[];
  counters?: CounterInfo[];
}

export interface Presence {
  type: "presence";
  match: string;
  side: number;
  online: boolean;
  away?: AwayInfo;
}

export interface ProfileReply {
  type: "profile";
  player: PlayerInfo;
  since_ms: number;
  online: boolean;
  won: number;
  drawn: number;
  lost: number;
  ratings: RatingInfo[];
  against: HeadToHead | null;
  live: string[];
  blocked?: boolean;
  tournaments?: PlayedTournament[];
}

export interface ProfileRequest {
  type: "profile";
  name?: string | null;
}

export interface PuzzleReply {
  type: "puzzle";
  day: string;
  game: GameInfo;
  position: Position;
  start: string;
  kind: "own" | "save" | "win";
  plies: number;
  grade: number;
  move?: number;
  right?: boolean;
  solution?: number;
  text?: string;
  why?: ExplanationInfo;
  own?: OwnPuzzle;
  ply?: number;
  last?: number;
}

export interface PuzzleRequest {
  type: "puzzle";
  day?: string | null;
  move?: number | null;
  reveal?: boolean;
  own?: OwnPuzzle | null;
  ply?: number | null;
}

export interface Rated {
  type: "rated";
  match: string;
  ratings: [RatingChange, RatingChange];
}

export interface RatingChange {
  before: number;
  after: number;
  provisional?: boolean;
}

export interface RatingInfo {
  game: string;
  speed: "blitz" | "bullet" | "rapid" | "untimed";
  rating: number;
  deviation: number;
  games: number;
  provisional?: boolean;
}

export interface RecordReply {
  type: "record";
  match: string;
  text: string;
}

export interface RecordRequest {
  type: "record";
  match: string;
}

export interface Refused {
  type: "refused";
  id: number | null;
  code: string;
  message: string;
  retry_after_ms?: number;
}

export interface Rematched {
  type: "rematched";
  match: string;
  seq: number;
  at_ms: number;
  next: string;
}

export interface RenameRequest {
  type: "rename";
  name: string;
}

export interface Renamed {
  type: "renamed";
  you: PlayerInfo;
}

export interface ReplayReply {
  type: "replay";
  match: string;
  ply: number;
  positions: Position[];
  last: number;
  starts?: string[];
}

export interface ReplayRequest {
  type: "replay";
  match: string;
  ply?: number;
  legal?: boolean;
}

export interface ReportRequest {
  type: "report";
  name: string;
  reason?: "chat" | "cheating" | "name" | "other";
  match?: string | null;
  text?: string | null;
  side?: 0 | 1 | null;
}

export interface ResignRequest {
  type: "resign";
  match: string;
}

export interface Restarting {
  type: "restarting";
  retry_after_ms: number;
}

export interface ResumeRequest {
  type: "resume";
  match: string;
  seq: number;
}

export interface RuleExample {
  moves: string[];
  rows: string[];
  caption: string;
  game?: GameInfo;
  position?: Position;
}

export interface RulesReply {
  type: "rules";
  game: string;
  title: string;
  rule: string;
  goal: string;
  special: string;
  tips: string[];
  example: RuleExample | null;
}

export interface RulesRequest {
  type: "rules";
  game: string;
}

export interface Sanctioned {
  type: "sanctioned";
  act: "ban" | "mute";
  ends_in_ms?: number;
  reason?: string;
  lifted?: boolean;
}

export interface SeekInfo {
  seek: number;
  by: PlayerInfo;
  games: string[];
  time?: TimeControl;
  rated?: boolean;
  opponents?: "any" | "bots" | "people";
  min_rating?: number;
  max_rating?: number;
  level?: number;
  or_casual?: boolean;
}

export interface SeekList {
  type: "seeks";
  count: number;
  seeks: SeekInfo[];
}

export interface SeekRequest {
  type: "seek";
  games?: string[];
  time?: TimeControl | null;
  opponents?: "any" | "bots" | "people";
  rated?: boolean;
  min_rating?: number | null;
  max_rating?: number | null;
  level?: number | null;
  or_casual?: boolean;
}

export interface Snapshot {
  type: "snapshot";
  match: string;
  seq: number;
  game: GameInfo;
  players: [PlayerInfo, PlayerInfo];
  present: [boolean, boolean];
  moves: number[];
  position: Position;
  offers: OfferInfo[];
  you?: number;
  last?: number;
  time?: TimeControl;
  clock?: ClockInfo;
  outcome?: OutcomeInfo;
  adjourned?: boolean;
  private?: boolean;
  watchers?: number;
  away?: AwayInfo;
  previous?: string;
  next?: string;
  rated?: boolean;
  score?: [number, number];
  code?: string;
  start?: string;
  tournament?: TournamentPlace;
}

export interface Started {
  type: "started";
  match: string;
  seq: number;
  at_ms: number;
  game: string;
  players: [PlayerInfo, PlayerInfo];
  time?: TimeControl;
  previous?: string;
  private?: boolean;
  rated?: boolean;
  score?: [number, number];
  code?: string;
  start?: string;
  tournament?: TournamentPlace;
  rules?: number;
}

export interface StudyReply {
  type: "study";
  number: number;
  count: number;
  side: 0 | 1;
  snapshot: Snapshot;
  positions: Position[];
  moves: AnalysedMove[];
}

export interface StudyRequest {
  type: "study";
  number?: number | null;
}

export interface Suggestion {
  type: "suggestion";
  bots: ListedPlayer[];
}

export interface TargetInfo {
  board: number;
  name: string;
}

export interface ThreatRow {
  marks: number;
  run?: boolean;
  open?: boolean;
  cells?: number[];
}

export interface TimeControl {
  initial_ms: number;
  increment_ms?: number;
  per_move?: boolean;
}

export interface Tookback {
  type: "tookback";
  match: string;
  seq: number;
  at_ms: number;
  side: number;
  ply: number;
  clock?: ClockInfo;
  position?: Position;
}

export interface TournamentBoard {
  board: number;
  first: string;
  second?: string;
  match?: string;
  result?: "0-0" | "0-1" | "1-0" | "1/2-1/2";
  corrected?: boolean;
  forfeit?: boolean;
  void?: boolean;
  legs?: number[];
}

export interface TournamentList {
  type: "tournaments";
  count: number;
  tournaments: ListedTournament[];
}

export interface TournamentPlace {
  tournament: string;
  round: number;
  board: number;
}

export interface TournamentReply {
  type: "tournament";
  tournament: string;
  seq: number;
  name: string;
  kind: "arena" | "king" | "knockout" | "round_robin" | "swiss";
  game: string;
  time: TimeControl;
  state: "open" | "over" | "paused" | "running";
  round: number;
  rounds: number;
  players: number;
  page: number;
  pages: number;
  tie_breaks: string[];
  standings: TournamentStanding[];
  boards: TournamentBoard[];
  open_boards: number;
  organiser?: string;
  rated?: boolean;
  private?: boolean;
  ended?: string;
  starts_in_ms?: number;
  next_in_ms?: number;
  ends_in_ms?: number;
  waiting?: string[];
  full?: number;
  anonymous?: boolean;
}

export interface TournamentStanding {
  place: number;
  player: string;
  score: number;
  breaks?: number[];
  gone?: boolean;
  streak?: number;
}

export interface TournamentsRequest {
  type: "tournaments";
  on?: boolean | null;
}

export interface UnseekRequest {
  type: "unseek";
}

export interface UnwatchRequest {
  type: "unwatch";
  match: string;
}

export interface WatchRequest {
  type: "watch";
  match: string;
  code?: string | null;
}

export interface Watching {
  type: "watching";
  match: string;
  watchers: number;
}

export interface Welcome {
  type: "welcome";
  protocol: number;
  server: string;
  you: PlayerInfo;
  matches: string[];
  token?: string;
  seek?: SeekInfo;
  chat?: boolean;
  features?: string[];
  nodes?: string[];
  games?: AddedGame[];
}

export interface WhoRequest {
  type: "who";
}

export interface WithdrawRequest {
  type: "withdraw";
  tournament: string;
}

export type Request =
  | HelloRequest
  | SeekRequest
  | UnseekRequest
  | AcceptRequest
  | ChallengeRequest
  | AnswerRequest
  | InviteRequest
  | JoinRequest
  | PlayRequest
  | ResignRequest
  | AbortRequest
  | OfferRequest
  | AgreeRequest
  | DeclineRequest
  | ClaimRequest
  | ResumeRequest
  | LobbyRequest
  | MatchesRequest
  | WatchRequest
  | UnwatchRequest
  | ChatRequest
  | MuteRequest
  | BlockRequest
  | BlocksRequest
  | ReportRequest
  | WhoRequest
  | RenameRequest
  | ForgetRequest
  | ProfileRequest
  | HistoryRequest
  | LeaderboardRequest
  | RulesRequest
  | ReplayRequest
  | RecordRequest
  | AnalyseRequest
  | HintRequest
  | PuzzleRequest
  | LearnRequest
  | MistakesRequest
  | StudyRequest
  | OrganiseRequest
  | TournamentsRequest
  | AttendRequest
  | EnterRequest
  | WithdrawRequest
  | DirectRequest
  | PingRequest;

export type ServerMessage =
  | Ok
  | Refused
  | Welcome
  | Snapshot
  | Started
  | Played
  | Tookback
  | Offered
  | Declined
  | Adjourned
  | Ended
  | Rematched
  | Presence
  | PlayerRenamed
  | Watching
  | Chatted
  | Challenged
  | ChallengeAccepted
  | ChallengeOver
  | InvitationReply
  | SeekList
  | LiveList
  | PlayerList
  | Rated
  | Suggestion
  | Renamed
  | ProfileReply
  | HistoryReply
  | LeaderboardReply
  | RulesReply
  | ReplayReply
  | RecordReply
  | BlockList
  | TournamentList
  | TournamentReply
  | AnalysisReply
  | HintReply
  | PuzzleReply
  | MistakeList
  | StudyReply
  | Restarting
  | Sanctioned
  | Notice;
