"""Sudoku of six by six cells: boxes have two rows and three columns.

A grid is a list of 36 digits, row by row; 0 is an empty cell.
"""

import random

CELLS = 36
ROW = [i // 6 for i in range(CELLS)]
COLUMN = [i % 6 for i in range(CELLS)]
BOX = [i // 12 * 2 + i % 6 // 3 for i in range(CELLS)]
# Relation of two cells as bits: 1 for the same row, 2 for the same column, 4 for the same box.
RELATION = [[(ROW[i] == ROW[j]) + 2 * (COLUMN[i] == COLUMN[j]) + 4 * (BOX[i] == BOX[j])
             for j in range(CELLS)] for i in range(CELLS)]


def solutions(grid, most, order):
    """Returns up to `most` solutions. The random generator `order` shuffles the digits before
    they are tried."""
    free = {i: {1, 2, 3, 4, 5, 6} - {grid[j] for j in range(CELLS) if RELATION[i][j]}
            for i in range(CELLS) if not grid[i]}
    if not free:
        return [list(grid)]
    i = min(free, key=lambda i: len(free[i]))
    found = []
    for digit in order.sample(sorted(free[i]), len(free[i])):
        grid[i] = digit
        found += solutions(grid, most - len(found), order)
        grid[i] = 0
        if len(found) == most:
            break
    return found


def puzzle(seed, more=0.4):
    """Returns a grid with exactly one solution, and this solution. The grid contains the
    digits that a unique solution requires. Each other digit is added with a probability that is
    drawn between 0 and `more`."""
    order = random.Random(seed)
    (solution,) = solutions([0] * CELLS, 1, order)
    grid = list(solution)
    for i in order.sample(range(CELLS), CELLS):
        grid[i] = 0
        if len(solutions(grid, 2, order)) > 1:
            grid[i] = solution[i]
    share = order.random() * more
    grid = [digit if digit or order.random() > share else known
            for digit, known in zip(grid, solution)]
    return grid, solution


def show(grid):
    rows = ("".join(map(str, grid[i:i + 6])) for i in range(0, CELLS, 6))
    return " ".join(rows).replace("0", ".")
