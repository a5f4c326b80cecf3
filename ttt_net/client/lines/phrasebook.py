"""Find the command that a typed line means, where there are only lines."""

from difflib import get_close_matches

from ttt_net.client.commands import AnyCommand, Command, Move, Send, Step
from ttt_net.client.display import Display
from ttt_net.client.labels import name_of
from ttt_net.client.screens.board_play import PHRASES, chat, phrase_in_words, phrase_of, quick_moves
from ttt_net.client.screens.coaching import WORDS as OF_COACHING
from ttt_net.client.screens.offers import challenges
from ttt_net.client.screens.registry import WORDS
from ttt_net.client.screens.replay import REPLAY_WORDS as OF_A_REPLAY
from ttt_net.client.screens.replay import WORDS as OF_A_FINISHED_MATCH
from ttt_net.client.screens.rules import asked_for
from ttt_net.client.screens.screen import Meaning
from ttt_net.messages import AnswerRequest, ClaimKind, SeekRequest
from ttt_net.text import clean

MAX_SAID_CELLS = 140
MAX_WORD_CELLS = 20
OF_A_MATCH: dict[str, AnyCommand] = {
    "rematch": Command.REMATCH,
    "resign": Command.RESIGN,
    "draw": Command.DRAW,
    "takeback": Command.TAKE_BACK,
    "mute": Command.MUTE,
    **OF_COACHING,
    **OF_A_FINISHED_MATCH,
}
"""What means nothing before there is a match; `say` and the claims do not either."""
_LEAVING = ("quit", "q", "exit", "leave", "bye")
_RULES = ("rules", "?")
_OTHERS = ("rules", "accept", "decline", "new", "say", "help", "repeat", "board", "info", "choose", "more")
_ACCEPTED = {"rematch": Command.REMATCH, "draw": Command.DRAW, "takeback": Command.TAKE_BACK}
"""The commands that accept an offer: an offer of the same kind accepts the opponent's."""
CLAIMS: dict[str, ClaimKind] = {"claim": "win", "claim win": "win", "claim draw": "draw", "adjourn": "adjourn"}


def word_of(line: str) -> str:
    """Return the line as a word."""
    return clean(line, MAX_WORD_CELLS).lower()


def command_of(line: str, display: Display, wanted: SeekRequest) -> Meaning:
    """Return what a line means; `wanted` is what was sought last, and is sought again where no more is said."""
    word, _, rest = clean(line, 2 * MAX_SAID_CELLS).partition(" ")
    word, rest, whole = word.lower(), rest.strip(), word_of(line)
    if display.page.screen == "replay" and (step := _step(whole, display.page.ply)) is not None:
        return step
    if word in _RULES:
        return asked_for(display, display.world.seeking or wanted, rest)
    if word in WORDS:
        return WORDS[word](display, wanted, rest) if display.has_lobby else "There is no lobby here."
    match word:
        case "":
            return None
        case "new":
            return Command.NEW
        case "accept" | "decline":
            return _answered(display, rest, is_accepted=word == "accept")
        case "say":
            return _said(display, rest)
        case _ if whole in _LEAVING:
            return Command.LEAVE
        case _:
            return OF_A_MATCH.get(whole) or (
                Move(whole) if _is_like_a_move(whole, display) else _unknown(whole, display)
            )


def _step(word: str, ply: int) -> AnyCommand | None:
    """Return how a word leads on in a replay, which is after so many moves; a number leads to after that move."""
    is_number = word.isdecimal() and word.isascii()
    return Step(int(word) - ply) if is_number else OF_A_REPLAY.get(word)


def _said(display: Display, text: str) -> AnyCommand | str:
    """Return the chat message of a line: one of the phrases, or where the host lets people write, any words."""
    phrase = phrase_of(text)
    said = chat(display, phrase=phrase) if phrase is not None else chat(display, text=clean(text, MAX_SAID_CELLS))
    if not said:
        return "Type say and your words, while there is a match."
    if phrase is None and not (text and display.world.may_write):
        words = "your words, or " if display.world.may_write else ""
        return f"Type say and {words}one of these: {', '.join(map(phrase_in_words, PHRASES))}."
    return Send(said[0])


def _is_like_a_move(word: str, display: Display) -> bool:
    """Tell whether a word may be a move; as long as nobody has told which there are, whatever has a digit may."""
    if display.match is None:
        return word == "swap" or any(map(str.isdecimal, word))
    is_named = word in (name.lower() for name in display.match.game.move_names)
    return is_named or (word.isdecimal() and bool(quick_moves(display.match)))


def _unknown(word: str, display: Display) -> AnyCommand | str:
    """Return the nearest word to a typed one; where there is none, and it is our turn, which moves there are."""
    if word in OF_A_REPLAY:
        return f"{word} is for a replay; once a match is over, replay begins one."
    steps = OF_A_REPLAY if display.page.screen == "replay" else ()
    near = get_close_matches(word, (*OF_A_MATCH, *CLAIMS, *_LEAVING, *_OTHERS, *WORDS, *steps), n=1)
    if near:
        return f"{word} is no word here; did you mean {near[0]}?"
    return Move(word) if display.may_move else f"{word} is no word here; help tells which there are."


def _answered(display: Display, name: str, *, is_accepted: bool) -> AnyCommand | str:
    """Answer what waits for an answer: an offer in the match first, then the oldest challenge, or that of a player."""
    offers = display.match.offers if display.match is not None and not name else []
    theirs = next((offer for offer in offers if display.match is not None and offer.side != display.match.you), None)
    if is_accepted and theirs is not None:
        return _ACCEPTED[theirs.kind]
    if not is_accepted and offers:
        return Command.DECLINE
    waiting = challenges(display, is_ours=False)
    chosen = next((each for each in waiting if not name or name_of(each.by).lower() == name.lower()), None)
    if chosen is None:
        return "Nothing waits for your answer."
    return Send(AnswerRequest(0, challenge=chosen.challenge, accept=is_accepted))
