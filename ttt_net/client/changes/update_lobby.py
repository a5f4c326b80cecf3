"""What is heard of the others, put where the pages find it: lists, challenges, an invitation, a replay."""

from dataclasses import replace

from ttt_net.client.events import WorldEvent
from ttt_net.client.page_words import challenge_over, challenged
from ttt_net.client.pages import Kind, LobbyState, Page, PendingChallenge
from ttt_net.client.view import View
from ttt_net.client.words import label_of
from ttt_net.messages import (
    AnalysisReply,
    AnswerRequest,
    ChallengeAccepted,
    Challenged,
    ChallengeOver,
    HistoryReply,
    HistoryRequest,
    InvitationReply,
    LeaderboardReply,
    LeaderboardRequest,
    LiveList,
    PlayerList,
    ProfileReply,
    ProfileRequest,
    Renamed,
    ReplayReply,
    Request,
    SeekList,
    Snapshot,
    Suggestion,
)

MAX_CHALLENGES = 20
"""Challenges that are kept; of more, the oldest are forgotten."""


def told_anew(lobby: LobbyState) -> LobbyState:
    """Return what stays true over a new link: what a page has asked for, and an invitation, which the server keeps.

    The lists of the lobby are told again; challenges end when one of the two is gone.
    """
    return replace(lobby, is_subscribed=False, seeks=None, players=None, live=None, challenges=(), suggestion=None)


def gathered(view: View, event: WorldEvent, now_ms: int) -> View:
    """Return the view after something was heard that is of no match of ours."""
    lobby = view.lobby
    match event:
        case SeekList():
            return replace(view, lobby=replace(lobby, seeks=event))
        case PlayerList():
            return replace(view, lobby=replace(lobby, players=event))
        case LiveList():
            return replace(view, lobby=replace(lobby, live=event))
        case AnalysisReply():
            notice = "The match has been analysed; a replay of it tells of every move."
            return replace(view, lobby=replace(lobby, analysis=event), notice=notice)
        case Suggestion():
            return replace(view, lobby=replace(lobby, suggestion=event))
        case ProfileReply():
            return replace(view, lobby=replace(lobby, profile=event))
        case HistoryReply():
            return replace(view, lobby=replace(lobby, history=event))
        case LeaderboardReply():
            return replace(view, lobby=replace(lobby, leaders=event))
        case Challenged():
            return _challenged(view, event, now_ms)
        case ChallengeAccepted():
            return replace(view, lobby=_without_challenge(lobby, event.challenge))
        case ChallengeOver():
            return _challenge_over(view, event)
        case InvitationReply():
            view = replace(view, lobby=replace(lobby, invitation=event, invited_at_ms=now_ms))
            return replace(view, pages=(*_without(view.pages, Kind.INVITATION), Page(Kind.INVITATION)))
        case Renamed():
            return replace(view, you=event.you, notice="You have another name now.")
        case ReplayReply():
            return replace(view, lobby=_replayed(lobby, event))
        case _:
            return view


def _challenged(view: View, event: Challenged, now_ms: int) -> View:
    others = [each for each in view.lobby.challenges if not _replaces(event, each.challenge)]
    challenges = (*others, PendingChallenge(event, now_ms))[-MAX_CHALLENGES:]
    is_ours = view.you is not None and event.by.name == view.you.name
    notice = view.notice if is_ours else challenged(event)
    return replace(view, lobby=replace(view.lobby, challenges=challenges), notice=notice)


def _replaces(event: Challenged, earlier: Challenged) -> bool:
    """Tell whether it takes the place of an earlier one: there is one at most from one player to another."""
    return (event.by.name, event.to.name) == (earlier.by.name, earlier.to.name)


def without_accepted(lobby: LobbyState, match: Snapshot) -> LobbyState:
    """Return what is around us without the invitation that has led to a match of ours."""
    invitation = lobby.invitation
    if invitation is not None and match.private and match.code in (None, invitation.code):
        invitation = None  # while another match is played its code stays good
    return replace(lobby, invitation=invitation)


def _without_challenge(lobby: LobbyState, number: int) -> LobbyState:
    return replace(lobby, challenges=tuple(each for each in lobby.challenges if each.challenge.challenge != number))


def _challenge_over(view: View, event: ChallengeOver) -> View:
    gone = [each for each in view.lobby.challenges if each.challenge.challenge == event.challenge]
    view = replace(view, lobby=_without_challenge(view.lobby, event.challenge))
    is_ours = any(view.you is not None and each.challenge.by.name == view.you.name for each in gone)
    return replace(view, notice=challenge_over(gone[0].challenge, event.reason)) if is_ours else view


def turned_down(view: View, request: Request) -> View:
    """Return the view after we have turned a challenge down, or taken ours back; after any other request, as it is."""
    number = request.challenge if isinstance(request, AnswerRequest) and not request.accept else None
    gone = next((each.challenge for each in view.lobby.challenges if each.challenge.challenge == number), None)
    if gone is None:
        return view
    is_ours = view.you is not None and gone.by.name == view.you.name
    notice = "You took your challenge back." if is_ours else f"You declined the challenge of {label_of(gone.by)}."
    return replace(view, lobby=_without_challenge(view.lobby, gone.challenge), notice=notice)


def _without(pages: tuple[Page, ...], kind: Kind) -> tuple[Page, ...]:
    return tuple(page for page in pages if page.kind is not kind)


def _replayed(lobby: LobbyState, event: ReplayReply) -> LobbyState:
    """Put positions where they belong; what does not fit the match that is stepped through is left out."""
    replayed = lobby.replayed
    if replayed is None or event.match != replayed.match.match:
        return lobby
    positions = list(replayed.positions)
    cells = len(replayed.match.position.board)
    for ply, position in enumerate(event.positions, start=event.ply):
        if 0 <= ply < len(positions) and len(position.board) == cells:
            positions[ply] = position
    return replace(lobby, replayed=replace(replayed, positions=tuple(positions)))


def unanswered(view: View, request: Request) -> View:
    """Return the view after a question was refused: an empty list, or the page before."""
    match request:
        case LeaderboardRequest():
            nobody = LeaderboardReply(request.game, request.speed, 1, 1, [], None)
            return replace(view, lobby=replace(view.lobby, leaders=nobody))
        case ProfileRequest() | HistoryRequest() if len(view.pages) > 1 and view.page.kind in (
            Kind.PROFILE,
            Kind.HISTORY,
        ):
            return replace(view, pages=view.pages[:-1])
        case _:
            return view
