"""Matchings of least cost: by a library, and by trying all of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import networkx

from ttt_net.tournaments.schedules import Pair


def library(edges: Mapping[Pair, int]) -> list[Pair]:
    """Return a matching of most edges, and of least cost among those."""
    top = max(edges.values(), default=0) + 1
    graph = networkx.Graph()
    graph.add_weighted_edges_from((one, other, top - cost) for (one, other), cost in edges.items())
    return [(one, other) for one, other in networkx.max_weight_matching(graph, maxcardinality=True)]


def cost_of(edges: Mapping[Pair, int], pairs: Iterable[Pair]) -> int:
    return sum(edges.get((one, other), edges.get((other, one), 0)) for one, other in pairs)


def every_perfect(edges: Mapping[Pair, int], vertices: Sequence[int]) -> Iterator[list[Pair]]:
    """Go through all matchings that leave nobody out."""
    if not vertices:
        yield []
        return
    first, *others = vertices
    for other in others:
        pair = (first, other)
        if pair in edges:
            rest = [each for each in others if each != other]
            yield from ([pair, *more] for more in every_perfect(edges, rest))


def by_trying(edges: Mapping[Pair, int]) -> list[Pair]:
    """Return a perfect matching of least cost; nothing if there is none."""
    vertices = sorted({vertex for pair in edges for vertex in pair})
    found = min(every_perfect(edges, vertices), key=lambda pairs: cost_of(edges, pairs), default=None)
    return found or []
