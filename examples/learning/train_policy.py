"""Train a small policy by playing a game of lines against itself, and seat it on a server.

    python examples/learning/train_policy.py                                  # trains for some seconds
    python examples/learning/train_policy.py --server ws://localhost:8765     # then it plays there

The policy is a network of one hidden layer in numpy, and it learns by REINFORCE: moves of won games become likelier,
moves of lost ones rarer. Replace it by any library: `PositionBatch` gives the boards, `seat` shows what a bot needs.
"""

import argparse

import numpy as np

from ttt_net import sdk
from ttt_net.environments import PositionBatch

HIDDEN = 64
GAMES = 512
"""Games that are played together before the policy learns from them."""
DISCOUNT = 0.95
"""How much less a move counts for each ply between it and the end."""


class Policy:
    """A network from a board, as the side to move sees it, to how good each action is."""

    def __init__(self, cells: int, actions: int, rng: np.random.Generator) -> None:
        self.first = rng.normal(0, (2 / (2 * cells)) ** 0.5, (2 * cells, HIDDEN)).astype(np.float32)
        self.second = np.zeros((HIDDEN, actions), np.float32)
        self._squares = [np.full_like(weights, 1e-8) for weights in (self.first, self.second)]

    def likelihoods(self, boards: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the hidden layer, and how likely each action is; illegal ones never are."""
        hidden = np.maximum(boards @ self.first, 0)
        scores = np.where(legal, hidden @ self.second, -np.inf)
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        return hidden, likely / likely.sum(axis=1, keepdims=True)

    def learn(self, boards: np.ndarray, legal: np.ndarray, actions: np.ndarray, worth: np.ndarray, rate: float) -> None:
        """Make each action likelier by its worth, which may be negative (RMSProp)."""
        hidden, likely = self.likelihoods(boards, legal)
        error = -likely
        error[np.arange(len(actions)), actions] += 1
        error *= (worth / len(worth))[:, None]
        upper = hidden.T @ error
        lower = boards.T @ ((error @ self.second.T) * (hidden > 0))
        for weights, gradient, squares in zip((self.first, self.second), (lower, upper), self._squares, strict=True):
            squares *= 0.95
            squares += 0.05 * gradient**2
            weights += rate * gradient / (np.sqrt(squares) + 1e-6)


def boards_of(batch: PositionBatch) -> np.ndarray:
    """Return the marks of the side to move and of the other side, one row for each position."""
    own = (batch.sides + 1)[:, None]
    marks = batch.marks[:, :-1]
    return np.concatenate([marks == own, (marks > 0) & (marks != own)], axis=1).astype(np.float32)


def sampled(likely: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return an action for each row, by its likelihood."""
    return np.minimum((likely.cumsum(axis=1) < rng.random((len(likely), 1))).sum(axis=1), likely.shape[1] - 1)


def played(
    policy: Policy, game: str, size: int, rng: np.random.Generator, random_share: float
) -> tuple[PositionBatch, list]:
    """Play games to their ends; in a share of them one side, by turns, moves at random. Return what the policy did."""
    batch, turns = PositionBatch(game, size), []
    number = np.arange(size)
    is_against_random = number < size * random_share
    while not batch.is_over.all():
        side = int(batch.plies.max()) & 1
        boards, legal = boards_of(batch), batch.legal()
        legal_or_any = legal | batch.is_over[:, None]
        _, likely = policy.likelihoods(boards, legal_or_any)
        is_random = is_against_random & (number % 2 != side)
        likely[is_random] = legal_or_any[is_random] / legal_or_any[is_random].sum(axis=1, keepdims=True)
        actions = sampled(likely, rng)
        actions = np.where(legal_or_any[number, actions], actions, legal_or_any.argmax(axis=1))
        rows = np.flatnonzero(~batch.is_over & ~is_random)
        turns.append((rows, side, batch.plies[rows].copy(), boards[rows], legal[rows], actions[rows]))
        batch.play(actions)
    return batch, turns


def train(game: str, rounds: int, seed: int = 1) -> Policy:
    """Return a policy that has played `rounds` times `GAMES` games."""
    rng = np.random.default_rng(seed)
    first = PositionBatch(game, 1)
    policy = Policy(first.game.size, len(first.names), rng)
    for number in range(1, rounds + 1):
        batch, turns = played(policy, game, GAMES, rng, random_share=0.5)
        worth = [
            np.where(batch.winners[rows] < 0, 0, np.where(batch.winners[rows] == side, 1, -1))
            * DISCOUNT ** (batch.plies[rows] - plies)
            for rows, side, plies, *_ in turns
        ]
        boards, legal, actions = (np.concatenate(parts) for parts in list(zip(*turns, strict=True))[3:])
        policy.learn(boards, legal, actions, np.concatenate(worth).astype(np.float32), rate=0.002)
        if number % 50 == 0 or number == rounds:
            print(f"round {number}: {score(policy, game):.0%} of its games against random moves")
    return policy


def score(policy: Policy, game: str, games: int = 1_000) -> float:
    """Return the share of points against random moves, moving first in half of the games."""
    batch, _ = played(policy, game, games, np.random.default_rng(0), random_share=1.0)
    own = np.arange(games) % 2
    return float(np.where(batch.winners < 0, 0.5, batch.winners == own).mean())


def seat(policy: Policy, game: str, server: str, name: str, matches: int | None) -> None:
    """Play on a server, until Ctrl-C or so many matches have ended."""
    names = list(PositionBatch(game, 1).names)

    def choose(turn: sdk.Turn) -> str:
        marks = np.array(list("".join(turn.position.rows)))
        own = turn.position.mark
        board = np.concatenate([marks == own, (marks != own) & (marks != ".")]).astype(np.float32)
        legal = np.isin(names, turn.names)
        _, likely = policy.likelihoods(board[None], legal[None])
        return names[int(likely[0].argmax())]

    sdk.play(choose, server, name=name, games=[game], matches=matches, label="policy")


def main() -> None:
    """Train, and play if a server is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="connect4", help="a game of lines (default: connect4)")
    parser.add_argument("--rounds", type=int, default=300, help="how long to train (default: 300)")
    parser.add_argument("--server", metavar="URL", help="play there after the training")
    parser.add_argument("--name", default="my-policy", help="the bot's name there")
    parser.add_argument("--matches", type=int, help="leave after so many matches")
    args = parser.parse_args()
    policy = train(args.game, args.rounds)
    if args.server:
        seat(policy, args.game, args.server, args.name, args.matches)


if __name__ == "__main__":
    main()
