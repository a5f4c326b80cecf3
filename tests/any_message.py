"""Hypothesis strategies for all requests and events."""

from hypothesis import strategies as st

from ttt_net import messages as wire
from ttt_net.clock import TimeControl

text = st.text(max_size=80)
names = st.text(min_size=1, max_size=32)
codes = st.text(min_size=1, max_size=16)
ids = st.integers(0, 2**53 - 1)
small = st.integers(0, 100_000)
sides = st.sampled_from([0, 1])
kinds = st.sampled_from(["draw", "takeback", "rematch"])
times = st.builds(TimeControl, st.integers(1_000, 10_800_000), st.integers(0, 60_000), st.booleans())

own_mistakes = st.builds(
    wire.OwnMistake,
    puzzle=st.builds(
        wire.OwnPuzzle,
        game=st.text(max_size=40),
        better=st.lists(small, min_size=1, max_size=60),
        moves=st.lists(small, max_size=400),
        start=st.none() | st.text(min_size=1, max_size=500),
    ),
    text=st.text(max_size=300),
    due=st.text(max_size=10),
    times=st.integers(0, 5),
)

SAID: dict[type, st.SearchStrategy[wire.AnyRequest]] = {
    wire.HelloRequest: st.builds(
        wire.HelloRequest,
        id=ids,
        protocols=st.lists(st.integers(-9, 9), min_size=1, max_size=16),
        name=st.none() | text,
        token=st.none() | text,
        bot=st.none() | text,
        client=st.none() | text,
        level=st.none() | st.integers(1, 8),
        places=st.none() | st.integers(0, 20),
        reserved=st.integers(0, 20),
    ),
    wire.SeekRequest: st.builds(
        wire.SeekRequest,
        id=ids,
        games=st.lists(st.text(max_size=40), max_size=16),
        time=st.none() | times,
        opponents=st.sampled_from(["any", "people", "bots"]),
        rated=st.booleans(),
        min_rating=st.none() | st.integers(0, 5_000),
        max_rating=st.none() | st.integers(0, 5_000),
    ),
    wire.UnseekRequest: st.builds(wire.UnseekRequest, id=ids),
    wire.AcceptRequest: st.builds(wire.AcceptRequest, id=ids, seek=ids),
    wire.LobbyRequest: st.builds(wire.LobbyRequest, id=ids, on=st.booleans()),
    wire.ChallengeRequest: st.builds(
        wire.ChallengeRequest,
        id=ids,
        name=text,
        game=st.text(max_size=40),
        time=st.none() | times,
        start=st.none() | st.text(min_size=1, max_size=80),
        side=st.none() | sides,
    ),
    wire.AnswerRequest: st.builds(
        wire.AnswerRequest, id=ids, challenge=ids, accept=st.booleans(), reason=st.sampled_from(["later", "generic"])
    ),
    wire.InviteRequest: st.builds(wire.InviteRequest, id=ids, game=st.text(max_size=40), time=st.none() | times),
    wire.JoinRequest: st.builds(wire.JoinRequest, id=ids, code=text),
    wire.MatchesRequest: st.builds(wire.MatchesRequest, id=ids),
    wire.TournamentsRequest: st.builds(wire.TournamentsRequest, id=ids, on=st.none() | st.booleans()),
    wire.OrganiseRequest: st.builds(
        wire.OrganiseRequest,
        id=ids,
        name=text,
        kind=st.sampled_from(["swiss", "round_robin", "knockout"]),
        time=times,
        rounds=st.integers(1, 30),
        pause_s=st.none() | st.integers(0, 3_600),
        full=st.none() | st.integers(2, 1_000),
    ),
    wire.AttendRequest: st.builds(wire.AttendRequest, id=ids, tournament=codes, on=st.booleans()),
    wire.EnterRequest: st.builds(wire.EnterRequest, id=ids, tournament=codes),
    wire.WithdrawRequest: st.builds(wire.WithdrawRequest, id=ids, tournament=codes),
    wire.DirectRequest: st.builds(
        wire.DirectRequest,
        id=ids,
        tournament=codes,
        act=st.sampled_from(["start", "next", "correct", "end"]),
        result=st.sampled_from([None, "1-0", "0-0"]),
        note=text,
    ),
    wire.WatchRequest: st.builds(wire.WatchRequest, id=ids, match=names, code=st.none() | text),
    wire.ChatRequest: st.builds(
        wire.ChatRequest,
        id=ids,
        match=names,
        text=st.none() | text,
        phrase=st.none() | st.sampled_from(["hello", "oops"]),
    ),
    wire.ReportRequest: st.builds(
        wire.ReportRequest,
        id=ids,
        name=text,
        reason=st.sampled_from(["chat", "name", "cheating", "other"]),
        match=st.none() | names,
        text=st.none() | text,
    ),
    wire.MuteRequest: st.builds(wire.MuteRequest, id=ids, name=st.none() | text, on=st.booleans()),
    wire.BlockRequest: st.builds(
        wire.BlockRequest, id=ids, name=text, on=st.booleans(), match=st.none() | names, side=st.none() | sides
    ),
    wire.BlocksRequest: st.builds(wire.BlocksRequest, id=ids),
    wire.UnwatchRequest: st.builds(wire.UnwatchRequest, id=ids, match=names),
    wire.PlayRequest: st.builds(wire.PlayRequest, id=ids, match=names, ply=small, move=small),
    wire.ResignRequest: st.builds(wire.ResignRequest, id=ids, match=names),
    wire.AbortRequest: st.builds(wire.AbortRequest, id=ids, match=names),
    wire.OfferRequest: st.builds(wire.OfferRequest, id=ids, match=names, kind=kinds, ply=st.none() | small),
    wire.AgreeRequest: st.builds(wire.AgreeRequest, id=ids, match=names, offer=small),
    wire.DeclineRequest: st.builds(wire.DeclineRequest, id=ids, match=names, kind=kinds, offer=st.none() | small),
    wire.ClaimRequest: st.builds(
        wire.ClaimRequest, id=ids, match=names, kind=st.sampled_from(["win", "draw", "adjourn"])
    ),
    wire.ResumeRequest: st.builds(wire.ResumeRequest, id=ids, match=names, seq=small),
    wire.WhoRequest: st.builds(wire.WhoRequest, id=ids),
    wire.RenameRequest: st.builds(wire.RenameRequest, id=ids, name=text),
    wire.ForgetRequest: st.builds(wire.ForgetRequest, id=ids, name=text),
    wire.ProfileRequest: st.builds(wire.ProfileRequest, id=ids, name=st.none() | text),
    wire.HistoryRequest: st.builds(
        wire.HistoryRequest,
        id=ids,
        name=st.none() | text,
        game=st.none() | st.text(max_size=40),
        before=st.none() | text,
    ),
    wire.LeaderboardRequest: st.builds(
        wire.LeaderboardRequest,
        id=ids,
        game=st.text(max_size=40),
        speed=st.sampled_from(["bullet", "blitz", "rapid", "untimed"]),
        bots=st.booleans(),
        page=st.integers(1, 10_000),
    ),
    wire.RulesRequest: st.builds(wire.RulesRequest, id=ids, game=st.text(max_size=40)),
    wire.ReplayRequest: st.builds(wire.ReplayRequest, id=ids, match=names, ply=small, legal=st.booleans()),
    wire.RecordRequest: st.builds(wire.RecordRequest, id=ids, match=names),
    wire.AnalyseRequest: st.builds(wire.AnalyseRequest, id=ids, match=names),
    wire.HintRequest: st.builds(wire.HintRequest, id=ids, match=names, kind=st.sampled_from(["move", "warning"])),
    wire.PuzzleRequest: st.builds(
        wire.PuzzleRequest, id=ids, day=st.none() | text, move=st.none() | small, reveal=st.booleans()
    ),
    wire.LearnRequest: st.builds(wire.LearnRequest, id=ids, mistake=own_mistakes),
    wire.MistakesRequest: st.builds(wire.MistakesRequest, id=ids, all=st.booleans(), page=st.integers(1, 10_000)),
    wire.StudyRequest: st.builds(wire.StudyRequest, id=ids, number=st.none() | small),
    wire.PingRequest: st.builds(wire.PingRequest, id=ids),
}

numbers = st.integers(0, 2**53 - 1)
players = st.builds(
    wire.PlayerInfo,
    name=text,
    bot=st.none() | text,
    level=st.none() | st.integers(1, 8),
    rating=st.none() | st.integers(0, 5000),
    provisional=st.booleans(),
)
clocks = st.builds(wire.ClockInfo, remaining_ms=st.tuples(numbers, numbers), running=st.none() | sides)
positions = st.builds(
    wire.Position,
    ply=small,
    board=text,
    to_move=st.none() | sides,
    legal=st.lists(small),
    line=st.lists(small),
    marks=st.tuples(text, text),
    blocks=st.sampled_from(["", "X.O=....."]),
    line_by=st.none() | sides,
    vanishing=st.none() | small,
    target=st.none() | st.builds(wire.TargetInfo, board=small, name=text),
    takeover=st.none() | small,
)
EVENTS: dict[type, st.SearchStrategy[wire.MatchEvent]] = {
    wire.Started: st.builds(
        wire.Started,
        match=text,
        seq=small,
        at_ms=numbers,
        game=text,
        players=st.tuples(players, players),
        time=st.none() | times,
        previous=st.none() | text,
        private=st.booleans(),
        rated=st.booleans(),
        score=st.tuples(st.floats(0, 100), st.floats(0, 100)),
        code=st.none() | text,
    ),
    wire.Played: st.builds(
        wire.Played,
        match=text,
        seq=small,
        at_ms=numbers,
        side=sides,
        ply=small,
        move=small,
        refunded_ms=small,
        clock=st.none() | clocks,
        position=st.none() | positions,
    ),
    wire.Tookback: st.builds(
        wire.Tookback,
        match=text,
        seq=small,
        at_ms=numbers,
        side=sides,
        ply=small,
        clock=st.none() | clocks,
        position=st.none() | positions,
    ),
    wire.Adjourned: st.builds(wire.Adjourned, match=text, seq=small, at_ms=numbers, side=sides),
    wire.Offered: st.builds(wire.Offered, match=text, seq=small, at_ms=numbers, side=sides, kind=kinds),
    wire.Declined: st.builds(wire.Declined, match=text, seq=small, at_ms=numbers, side=sides, kind=kinds),
    wire.Ended: st.builds(
        wire.Ended,
        match=text,
        seq=small,
        at_ms=numbers,
        winner=st.none() | sides,
        reason=text,
        clock=st.none() | clocks,
    ),
    wire.Rematched: st.builds(wire.Rematched, match=text, seq=small, at_ms=numbers, next=text),
}
