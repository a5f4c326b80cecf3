"""All errors of the package, as a tree that shows whose fault each is.

::

    TttNetError
    ├── Refusal             a request is not allowed; nothing has changed
    │   ├── StorageError    ... because the disk is full or failing; its cause is for the host
    │   │   └── UnknownOutcomeError  ... or unknown: the log of a cluster does not answer, and may have the write
    │   └── Overtaken       ... because another server wrote first; decide again
    ├── ProtocolError       the peer violated the protocol; has the close code
    ├── ConfigurationError  wrong settings: one line to stderr, exit 2
    │   └── SilentLogError  ... or bad timing: the log of a cluster does not answer; exit 75, start again
    └── EngineError         an external engine crashed, hung or sent nonsense
"""

from enum import IntEnum, StrEnum


class TttNetError(Exception):
    """The base class of all errors that this package raises intentionally."""


class Code(StrEnum):
    """The reason for a refusal: a word for programs, with its `meaning` for people."""

    meaning: str

    def __new__(cls, word: str, meaning: str) -> "Code":
        """Make a member whose value is its word, with its meaning as an attribute."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.meaning = meaning
        return member

    BAD_MESSAGE = "bad_message", "the frame is not a message of this protocol; the sentence names the place"
    TOO_FAST = "too_fast", "over the rate limit; send it again after `retry_after_ms`"
    HELLO_FIRST = "hello_first", "the first message must be `hello`, once per connection"
    BAD_PROTOCOL = "bad_protocol", "the server speaks none of the client's protocol versions"
    BAD_NAME = "bad_name", "the name is not allowed; the sentence says why, and what is"
    NAME_TAKEN = "name_taken", "the name belongs to another player or looks like theirs; choose another"
    BANNED = "banned", "the host has banned that player; the sentence says for how long, and why"
    NO_GUESTS = "no_guests", "the host allows no guests; send `hello` with a name"
    STILL_PLAYING = "still_playing", "you have an unfinished match; finish it or resign first"
    UNKNOWN_TOKEN = "unknown_token", "nobody here has that token; send `hello` with a name, and a new token if any"
    RESTARTING = "restarting", "the server is about to restart and starts nothing new; retry in a moment"
    UNKNOWN_GAME = "unknown_game", "no game has that name or size; the sentence says which exist"
    ALWAYS_CASUAL = "always_casual", "the game is never rated, or these two cannot play that rated"
    NOT_SEEKING = "not_seeking", "you have no seek to withdraw"
    UNKNOWN_SEEK = "unknown_seek", "that seek was withdrawn or paired with another player"
    NOT_WELCOME = (
        "not_welcome",
        "that seek, player or tournament accepts only others: people, bots, guests, other ratings, or anybody but you",
    )
    GUESTS_ONLY = "guests_only", "that tournament is anonymous; connect without a name and a token to enter it"
    BLOCKED = "blocked", "you have blocked that player; unblock them first"
    TOO_MANY_BLOCKED = "too_many_blocked", "you have blocked as many players as possible; unblock another first"
    TOO_MANY_MATCHES = "too_many_matches", "you play or watch as many matches as possible; finish or leave one first"
    NOT_YOURSELF = "not_yourself", "you cannot be your own opponent"
    UNKNOWN_PLAYER = "unknown_player", "nobody of that name is connected, or known here"
    UNKNOWN_CHALLENGE = "unknown_challenge", "there is no such challenge, or it was answered or has expired"
    TOO_MANY_CHALLENGES = "too_many_challenges", "as many of your challenges as possible are open"
    UNKNOWN_CODE = "unknown_code", "no invitation has that code, or it was used or has expired"
    NOT_WATCHING = "not_watching", "you play in that match, or do not watch it"
    NOT_PUBLIC = "not_public", "the match is private; only its players and people with its code may watch it"
    UNKNOWN_MATCH = "unknown_match", "no match has that id, or it ended long ago"
    NOT_SEATED = "not_seated", "only the two players of the match may do that"
    MATCH_OVER = "match_over", "the match has ended"
    MATCH_NOT_OVER = "match_not_over", "a rematch can be offered once the match has ended"
    STALE_PLY = "stale_ply", "the move was for another position; look at the latest one"
    NOT_YOUR_TURN = "not_your_turn", "the other player is to move"
    CELL_TAKEN = "cell_taken", "that cell already has a mark"
    ILLEGAL_MOVE = "illegal_move", "the move is not among the legal ones"
    GAME_FAULT = "game_fault", "the rules of a game added by the host failed; the match is over without a winner"
    BAD_NOTATION = "bad_notation", "a move, position or record could not be read; the sentence names the place"
    NOT_FINISHED = "not_finished", "the match is still being played; watch it, or come back when it has ended"
    TOO_LATE = "too_late", "both players have moved, so the match can no longer be aborted"
    OPPONENT_HERE = "opponent_here", "the opponent is here, or still has time to come back; wait `retry_after_ms`"
    ADJOURNED = "adjourned", "the match is adjourned; it continues when both players are back"
    ONLY_CASUAL = "only_casual", "only possible in casual matches"
    NO_MOVE = "no_move", "you have no move to take back"
    TOO_MANY_TAKEBACKS = "too_many_takebacks", "no more take-backs are possible in this match; play on"
    TOO_MANY_OFFERS = "too_many_offers", "you may make no more offers in this match; play on, or resign"
    NO_OFFER = "no_offer", "there is no such offer to accept or decline"
    STALE_OFFER = "stale_offer", "that offer, or its position, is gone; look at the latest one"
    TURNED_DOWN = "turned_down", "that offer was declined or withdrawn; make it again after the next move"
    OPPONENT_GONE = "opponent_gone", "the opponent has left or is busy elsewhere"
    NO_ENGINE = "no_engine", "this server does not analyse matches"
    NO_HINTS = "no_hints", "hints are for people in casual matches against bots, and the host may allow none"
    NO_PUZZLE = "no_puzzle", "there is no puzzle for that day: it is not a date, or not here yet"
    BUSY = (
        "busy",
        "too many queries wait, one reads too much, or old matches are not here yet; retry after `retry_after_ms`",
    )
    CHAT_OFF = "chat_off", "the host allows only phrases in chat"
    MUTED = "muted", "the host has muted you for now"
    FILTERED = "filtered", "the host does not allow one of the words"
    NO_TOURNAMENTS = "no_tournaments", "there are no tournaments on this server, or only its host makes them"
    UNKNOWN_TOURNAMENT = "unknown_tournament", "no tournament has that code"
    NOT_ORGANISER = "not_organiser", "only the organiser of the tournament may do that"
    NOT_IN_TOURNAMENT = "not_in_tournament", "that cannot be done in a tournament, or in one of its matches"
    BAD_TOURNAMENT = "bad_tournament", "the tournament cannot be like that, or not now; the sentence says why"
    TOURNAMENT_FULL = "tournament_full", "the tournament has as many players as may enter"
    TOURNAMENT_OVER = "tournament_over", "the tournament is over"
    STORAGE = "storage", "the server cannot write to its disk; nothing was changed; try again"
    UNKNOWN_OUTCOME = (
        "unknown_outcome",
        "it may or may not have been carried out; check before you repeat it",
    )
    NO_CONNECTION = "no_connection", "not connected, so nothing was sent; clients show this to their own users"


class Refusal(TttNetError):  # noqa: N818 - a refusal is an answer, not an error
    """A refused request; nothing has changed.

    `code` is for programs, the message for people, and `retry_after_ms` for both if waiting helps.
    """

    def __init__(self, code: Code, message: str, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after_ms = retry_after_ms


class StorageError(Refusal):
    """A refusal because the disk is full or failing, or a constraint of the schema failed; nothing has changed."""

    def __init__(self, cause: str) -> None:
        super().__init__(Code.STORAGE, "the server cannot write to its disk; nothing was changed, try again", 1_000)
        self.cause = cause
        """The cause, for the log and for admins."""


class UnknownOutcomeError(StorageError):
    """The log of a cluster has not confirmed a write in time, so the write may or may not happen.

    Connections never send it as a refusal, which would promise that nothing has changed. They close with
    `Closing.RESTART`, and the client learns the outcome when it reconnects.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(f"{cause}; it may have been written, or be written later")


UNKNOWN = "the servers have lost contact; your last request may have been carried out"
"""The close reason of connections after `UnknownOutcomeError`."""


class Overtaken(Refusal):
    """A refusal because another server wrote first, so the request has to be decided again."""

    def __init__(self) -> None:
        super().__init__(Code.STORAGE, "another change came first; nothing was changed, try again", 100)


class Advice(StrEnum):
    """The client's next step after the server closed the connection."""

    RETRY = "retry: reconnect and resume"
    LOG_IN = "log in again: connect and send `hello` first"
    REPLACED = "replaced: the same player connected from elsewhere; do not reconnect automatically"
    GIVE_UP = "give up: a retry would end the same way"


class Closing(IntEnum):
    """Close codes that the server sends, each with its `meaning` and the `advice` for the client."""

    meaning: str
    advice: Advice

    def __new__(cls, number: int, meaning: str, advice: Advice) -> "Closing":
        """Make a member whose value is its number, with its meaning and advice as attributes."""
        member = int.__new__(cls, number)
        member._value_ = number
        member.meaning = meaning
        member.advice = advice
        return member

    DONE = 1000, "the client closed the connection", Advice.GIVE_UP
    BROKEN_FRAME = 1002, "the bytes were not WebSocket frames", Advice.GIVE_UP
    NOT_TEXT = 1003, "a binary frame; the protocol is text only", Advice.GIVE_UP
    BAD_TEXT = 1007, "a text frame that is not UTF-8", Advice.GIVE_UP
    TOO_FAST = 1008, "the client kept sending after `too_fast`", Advice.GIVE_UP
    TOO_BIG = 1009, "a message of more than 4,096 bytes", Advice.GIVE_UP
    FAULT = 1011, "a server error; no acknowledged move is lost", Advice.RETRY
    RESTART = 1012, "the server restarts", Advice.RETRY
    FULL = 1013, "the server is full; players with an unfinished match are still admitted", Advice.RETRY
    REPLACED = 4001, "the same token logged in on another connection", Advice.REPLACED
    NO_HELLO = 4002, "no accepted `hello` within 10 seconds", Advice.LOG_IN
    TOO_SLOW = 4003, "the client did not read what was sent to it", Advice.RETRY
    FORGOTTEN = 4004, "the player was deleted on request; the token is void", Advice.LOG_IN
    KICKED = 4005, "the host has disconnected the player", Advice.GIVE_UP
    ENDED = 4006, "the host has closed the server", Advice.RETRY


class ProtocolError(TttNetError):
    """The peer violated the protocol; `closing` is the close code to send."""

    def __init__(self, closing: Closing, message: str) -> None:
        super().__init__(message)
        self.closing = closing


class ConfigurationError(TttNetError):
    """Wrong settings; the message is the one line that the user sees."""


class SilentLogError(ConfigurationError):
    """The log of a cluster does not answer yet, but may do so later."""


class EngineError(TttNetError):
    """An external engine gave no move: it crashed, hung or sent nonsense; the message says which."""
