"""Declare all errors, as a tree that says whose fault each is.

::

    TttNetError
    ├── Refusal             the peer asked for what it may not; nothing has changed
    │   ├── StorageError    ... because the disk is full or failing; its cause is for the host
    │   │   └── UnknownOutcomeError  ... or no refusal at all: the log of a cluster does not answer, and may have it
    │   └── Overtaken       ... because what another server wrote came first; it has to be decided anew
    ├── ProtocolError       the peer broke the language; carries the close code it earned
    ├── ConfigurationError  we were started wrongly: one line to stderr, exit 2
    │   └── SilentLogError  ... or at the wrong time: the log of a cluster does not answer; exit 75, start it again
    └── EngineError         a program of others, which was to choose a move, crashed, hung or said nonsense
"""

from enum import IntEnum, StrEnum


class TttNetError(Exception):
    """The root of all that this package raises on purpose."""


class Code(StrEnum):
    """Why a request was refused: a word for programs, with its `meaning` for people."""

    meaning: str

    def __new__(cls, word: str, meaning: str) -> "Code":
        """Make a member that is its word and carries its meaning."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.meaning = meaning
        return member

    BAD_MESSAGE = "bad_message", "the frame is not a message of this protocol; the sentence names the place"
    TOO_FAST = "too_fast", "more messages than the limit; send it again after `retry_after_ms`"
    HELLO_FIRST = "hello_first", "the first message must be `hello`, and there is one `hello` per connection"
    BAD_PROTOCOL = "bad_protocol", "none of the protocol versions that the client speaks is spoken here"
    BAD_NAME = "bad_name", "the name may not be taken; the sentence says why, and what is allowed"
    NAME_TAKEN = "name_taken", "the name belongs to another player, or looks like theirs; choose another"
    BANNED = "banned", "the host does not let that player in; the sentence says for how long, and why"
    NO_GUESTS = "no_guests", "the host lets nobody play without a name; say `hello` with one"
    STILL_PLAYING = "still_playing", "a match of yours is not over; finish it or resign first"
    UNKNOWN_TOKEN = "unknown_token", "nobody here has that token; say `hello` with a name, and a new token if any"
    RESTARTING = "restarting", "the server is about to restart and starts nothing new; come back in a moment"
    UNKNOWN_GAME = "unknown_game", "no game of that name or size; the sentence says what there is"
    ALWAYS_CASUAL = "always_casual", "the game is never rated, or what is asked for cannot be between those two"
    NOT_SEEKING = "not_seeking", "there is no seek of yours to take back"
    UNKNOWN_SEEK = "unknown_seek", "there is no such seek any more: taken back, or paired with another"
    NOT_WELCOME = (
        "not_welcome",
        "that seek or player is for others: for people, for bots, for another range of ratings, or not for you",
    )
    BLOCKED = "blocked", "you have blocked that player; end the block first"
    TOO_MANY_BLOCKED = "too_many_blocked", "as many players as one may block; end another block first"
    TOO_MANY_MATCHES = "too_many_matches", "as many matches as one may play, or hear; finish or leave one first"
    NOT_YOURSELF = "not_yourself", "you cannot be your own opponent"
    UNKNOWN_PLAYER = "unknown_player", "nobody of that name is connected, or known here"
    UNKNOWN_CHALLENGE = "unknown_challenge", "there is no such challenge, or it has been answered or has expired"
    TOO_MANY_CHALLENGES = "too_many_challenges", "as many of your challenges as may wait at a time"
    UNKNOWN_CODE = "unknown_code", "no invitation has that code, or it was used or has expired"
    NOT_WATCHING = "not_watching", "you play in that match, or do not watch it"
    NOT_PUBLIC = "not_public", "the match is private: only its players see it, and those who have its code"
    UNKNOWN_MATCH = "unknown_match", "no match of that id, or it ended long ago"
    NOT_SEATED = "not_seated", "only the two players of the match may do that"
    MATCH_OVER = "match_over", "the match has ended"
    MATCH_NOT_OVER = "match_not_over", "a rematch can be offered once the match has ended"
    STALE_PLY = "stale_ply", "the move was meant for another position; look at the newest one"
    NOT_YOUR_TURN = "not_your_turn", "the other player is to move"
    CELL_TAKEN = "cell_taken", "there is a mark in that cell already"
    ILLEGAL_MOVE = "illegal_move", "the move is not among the legal ones"
    GAME_FAULT = "game_fault", "the rules of a game that the host has added failed; its match is over without a winner"
    BAD_NOTATION = "bad_notation", "a move, position or record could not be read; the sentence names the place"
    NOT_FINISHED = "not_finished", "the match is still being played; watch it, or come back when it has ended"
    TOO_LATE = "too_late", "both players have moved, so the match can no longer be aborted"
    OPPONENT_HERE = "opponent_here", "the other player is here, or still has time to come back; wait `retry_after_ms`"
    ADJOURNED = "adjourned", "the match is adjourned; it goes on when both players are back"
    ONLY_CASUAL = "only_casual", "that can be done in casual matches only"
    NO_MOVE = "no_move", "you have no move that could be taken back"
    TOO_MANY_TAKEBACKS = "too_many_takebacks", "as many moves were taken back as may be in one match; play on"
    TOO_MANY_OFFERS = "too_many_offers", "as many offers as one player may make in a match; play on, or resign"
    NO_OFFER = "no_offer", "there is no such offer to accept or decline"
    STALE_OFFER = "stale_offer", "that offer, or the position that it was made in, is gone; look at the newest one"
    TURNED_DOWN = "turned_down", "that offer was turned down or taken back; it can be made again after the next move"
    OPPONENT_GONE = "opponent_gone", "the other player has left or is busy elsewhere"
    NO_ENGINE = "no_engine", "this server analyses no matches"
    NO_HINTS = "no_hints", "hints are for people who play a bot casually, and the host may give none"
    NO_PUZZLE = "no_puzzle", "there is no puzzle of that day: it is no date, or has not come yet"
    BUSY = (
        "busy",
        "as many questions wait as may, or one reads too much; ask again after `retry_after_ms`",
    )
    CHAT_OFF = "chat_off", "players write nothing to one another here; the phrases can be said"
    MUTED = "muted", "the host lets you say nothing for a while"
    FILTERED = "filtered", "a word that the host does not want said here"
    BAD_TOURNAMENT = "bad_tournament", "the tournament cannot be like that, or not now; the sentence says why"
    TOURNAMENT_FULL = "tournament_full", "the tournament has as many players as may enter"
    TOURNAMENT_OVER = "tournament_over", "the tournament is over"
    STORAGE = "storage", "the server cannot write to its disk; nothing was changed; try again"
    UNKNOWN_OUTCOME = (
        "unknown_outcome",
        "it may have been carried out or not; look how things stand before you repeat it",
    )
    NO_CONNECTION = "no_connection", "there is no connection, so nothing was sent; clients say this to their own users"


class Refusal(TttNetError):  # noqa: N818 - a refusal is an answer, not a fault
    """A request that is answered with no; nothing has changed.

    `code` is for programs, the message for people, `retry_after_ms` for both where waiting helps.
    """

    def __init__(self, code: Code, message: str, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after_ms = retry_after_ms


class StorageError(Refusal):
    """A refusal because the disk is full or failing, or because a law of the schema was broken; nothing has changed."""

    def __init__(self, cause: str) -> None:
        super().__init__(Code.STORAGE, "the server cannot use its disk; nothing was changed, try again", 1_000)
        self.cause = cause
        """The cause, for the log and for admins."""


class UnknownOutcomeError(StorageError):
    """The log of a cluster has not said for long whether it has what was written, so it may happen or not.

    Connections never send this one as a refusal, which would promise that nothing has changed. They close with
    `Closing.RESTART`, and the client learns what happened when it comes back.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(f"{cause}; it may have been done, or be done later")


UNKNOWN = "the servers have lost touch; what you asked for last may have happened"
"""The reason with which a connection is closed after `UnknownOutcomeError`."""


class Overtaken(Refusal):
    """A refusal because what another server wrote came first: what was decided has to be decided anew."""

    def __init__(self) -> None:
        super().__init__(Code.STORAGE, "something else happened first; nothing was changed, try again", 100)


class Advice(StrEnum):
    """The client's next step after the server closed the connection."""

    RETRY = "retry: connect again and resume"
    LOG_IN = "log in again: connect and say `hello` as the first thing"
    REPLACED = "replaced: the same player connected from elsewhere; do not come back by yourself"
    GIVE_UP = "give up: the same again would end the same way"


class Closing(IntEnum):
    """Close codes that the server sends, each with its `meaning` and the `advice` for the client."""

    meaning: str
    advice: Advice

    def __new__(cls, number: int, meaning: str, advice: Advice) -> "Closing":
        """Make a member that is its number and carries its meaning and advice."""
        member = int.__new__(cls, number)
        member._value_ = number
        member.meaning = meaning
        member.advice = advice
        return member

    DONE = 1000, "the client said that it was done", Advice.GIVE_UP
    BROKEN_FRAME = 1002, "the bytes were not WebSocket frames", Advice.GIVE_UP
    NOT_TEXT = 1003, "a binary frame; the protocol is text only", Advice.GIVE_UP
    BAD_TEXT = 1007, "a text frame that is not UTF-8", Advice.GIVE_UP
    TOO_FAST = 1008, "went on sending after `too_fast`", Advice.GIVE_UP
    TOO_BIG = 1009, "a message of more than 4,096 bytes", Advice.GIVE_UP
    FAULT = 1011, "a fault in the server; no acknowledged move is lost", Advice.RETRY
    RESTART = 1012, "the server restarts", Advice.RETRY
    FULL = 1013, "the server is full; players with an unfinished match are let in", Advice.RETRY
    REPLACED = 4001, "the same token said `hello` from another connection", Advice.REPLACED
    NO_HELLO = 4002, "no accepted `hello` within 10 seconds", Advice.LOG_IN
    TOO_SLOW = 4003, "the client did not read what was sent to it", Advice.RETRY
    FORGOTTEN = 4004, "the player was forgotten, as they had asked; the token is good for nothing now", Advice.LOG_IN
    KICKED = 4005, "the host of the server has sent the player away", Advice.GIVE_UP
    ENDED = 4006, "the host has closed the server", Advice.RETRY


class ProtocolError(TttNetError):
    """The peer broke the language; `closing` is the close code that it earned."""

    def __init__(self, closing: Closing, message: str) -> None:
        super().__init__(message)
        self.closing = closing


class ConfigurationError(TttNetError):
    """We were started wrongly; the message is the one line that the user sees."""


class SilentLogError(ConfigurationError):
    """The log of a cluster does not answer, which it may do later."""


class EngineError(TttNetError):
    """A program of others gave no move: it crashed, hung, or said what cannot be; the message says which."""
