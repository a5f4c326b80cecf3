from ttt_net.server.accounts.online_players import REMEMBERED_MS, AbandonHistory


def test_desertions_add_up_and_are_forgotten_after_a_good_hour() -> None:
    history = AbandonHistory()
    for now_ms in (0, REMEMBERED_MS - 1, 2 * REMEMBERED_MS - 2):
        history.abandoned(7, now_ms)
    assert history.count(7, 2 * REMEMBERED_MS) == 3
    assert history.count(8, 2 * REMEMBERED_MS) == 0
    assert history.count(7, 3 * REMEMBERED_MS - 2) == 0
    history.abandoned(7, 3 * REMEMBERED_MS - 2)
    assert history.count(7, 3 * REMEMBERED_MS - 2) == 1


def test_only_so_many_history_are_remembered() -> None:
    history = AbandonHistory(most=2)
    for player in (1, 2, 1, 3):
        history.abandoned(player, 0)
    assert [history.count(player, 0) for player in (1, 2, 3)] == [2, 0, 1]
