from ttt_net.server.matchmaking.abandon_history import REMEMBERED_MS, AbandonHistory


def test_desertions_add_up_and_are_forgotten_after_a_good_hour() -> None:
    deserters = AbandonHistory()
    for now_ms in (0, REMEMBERED_MS - 1, 2 * REMEMBERED_MS - 2):
        deserters.deserted(7, now_ms)
    assert deserters.count(7, 2 * REMEMBERED_MS) == 3
    assert deserters.count(8, 2 * REMEMBERED_MS) == 0
    assert deserters.count(7, 3 * REMEMBERED_MS - 2) == 0
    deserters.deserted(7, 3 * REMEMBERED_MS - 2)
    assert deserters.count(7, 3 * REMEMBERED_MS - 2) == 1


def test_only_so_many_deserters_are_remembered() -> None:
    deserters = AbandonHistory(most=2)
    for player in (1, 2, 1, 3):
        deserters.deserted(player, 0)
    assert [deserters.count(player, 0) for player in (1, 2, 3)] == [2, 0, 1]
