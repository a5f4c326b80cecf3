"""Follow the replies that are still to come, so that a line that needs one can wait: an answer, a match, our turn."""

from ttt_net.client.controller import Controller
from ttt_net.client.events import WorldEvent
from ttt_net.client.screens.offers import challenges
from ttt_net.client.screens.replay import ACTIONS
from ttt_net.client.world import LinkState
from ttt_net.messages import (
    AbortRequest,
    AcceptRequest,
    AnalyseRequest,
    AnalysisReply,
    AnswerRequest,
    ChallengeAccepted,
    Challenged,
    ChallengeRequest,
    Ended,
    HintReply,
    HintRequest,
    InvitationReply,
    InviteRequest,
    JoinRequest,
    Ok,
    PuzzleReply,
    PuzzleRequest,
    Request,
    ResignRequest,
    ResumeRequest,
    RulesReply,
    RulesRequest,
    ServerMessage,
    Snapshot,
    WatchRequest,
    Welcome,
)
from ttt_net.sdk.events import Answered


class PendingReplies:
    """Follows what was asked for until it is there."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._due: type[ServerMessage] | None = None
        """What the server has agreed to tell, and not told yet."""
        self._is_brief = False
        """Whether the analysis that was asked for is only to be a lesson."""

    def note(self, event: WorldEvent) -> None:
        """Take note of what the server agrees to and of what it tells."""
        is_first = isinstance(event, AnalysisReply) and event.partial and not self._is_brief  # the whole one follows
        if self._due is not None and isinstance(event, (self._due, Welcome)) and not is_first:
            self._due = None
        if isinstance(event, ChallengeAccepted):
            self._due = Snapshot
        if isinstance(event, Answered) and isinstance(event.answer, Ok):
            self._due = _promised(event.request) or self._due
            self._is_brief = isinstance(event.request, AnalyseRequest) and event.request.brief

    @property
    def is_answer_due(self) -> bool:
        """Whether what was asked for, a move, or the end that a move has led to, is still on its way."""
        is_asking, display = self._controller.connection.is_asking, self._controller.display
        is_ending = (
            display.match is not None and display.match.outcome is None and display.match.position.to_move is None
        )
        return is_asking or display.pending is not None or self._due is not None or is_ending

    @property
    def is_turn_to_come(self) -> bool:
        """Whether a match goes on, or another one will."""
        match = self._controller.display.match
        return (match is not None and match.outcome is None) or self.is_match_to_come

    @property
    def is_match_to_come(self) -> bool:
        """Whether anything was done, by us or for us, that leads to a match."""
        display = self._controller.display
        if not display.has_lobby:
            return display.match is None or self._controller.is_to_go_on
        is_offered = display.world.lobby.invitation is not None or bool(challenges(display, is_ours=True))
        is_coming = self._due is Snapshot or (display.world.watching is not None and display.match is None)
        return display.world.link is not LinkState.ONLINE or self._controller.is_to_go_on or is_offered or is_coming


def _promised(request: Request) -> type[ServerMessage] | None:
    """Return what comes after the `ok` to a request, if anything does."""
    match request:
        case AcceptRequest() | JoinRequest() | AnswerRequest(accept=True) | WatchRequest() | ResumeRequest():
            return Snapshot
        case InviteRequest():
            return InvitationReply
        case ChallengeRequest():
            return Challenged
        case RulesRequest():
            return RulesReply
        case HintRequest():
            return HintReply
        case PuzzleRequest():
            return PuzzleReply
        case ResignRequest() | AbortRequest():
            return Ended
        case _:
            return next((each.reply for each in ACTIONS if isinstance(request, each.request)), None)
