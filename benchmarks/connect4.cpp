// Connect Four as textbooks solve it: alpha-beta on bitboards, moves from the centre out, a transposition table that
// always replaces. Reads lines "own taken limit", the words of the side to move and of all stones, seven bits a column
// from the bottom up, and the seconds it may take; answers each with "score nodes microseconds", or "-" out of time.
// Both are the processor's time.

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <vector>

using Board = std::uint64_t;

constexpr int CENTRE_FIRST[7] = {3, 2, 4, 1, 5, 0, 6};
constexpr Board BOTTOM = 0x0040810204081ULL;
constexpr std::size_t ENTRIES = 8388593;  // a prime

struct Entry {
    Board key;
    std::int8_t upper;
};

std::vector<Entry> table(ENTRIES);
std::uint64_t nodes;
std::clock_t deadline;
bool stopped;

bool has_four(Board stones) {
    for (int step : {1, 6, 7, 8}) {
        Board pairs = stones & (stones >> step);
        if (pairs & (pairs >> 2 * step)) return true;
    }
    return false;
}

Board move_in(Board taken, int column) {
    return (taken + (1ULL << column * 7)) & (63ULL << column * 7);
}

int search(Board own, Board taken, int stones, int alpha, int beta) {
    if (++nodes % 65536 == 0 && std::clock() > deadline) stopped = true;
    if (stopped || stones == 42) return 0;
    for (int column = 0; column < 7; column++) {
        Board move = move_in(taken, column);
        if (move && has_four(own | move)) return (43 - stones) / 2;
    }
    int most = (41 - stones) / 2;
    Board key = own + taken + BOTTOM;
    Entry &entry = table[key % ENTRIES];
    if (entry.key == key) most = entry.upper;
    beta = std::min(beta, most);
    if (alpha >= beta) return beta;
    for (int column : CENTRE_FIRST) {
        Board move = move_in(taken, column);
        if (!move) continue;
        int score = -search(own ^ taken, taken | move, stones + 1, -beta, -alpha);
        if (stopped) return 0;
        if (score >= beta) return score;
        alpha = std::max(alpha, score);
    }
    table[key % ENTRIES] = {key, static_cast<std::int8_t>(alpha)};
    return alpha;
}

int main() {
    Board own, taken;
    double seconds;
    while (std::cin >> own >> taken >> seconds) {
        std::fill(table.begin(), table.end(), Entry{0, 0});
        nodes = 0;
        stopped = false;
        auto started = std::clock();
        deadline = started + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
        int score = search(own, taken, __builtin_popcountll(taken), -21, 21);
        double taken_us = 1e6 * (std::clock() - started) / CLOCKS_PER_SEC;
        if (stopped)
            std::cout << "-" << std::endl;
        else
            std::cout << score << " " << nodes << " " << taken_us << std::endl;
    }
}
