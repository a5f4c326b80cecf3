"""Decide which players may meet: match limits, places of bots, guests, addresses."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games import game_name
from ttt_net.games.rules import is_always_casual, never_rated
from ttt_net.pairing.seeks import Opponents, Seek
from ttt_net.server.online_players import Session
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.room import MatchRoom
from ttt_net.server.services import Services

BOT_PLACES = 2
"""Places of bots that the people of one address may always hold."""
MAX_WAITING_LOOKED_AT = 200
"""The number of seeks to examine for somebody who waits for a bot."""


def _could_play(bot: Session, seek: Seek) -> bool:
    is_game = bot.plays is not None and (not bot.plays or not seek.games or not set(bot.plays).isdisjoint(seek.games))
    return is_game and (not seek.is_rated or seek.or_casual)


class Eligibility:
    """Checks that raise `Refusal`, and change nothing."""

    def __init__(self, services: Services, rooms: Mapping[str, MatchRoom]) -> None:
        self._services = services
        self._rooms = rooms
        self.standing: Callable[[], Iterable[Seek]] = tuple
        """Returns the open seeks."""

    def occupied(self, session: Session) -> int:
        """Return how many running or starting matches keep a player busy. Adjourned ones do not count."""
        rooms = (self._rooms.get(match_id) for match_id in session.live)
        going_on = sum(room is None or not room.is_adjourned for room in rooms)
        return self._services.players.starting[session.player] + going_on

    def may_meet(self, one: Session, other: Session) -> None:
        """Refuse unless both may play one more match, against each other."""
        self.may_play(one, against_bot=other.is_bot)
        try:
            self.may_play(other, against_bot=one.is_bot)
        except Refusal:
            if other.is_bot and not one.is_bot:
                self._services.players.bot_places.turn_away(one.connection.metered_as, self._services.now_ms())
            raise
        self.must_leave_places(one, other)

    def may_ask(self, asker: Session, other: Session) -> None:
        """Refuse a request to play if one of the two has blocked the other. Only the blocker learns of the block."""
        players = self._services.players
        if players.has_blocked(asker.player, other.player):
            raise Refusal(Code.BLOCKED, f"you have blocked {other.info.name}; unblock them to play")
        if players.has_blocked(other.player, asker.player):
            raise Refusal(Code.NOT_WELCOME, f"{other.info.name} does not want to play now; ask somebody else")

    def must_leave_places(self, one: Session, other: Session) -> None:
        """Refuse a person's match against a bot if their address holds enough places of bots.

        An address always has `BOT_PLACES`. It may have half of all places while nobody of another address waits, with a
        seek that this bot could play, or after a recent refusal of a busy bot.
        """
        if one.is_bot == other.is_bot:
            return
        person, bot = (other, one) if one.is_bot else (one, other)
        address = person.connection.metered_as
        if address is None:
            return
        held = self._services.players.bot_places.held_by(address)
        if held < BOT_PLACES:
            return
        places = sum(each.places or 0 for each in self._services.players.bots)
        if held >= places // 2 or self._others_wait(address, bot):
            sentence = f"players of your address hold {held} places of bots, and others need some; end a match first"
            raise Refusal(Code.TOO_MANY_MATCHES, sentence, 5_000)

    def _others_wait(self, address: str, bot: Session) -> bool:
        players = self._services.players
        if players.bot_places.others_were_turned_away(address, self._services.now_ms()):
            return True
        for seek in islice(self.standing(), MAX_WAITING_LOOKED_AT):
            is_other = players.sessions[seek.player].connection.metered_as != address
            if is_other and not seek.is_bot and seek.opponents != "people" and _could_play(bot, seek):
                return True
        return False

    def may_look(self, session: Session) -> None:
        """For a while, refuse another match with a stranger to a person who has recently aborted many matches."""
        wait_ms = self._services.aborts.wait_ms(session.player, self._services.now_ms())
        if wait_ms and not session.is_bot:
            sentence = f"you have aborted several matches; the next one can begin in {-(-wait_ms // 1000)} s"
            raise Refusal(Code.TOO_FAST, sentence, wait_ms)

    def may_play(self, session: Session, *, against_bot: bool) -> None:
        """Refuse unless the player may play one more match."""
        self._services.shutdown.check()
        if session.player in self._services.players.leaving:
            raise Refusal(Code.UNKNOWN_PLAYER, f"{session.info.name} is about to be forgotten here")
        self._services.disk.may_begin()
        self._services.rate_limiter.check("matches", session.player)
        self._services.rate_limiter.check_share("writes", session.connection.metered_as)
        self._services.rate_limiter.may_write(session.connection.metered_as, is_new=True)
        live = len(session.live) + self._services.players.starting[session.player]
        if live >= self._services.limits.max_live_matches:
            raise Refusal(
                Code.TOO_MANY_MATCHES, f"{session.info.name} has {live} unfinished matches; one has to end first"
            )
        if session.places is None:
            return
        free = self._free_places(session)
        if free <= 0:
            raise Refusal(
                Code.TOO_MANY_MATCHES, f"{session.info.name} plays at most {session.places} at once, and is busy", 5_000
            )
        if against_bot and session.reserved >= session.places:
            raise Refusal(Code.NOT_WELCOME, f"{session.info.name} plays people only")
        if against_bot and free <= session.reserved:
            raise Refusal(Code.TOO_MANY_MATCHES, f"{session.info.name} keeps its free places for people", 5_000)

    def _free_places(self, bot: Session) -> int:
        assert bot.places is not None, "a bot has places"
        return bot.places - self.occupied(bot)

    def must_be_ratable(self, session: Session, games: tuple[str, ...]) -> None:
        """Refuse a rated match that cannot be rated."""
        if session.is_guest:
            raise Refusal(Code.ALWAYS_CASUAL, f"{session.info.name} is a guest; `rename` first, to play for ratings")
        if not games:
            raise Refusal(Code.ALWAYS_CASUAL, "a rated seek names its games; not all are rated")
        rated = self._services.configuration.games.rated
        for game in (each for each in games if is_always_casual(each, rated)):
            raise Refusal(Code.ALWAYS_CASUAL, never_rated(game))

    def may_be_rated(self, sessions: Sequence[Session], games: tuple[str, ...]) -> bool:
        """Tell whether one or two players who also accept casual matches may play these games for ratings.

        A person and a bot then play casually, so a bot that seeks rated matches with bots changes no person's rating.
        """
        try:
            for session in sessions:
                self.must_be_ratable(session, games)
        except Refusal:
            return False
        if len(sessions) == 1:
            return True
        return self.are_rivals(*(session.player for session in sessions))

    def are_rivals(self, one: PlayerId, other: PlayerId) -> bool:
        """Tell whether two players are both people or both bots, and may play a rated match."""
        sessions = self._services.players.sessions
        return sessions[one].is_bot == sessions[other].is_bot and self.are_elsewhere(one, other)

    def may_be_paired(self, one: Seek, other: Seek) -> bool:
        """Tell whether two players may play the match that both seek."""
        if self._services.aborts.are_apart(one.player, other.player, self._services.now_ms()):
            return False
        if self._services.players.have_blocked(one.player, other.player):
            return False
        is_rated = one.is_rated and other.is_rated and not (one.or_casual and other.or_casual)
        if is_rated and (one.or_casual or other.or_casual) and one.is_bot != other.is_bot:
            return False  # one wants a rated match, which the other wants only with its own kind
        may_both = self._suits(one, other) and self._suits(other, one) and self._leaves_places(one, other)
        return may_both and (not is_rated or self.are_elsewhere(one.player, other.player))

    def _leaves_places(self, one: Seek, other: Seek) -> bool:
        """Tell whether pairing two seeks leaves other addresses their places of bots; record a refused person."""
        players = self._services.players
        try:
            self.must_leave_places(players.sessions[one.player], players.sessions[other.player])
        except Refusal:
            if len(players.bot_places.held_back) < MAX_WAITING_LOOKED_AT:
                players.bot_places.held_back[other.player if one.is_bot else one.player] = None
            return False
        return True

    def _suits(self, one: Seek, other: Seek) -> bool:
        """Tell whether a bot's seek suits the other player, at the requested level, and has a place; other seeks do."""
        if not one.is_bot:
            return True
        bot = self._services.players.sessions[one.player]
        is_asked = not bot.on_request or other.opponents == "bots"
        is_of_level = other.level is None or bot.any_level or bot.info.level == other.level
        return is_asked and is_of_level and self._has_place(bot, other)

    def must_play_at(self, one: Session, other: Session, level: int | None, *, is_rated: bool) -> None:
        """Raise `Refusal` unless one of two players plays at the requested level, casually."""
        if level is None:
            return
        bot = next((each for each in (other, one) if each.is_bot), None)
        if bot is None:
            raise Refusal(Code.NOT_WELCOME, f"{other.info.name} is a person; only bots are asked for a level")
        if not bot.any_level and bot.info.level != level:
            own = "as it does" if bot.info.level is None else f"at level {bot.info.level}"
            raise Refusal(Code.NOT_WELCOME, f"{bot.info.name} plays {own} alone")
        self.must_be_casual(level, is_rated=is_rated)

    def must_be_casual(self, level: int | None, *, is_rated: bool) -> None:
        """Raise `Refusal` for a rated match against a bot at a requested level: its rating is for its own level."""
        if level is not None and is_rated:
            raise Refusal(Code.ALWAYS_CASUAL, "a match with a level that is asked for is never rated")

    def must_be_lesson(self, other: Session, *, is_rated: bool) -> None:
        """Raise `Refusal` unless a match with a requested position or side is a casual one with a bot."""
        if not other.is_bot:
            raise Refusal(Code.NOT_WELCOME, f"{other.info.name} is a person; ask them to such a match by `invite`")
        if is_rated:
            raise Refusal(Code.ALWAYS_CASUAL, "a match with a position or a side that is asked for is never rated")

    def _has_place(self, bot: Session, other: Seek) -> bool:
        """Tell whether a bot has a free place for the other. A resumed adjourned match may need it."""
        try:
            self.may_play(bot, against_bot=other.is_bot)
        except Refusal:
            return False
        return True

    def must_be_elsewhere(self, one: PlayerId, other: PlayerId) -> None:
        """Raise `Refusal` for a rated match between players of one address."""
        if not self.are_elsewhere(one, other):
            raise Refusal(Code.ALWAYS_CASUAL, "here two players of one address play without ratings (the host says so)")

    def are_elsewhere(self, one: PlayerId, other: PlayerId) -> bool:
        """Tell whether two players may play a rated match: with `rates_same_address` off, not from one address."""
        if self._services.configuration.rates_same_address:
            return True
        sessions = [self._services.players.get(player) for player in (one, other)]
        key_of = self._services.sanctions.key_of_address
        addresses = {key_of(session.connection.address) for session in sessions if session}
        return len(addresses) == len(sessions)

    def checked_seek(self, session: Session, request: wire.SeekRequest) -> Seek:
        """Return the seek of a request. Raises `Refusal` if the player may not make it."""
        games = tuple(dict.fromkeys(game_name(name) for name in request.games))
        least, most = request.min_rating, request.max_rating
        if least is not None and most is not None and least > most:
            raise Refusal(Code.BAD_MESSAGE, f"no rating is at least {least} and at most {most}")
        may_be_rated = request.level is None and self.may_be_rated((session,), games)
        is_rated = request.rated and (may_be_rated or not request.or_casual)
        if is_rated:
            self.must_be_ratable(session, games)
        self.must_be_casual(request.level, is_rated=is_rated)
        self.may_play(session, against_bot=request.opponents == "bots")
        if request.opponents != "bots":
            self.may_look(session)
        return Seek(
            player=session.player,
            is_bot=session.is_bot,
            games=games,
            time=request.time,
            opponents=self._welcome_of(session, request.opponents),
            is_rated=is_rated,
            or_casual=is_rated and request.or_casual,
            min_rating=request.min_rating,
            max_rating=request.max_rating,
            level=request.level,
        )

    def _welcome_of(self, session: Session, asked: Opponents) -> Opponents:
        """Return which opponents a seek accepts: people only, for a bot whose free places are all reserved."""
        has_place = session.places is None or self._free_places(session) > session.reserved
        return asked if has_place else "people"
