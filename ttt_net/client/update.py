"""Update the display after an event: first the world, then the state of this terminal."""

from dataclasses import replace

from msgspec import structs

from ttt_net import messages
from ttt_net.client import words
from ttt_net.client.display import Display, Entry, Overlay, Page
from ttt_net.client.mailbox import LocalNotice, WorldEvent
from ttt_net.client.screens.advice import ANALYSE, is_unasked, with_own_mistake
from ttt_net.client.screens.guess_screen import studied
from ttt_net.client.screens.people import THANKS, when_blocked
from ttt_net.client.screens.puzzle import with_answer
from ttt_net.client.screens.registry import screen_of
from ttt_net.client.screens.replay_screen import ACTIONS
from ttt_net.client.world import MADE, World, update_world
from ttt_net.errors import Code
from ttt_net.sdk.received import Answered, Back, Garbled, Lost
from ttt_net.text import clean

_OF_A_RESTART = "The server restarts in "
"""The beginning of the server's own line about a restart."""
MAX_CHAT = 50
"""The maximal number of chat messages to keep."""


def update(display: Display, event: WorldEvent, now_ms: int) -> Display:
    """Return the display after the event; `now_ms` is the local time of the clocks."""
    if isinstance(event, messages.Snapshot) and event.outcome is not None and event.match == display.left:
        return display
    before = display.world
    world = update_world(before, event, now_ms)
    match event:
        case messages.Snapshot():
            return display if world is before else _with_snapshot(display, world, event)
        case _ if isinstance(event, messages.MatchEvent):
            return display if world is before else _with_event(display, world, event)
        case _:
            return _noted(display.in_world(world), before, event)


def _noted(display: Display, before: World, event: WorldEvent) -> Display:
    """Return the display after an event that belongs to no match; `before` is the world before it."""
    match event:
        case Back(url):
            if url and display.world.lobby.invitation is not None:
                where = f"Connected again, at {display.world.address}"
                return replace(display, notice=f"{where}: friends join there by the same code.")
            return replace(display, notice="Connected again; nothing is lost.")
        case messages.Chatted():
            return _with_chat(display, event)
        case messages.Notice():
            counted_down = event.restart_in_ms is not None and event.text.startswith(_OF_A_RESTART)
            return replace(display, notice="" if counted_down else _sentence(event.text))
        case messages.Sanctioned():
            return replace(display, notice=words.sanctioned(event))
        case messages.Restarting():
            return replace(display, notice=words.restarting(display.world))
        case Lost() if display.notice == words.restarting(before):
            return replace(display, notice="")  # from here on, the banner says why there is no connection
        case Answered():
            return _answered(display, before, event)
        case LocalNotice():
            return replace(display, notice=event.sentence)
        case Garbled():
            return replace(display, notice=f"The server sent something invalid: {event.reason}")
        case messages.Refused():
            return replace(display, notice=_sentence(event.message))
        case messages.Challenged() if not _is_ours(before, event):
            return replace(display, notice=words.challenged(event))
        case messages.ChallengeOver():
            gone = _challenge(before, event.challenge)
            is_news = gone is not None and _is_ours(before, gone)
            return replace(display, notice=words.challenge_over(gone, event.reason)) if gone and is_news else display
        case messages.InvitationReply():
            others = tuple(page for page in display.pages if page.screen != "invitation")
            return replace(display, pages=(*others, Page("invitation")))
        case messages.TournamentReply() if before.joined in (event.tournament, MADE):
            return _in_tournament(display, event)
        case messages.PlayerRenamed() if event.match in before.matches and event.side in (0, 1):
            return _with_name(display, before.matches[event.match], event)
        case messages.Renamed():
            return replace(display, notice="You have another name now.")
        case messages.PuzzleReply(own=None, right=True, day=day):
            return replace(display, achieved=display.achieved.with_solved(day))
        case messages.PuzzleReply(own=messages.OwnPuzzle() as own, day=day) if (
            event.right is not None or event.solution is not None
        ):
            return with_answer(display, own, day, is_right=event.right is True)
        case messages.AnalysisReply(match=match, lesson=messages.MatchLesson() as lesson) if match in before.matches:
            learned = with_own_mistake(display.achieved, before.matches[match], lesson, display.learns_at)
            return ANALYSE.heard(replace(display, achieved=learned), event)
        case messages.StudyReply():
            return studied(display, event)
        case messages.HintReply() if event.text:
            return replace(display, notice="")
        case messages.ServerMessage():
            action = next((each for each in ACTIONS if isinstance(event, each.reply)), None)
            return action.heard(display, event) if action is not None else display
        case _:
            return display


def _in_tournament(display: Display, told: messages.TournamentReply) -> Display:
    """Show the tournament that a typed code has led to, unless a match of ours is being played."""
    display = replace(display, is_arriving=False)
    if display.is_live:
        return replace(display, notice=f"You have entered {clean(told.name, words.MAX_CODE)}.")
    return replace(display, pages=(*display.pages[:1], Page("tournament", about=told.tournament)))


def _with_snapshot(earlier: Display, world: World, snapshot: messages.Snapshot) -> Display:
    """Show an arriving match, unless it is only a picture, or we are playing another one on the screen."""
    if snapshot.match == earlier.featured:
        return earlier.in_world(world)
    is_new = snapshot.match not in earlier.world.matches
    is_next = earlier.match is not None and earlier.match.next == snapshot.match
    is_ours = snapshot.you is not None
    is_busy = earlier.is_live and earlier.page.screen in ("match", "rules")
    is_shown = earlier.shown == snapshot.match or not is_busy
    if is_shown and is_ours and world.watching is not None:
        world = world.without_match(world.watching).with_match(snapshot)
        earlier = replace(earlier, featured=None)
    shown = snapshot.match if is_shown else earlier.shown
    display = replace(earlier.in_world(world), shown=shown, world=world.without_ended(shown, earlier.featured))
    if not is_new:
        is_over = is_shown and snapshot.outcome is not None
        return _settled(replace(display, notice="") if is_over else display)
    if not is_shown:
        return _settled(replace(display, notice=_news_of_another(world, snapshot) or display.notice))
    chat, pages = earlier.chat if is_next else (), _pages_under(display, snapshot)
    display = replace(display, pages=pages).showing(snapshot)
    return _settled(replace(display, chat=chat, notice=_greeting(world, snapshot)))


def _greeting(world: World, snapshot: messages.Snapshot) -> str:
    """Return the notice about a match that appears on the screen: how it ended, if we left it before."""
    if snapshot.match in world.missed:
        return words.missed(snapshot)
    is_resumed = snapshot.match in world.unfinished and snapshot.outcome is None
    return "Your unfinished match continues." if is_resumed else ""


def _news_of_another(world: World, snapshot: messages.Snapshot) -> str:
    """Return the notice about a match that arrives while we play another one; empty if it is not new."""
    if snapshot.you is not None and snapshot.outcome is None and snapshot.match not in world.unfinished:
        return words.begun(snapshot)
    return f"{words.missed(snapshot)} {words.result(snapshot)}" if snapshot.match in world.missed else ""


def _pages_under(display: Display, snapshot: messages.Snapshot) -> tuple[Page, ...]:
    """Return the pages below a match: requested matches keep the other pages, our live match only the lobby."""
    if snapshot.outcome is None and snapshot.you is not None:
        return display.pages_under(snapshot)
    return tuple(page for page in display.pages if page.screen != "match")


def _with_event(display: Display, world: World, event: messages.MatchEvent) -> Display:
    before, after = display.world.matches[event.match], world.matches[event.match]
    display = replace(display, world=world.without_ended(display.shown, display.featured))
    if event.match == display.featured:
        return display
    if event.match != display.shown:
        if after.outcome is not None:
            return replace(display, notice=words.ended(after))
        return (
            replace(display, notice="") if display.elsewhere is after else display
        )  # the notice about our turn replaces it
    notice = display.notice if isinstance(event, messages.Offered) else ""
    overlay = Overlay.NONE if _closes(event, display.overlay) else display.overlay
    if isinstance(event, messages.Declined) and event.side != after.you:
        notice = words.declined(event.kind) if _has_offer(before, after.you, event.kind) else ""
    display = _aimed(_settled(replace(display, notice=notice, overlay=overlay)))
    return _with_best(display, after) if isinstance(event, messages.Ended) else display


def _with_best(display: Display, match: messages.Snapshot) -> Display:
    """Record a win against a bot of a new highest level, if it was without hints and from the initial position."""
    level, game = words.opponent_of(match).level, match.game.name
    has_won = match.you is not None and match.outcome is not None and match.outcome.winner == match.you
    hint = display.world.reply(messages.HintReply)
    is_helped = hint is not None and hint.match == match.match and hint.kind == "move"
    if not has_won or level is None or is_helped or match.start or level <= display.achieved.beaten.get(game, 0):
        return display
    best = f"Your best yet: level {level} beaten at {words.title_of(game)}! {words.next_step(game, level)}".rstrip()
    return replace(display, achieved=display.achieved.with_beaten(game, level), notice=best)


def _aimed(display: Display) -> Display:
    """Move the cursor into the small board in which we have to play, unless it is there."""
    match = display.match
    if match is None or match.position.target is None or not display.is_my_turn:
        return display
    cells = sorted({match.game.move_cells[move] for move in match.position.legal})
    is_there = display.cursor in cells or not cells
    return display if is_there else replace(display, cursor=cells[len(cells) // 2])


def _closes(event: messages.MatchEvent, overlay: Overlay) -> bool:
    """Tell whether the event makes a question pointless."""
    if overlay is Overlay.CHOICE:
        return isinstance(event, messages.Played | messages.Tookback | messages.Ended)
    return overlay in (Overlay.LEAVE, Overlay.CLAIM, Overlay.DRAW) and isinstance(event, messages.Ended)


def _has_offer(match: messages.Snapshot, side: int | None, kind: str) -> bool:
    return any(offer.side == side and offer.kind == kind for offer in match.offers)


def _with_name(display: Display, before: messages.Snapshot, event: messages.PlayerRenamed) -> Display:
    """Show a renamed player's messages under the new name, and keep them muted or reported."""
    earlier = before.players[event.side]
    player = structs.replace(earlier, name=event.name)
    chat = tuple(structs.replace(each, by=player) if each.by.name == earlier.name else each for each in display.chat)
    muted = frozenset(event.name if name == earlier.name else name for name in display.muted)
    pages = tuple(
        replace(page, about=event.name) if page.screen == "report" and page.about == earlier.name else page
        for page in display.pages
    )
    is_news = event.match == display.shown and event.side != before.you and earlier.name != event.name
    notice = words.renamed(earlier, player) if is_news else display.notice
    return replace(display, chat=chat, muted=muted, pages=pages, notice=notice)


def _with_mute(display: Display, name: str | None, *, is_on: bool) -> Display:
    """Show again what a player writes, or hide it: the server has refused to change that. None is everybody."""
    if name is None:
        return replace(display, is_deaf=is_on)
    return replace(display, muted=display.muted | {name} if is_on else display.muted - {name})


def _with_chat(display: Display, event: messages.Chatted) -> Display:
    if event.match != display.shown or event.by.name in display.muted or display.is_deaf:
        return display
    is_ours = display.world.you is not None and event.by.name == display.world.you.name
    notice = display.notice if is_ours else words.chatted(event)
    return replace(display, chat=(*display.chat, event)[-MAX_CHAT:], notice=notice)


def _answered(display: Display, before: World, event: Answered) -> Display:
    """Show why a request was rejected; after accepted requests, only what no other event shows."""
    if not isinstance(event.answer, messages.Refused):
        return _turned_down(display, before, event.request)
    request, refusal = event.request, event.answer
    if (
        isinstance(request, messages.PlayRequest)
        and display.pending is not None
        and request.match == display.pending.match
    ):
        display = replace(display, pending=None)
    is_of_picture = isinstance(request, messages.WatchRequest) and request.match == display.featured
    if isinstance(request, messages.ResumeRequest | messages.UnseekRequest) or is_unasked(request) or is_of_picture:
        return display
    if isinstance(request, messages.AbortRequest) and refusal.code == Code.TOO_LATE and display.is_leaving:
        match = display.world.matches.get(request.match)
        if match is not None and match.rated:
            display = replace(display, is_match_kept=True)
    if isinstance(request, messages.MuteRequest):
        display = _with_mute(display, request.name, is_on=not request.on)
    screen = screen_of(display)
    if any(type(request) is type(each) for each in screen.requests(display.page)):
        display = screen.refused(display, request)
    if isinstance(request, messages.RulesRequest) and refusal.code == Code.BAD_MESSAGE:
        return replace(display, notice="This server has no rules for games.")
    return replace(display, notice=_sentence(refusal.message))


def _turned_down(display: Display, before: World, request: messages.Request) -> Display:
    """Return that we declined a challenge, withdrew ours, or sent a report; otherwise nothing."""
    if isinstance(request, messages.ReportRequest):
        return replace(display, notice=THANKS)
    if isinstance(request, messages.BlockRequest | messages.MuteRequest):
        return when_blocked(display, request)
    gone = (
        _challenge(before, request.challenge)
        if isinstance(request, messages.AnswerRequest) and not request.accept
        else None
    )
    if gone is None:
        return display
    theirs = f"You declined the challenge of {words.label_of(gone.by)}."
    return replace(display, notice="You took your challenge back." if _is_ours(before, gone) else theirs)


def _challenge(world: World, number: int) -> messages.Challenged | None:
    return next((each.challenge for each in world.lobby.challenges if each.challenge.challenge == number), None)


def _is_ours(world: World, challenge: messages.Challenged) -> bool:
    return world.you is not None and challenge.by.name == world.you.name


def _settled(display: Display) -> Display:
    """Forget the pending move once the match has passed it, and a partly typed move at the end of the match."""
    if display.match is not None and display.match.outcome is not None and display.entry is Entry.MOVE:
        display = replace(display, typed="")
    pending = display.pending
    if pending is None:
        return display
    match = display.world.matches.get(pending.match)
    has_passed = match is None or match.outcome is not None or match.position.ply != pending.ply
    return replace(display, pending=None) if has_passed else display


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
