"""Every kind of screen, as the display and the characters that it is drawn from."""

from dataclasses import replace

from msgspec import structs

from tests.client.pressing import done, seen
from tests.client.samples import (
    BEN,
    BLITZ,
    BOTS,
    CHALLENGED,
    HISTORY,
    LEADERS,
    LIVE,
    PLAYERS,
    PROFILE,
    RUNNING,
    SEEKS,
    knowing,
    layered,
    played,
    position_after,
    snapshot,
    swapping,
)
from ttt_net.client.address import Used
from ttt_net.client.display import AnyCommand, Begin, Command, Display, Entry, Open, Page, Purpose, Send, Type
from ttt_net.client.drawing.glyphs import ASCII, BOXES, Glyphs
from ttt_net.client.screens.offers import NEXT_CLOCK
from ttt_net.client.screens.replay_screen import STEP_THROUGH as REPLAY
from ttt_net.client.screens.start_menu import OPEN_SETUP
from ttt_net.client.server_search import Found, ServerList, sighted
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.games.catalogue import NAMES
from ttt_net.matches.description import describe_rules
from ttt_net.messages import (
    Chatted,
    ClockInfo,
    InvitationReply,
    OfferInfo,
    PlayerList,
    PlayRequest,
    ReplayReply,
    Snapshot,
    WatchRequest,
)
from ttt_net.networks import Announcement
from ttt_net.sdk.received import Lost, Retrying

DRAW = [4, 0, 8, 2, 1, 7, 3, 5, 6]
FOUR = [38, 31, 37, 30, 36, 29, 35]


def doing(display: Display, *commands: AnyCommand) -> Display:
    return done(display, *commands)[0]


def with_blocks(blocks: str) -> Snapshot:
    """Return a match of ultimate tic-tac-toe in which small boards are decided."""
    match = snapshot("ultimate", [40, 30, 10, 31, 12, 38])
    return structs.replace(match, position=structs.replace(match.position, blocks=blocks))


def picking(servers: ServerList) -> Display:
    """Return the start menu."""
    return Display(pages=(Page("start"),), servers=servers, has_lobby=False)


FOUND = Found("a", Announcement("Friday", 8765, ("192.0.2.7",), 3, 1, "0.1.0"), "192.0.2.7", True, False)


def explained(game: str) -> Display:
    """Return the page of rules of a game over a match of it."""
    return update(doing(seen(snapshot(game, opponent=BEN)), Command.HELP), describe_rules(game), 0)


CHATTED = Chatted("m1", "players", BEN, "Good luck, and mind the fourth column!")
REPLAYED = ReplayReply("m1", 0, [position_after("connect4", FOUR[:ply]) for ply in range(8)], 7)
HOSTING = knowing(seen(), address="192.168.1.20:8765", is_hosting=True)
SCREENS: dict[str, tuple[Display, Glyphs]] = {
    "connecting": (Display(World(address="localhost:8765")), BOXES),
    "waiting": (doing(seen(PlayerList(1, [])), Command.NEW), BOXES),
    "hosting": (doing(HOSTING, Command.NEW), BOXES),
    "hosting-a-bot": (doing(update(HOSTING, BOTS, 0), Command.NEW), BOXES),
    "lobby": (doing(seen(SEEKS, PLAYERS, LIVE, CHALLENGED), Command.NEW), BOXES),
    "lobby-ascii": (seen(SEEKS, PLAYERS, LIVE), ASCII),
    "lobby-own-match": (doing(seen(snapshot("connect4", [38]), PLAYERS), Command.BACK), BOXES),
    "lobby-help": (doing(seen(PLAYERS), Command.HELP), BOXES),
    "games": (doing(seen(), Open(Page("games")), Command.DOWN, NEXT_CLOCK), BOXES),
    "challenge": (doing(seen(), Open(Page("games", about="Ben", purpose=Purpose.CHALLENGE))), BOXES),
    "invitation": (seen(InvitationReply("K7QMX2", "connect4", 600_000, BLITZ)), BOXES),
    "code": (doing(seen(PLAYERS), Begin(Entry.CODE), Type("K7Q")), BOXES),
    "lobby-bots": (doing(seen(BOTS), Command.NEW), BOXES),
    "profile": (update(doing(seen(), Open(Page("profile", about="Ben"))), PROFILE, 0), BOXES),
    "history": (update(doing(seen(), Open(Page("history"))), HISTORY, 0), BOXES),
    "tournament": (update(doing(seen(), Open(Page("tournament", about="BCDFG"))), RUNNING, 0), BOXES),
    "leaders": (update(doing(seen(), Open(Page("leaders", about="connect4", time=2))), LEADERS, 0), BOXES),
    "replay": (
        doing(
            update(doing(seen(snapshot("connect4", FOUR)), REPLAY.command), REPLAYED, 0),
            Command.LAST,
            Command.LEFT,
        ),
        BOXES,
    ),
    "chat": (doing(update(seen(snapshot("connect4", [38, 31], opponent=BEN)), CHATTED, 0), Begin(Entry.CHAT)), BOXES),
    "moves-and-chat": (
        doing(update(seen(snapshot("connect4", [38, 31], opponent=BEN)), CHATTED, 0), Command.SIDE_PANEL),
        BOXES,
    ),
    "watching": (
        update(
            doing(seen(), Send(WatchRequest(0, match="m1"))), snapshot("connect4", [38, 31], you=None, opponent=BEN), 0
        ),
        BOXES,
    ),
    "tictactoe-pending": (replace(seen(snapshot(moves=[4, 0])), pending=PlayRequest(1, "m1", 2, 8), notice=""), BOXES),
    "tictactoe-won": (seen(snapshot(moves=[4, 0, 2, 1]), snapshot(moves=[4, 0, 2, 1, 6])), BOXES),
    "tictactoe-drawn": (seen(snapshot(moves=DRAW)), BOXES),
    "tictactoe-ascii": (seen(snapshot(), played("tictactoe", [4]), played("tictactoe", [4, 0])), ASCII),
    "tictactoe-leaving": (doing(seen(snapshot()), Command.LEAVE), BOXES),
    "tictactoe-help": (doing(seen(snapshot()), Command.HELP, Command.HELP), BOXES),
    "rules-of-connect4": (explained("connect4"), BOXES),
    "rules-of-ultimate": (explained("ultimate"), BOXES),
    "tictactoe-typing": (doing(seen(snapshot()), Type("b"), Type("2")), BOXES),
    "tictactoe-lost-link": (seen(snapshot(), Lost("the connection broke"), Retrying(4, 500)), BOXES),
    "tictactoe-offer": (seen(snapshot(opponent=BEN, offers=[OfferInfo(1, "draw")])), BOXES),
    "connect4-won": (seen(snapshot("connect4", FOUR[:-1]), snapshot("connect4", FOUR)), BOXES),
    "connect4-clock": (seen(snapshot("connect4", [38], you=1, clock=ClockInfo((175_000, 9_870), 1))), BOXES),
    "cube": (seen(layered()), BOXES),
    "cube-of-four": (seen(layered(4)), BOXES),
    "cube-of-four-ascii": (seen(layered(4)), ASCII),
    "ultimate": (seen(snapshot("ultimate", [40, 30])), BOXES),
    "ultimate-won-boards": (seen(with_blocks("X=O......")), BOXES),
    "score-four": (seen(snapshot("scorefour", [0, 16])), BOXES),
    "vanishing": (seen(snapshot("vanishing", [0, 2, 4, 7, 3, 5], opponent=BEN)), BOXES),
    "vanishing-ascii": (seen(snapshot("vanishing", [0, 2, 4, 7, 3, 5], opponent=BEN)), ASCII),
    "misere-lost": (seen(snapshot("misere", [0, 3, 1, 4, 2], opponent=BEN)), BOXES),
    "swap-question": (seen(snapshot("scorefour+swap", [5], you=1, opponent=BEN)), BOXES),
    "large-gomoku": (seen(snapshot("mnk:19x19,5", [180, 181, 160])), BOXES),
    "wild": (doing(seen(snapshot("wild")), Command.PLACE), BOXES),
    "choice": (doing(seen(swapping()), Command.PLACE), BOXES),
}
SCREENS |= {
    "menu": (picking(ServerList(has_looked=True)), BOXES),
    "menu-found": (picking(sighted(ServerList(used=(Used("ws://example.org:8765", "Far"),)), FOUND)), BOXES),
    "menu-setup": (doing(picking(ServerList()), OPEN_SETUP), BOXES),
    "menu-learn": (doing(picking(ServerList()), Open(Page("learn"))), BOXES),
}
SCREENS |= {f"start-of-{name}": (seen(snapshot(name, opponent=BEN)), BOXES) for name in NAMES}
