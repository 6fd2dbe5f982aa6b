"""Windows of Stan's warm-up."""

import numpy

# Bits of a warm-up transition, in this order: the transition fits the step size; its position is
# used to fit the mass matrix; the transition ends a window; the step size becomes the average of
# earlier step sizes.
_STEP, _SEES, _ENDS, _AVERAGES = 1, 2, 4, 8


def schedule(warmup):
    """Returns the bits of each warm-up transition in Stan's windows, as int32 of shape (warmup,).

    The first 75 and the last 50 transitions fit only the step size. Between them, windows of 25,
    50, 100, … transitions also fit the mass matrix. The last window contains the remaining
    transitions. Below 150 transitions, one window follows the first 15 % and precedes the last
    10 %. Below 20 transitions, no window exists.
    """
    result = numpy.full(warmup, _STEP, numpy.int32)
    result[-1] |= _AVERAGES
    if warmup < 20:
        return result
    first, window, last = 75, 25, 50
    if first + window + last > warmup:
        first, last = int(0.15 * warmup), int(0.1 * warmup)
        window = warmup - first - last
    end, stop = first + window, warmup - last
    result[first:stop] |= _SEES
    while end < stop:
        result[end - 1] |= _ENDS
        window *= 2
        end += window
        if end + 2 * window > stop:  # the next window would not fit
            end = stop
    result[stop - 1] |= _ENDS
    return result
