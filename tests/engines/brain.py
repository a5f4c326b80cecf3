"""A brain that speaks the published protocol of Gomocup, written for these tests; its first argument says how it errs.

It takes the first free cell beside a mark, row by row, or the middle of an empty board.
"""

import os
import sys
import time
from pathlib import Path


def main(mode: str, place: str) -> None:
    """Answer commands until the end."""
    width = height = 0
    board: dict[tuple[int, int], int] = {}
    tries = Path(place) / "tries"
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word in ("START", "RECTSTART", "RESTART"):
            if word != "RESTART":
                sizes = [int(size) for size in rest.split(",")]
                width, height = sizes[0], sizes[-1]
            if mode == "small" and width > 9:
                say("ERROR only small boards")
                continue
            board = {}
            say("OK")
        elif word == "BOARD":
            for stone in iter(sys.stdin.readline, ""):
                if stone.strip() == "DONE":
                    break
                x, y, whose = (int(number) for number in stone.split(","))
                board[x, y] = whose
            play(board, width, height, mode, tries)
        elif word == "TURN":
            x, y = (int(number) for number in rest.split(","))
            board[x, y] = 2
            play(board, width, height, mode, tries)
        elif word == "BEGIN":
            play(board, width, height, mode, tries)
        elif word == "END":
            return
        elif word != "INFO":
            say("UNKNOWN command")


def play(board: dict[tuple[int, int], int], width: int, height: int, mode: str, tries: Path) -> None:
    """Choose a cell, or fail as the mode says; `...-once` fails only the first time."""
    is_first = not tries.exists()
    tries.touch()
    if is_first or not mode.endswith("-once"):
        fail(mode.removesuffix("-once"), board)
    cells = [(x, y) for y in range(height) for x in range(width) if (x, y) not in board]
    near = [(x, y) for x, y in cells if any((x + i, y + j) in board for i in (-1, 0, 1) for j in (-1, 0, 1))]
    x, y = near[0] if near else (width // 2, height // 2)
    board[x, y] = 1
    say("MESSAGE I like this cell\r\n\r\nDEBUG 1,1 is not my move")
    say(f"{x},{y}")


def fail(mode: str, board: dict[tuple[int, int], int]) -> None:
    """Do what no brain should; a `second` brain crashes on every board that is not empty."""
    if mode == "crash" or (mode == "second" and board):
        sys.exit("out of ideas")
    if mode == "hang":
        time.sleep(3600)
    if mode == "offboard":
        say("99,99")
    if mode == "memory":
        bytearray(400 << 20)
    if mode == "flood":
        while True:
            os.write(1, b"MESSAGE " + b"x" * 50_000 + b"\n")
            time.sleep(0.002)
    if mode == "endless line":
        while True:
            os.write(1, b"x" * 65536)
            time.sleep(0.002)


def say(text: str) -> None:
    """Write a line at once."""
    print(text, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
