"""Rules for special functions.

Sums and continued fractions are computed for all elements of an array at once, until no element
changes.
"""

import functools
import math

import jax
import jax.numpy as jnp
from jax import lax

from batch.lowering.expansion import rule

_MOST_ROUNDS = 20000


def _in_float32(function):
    """Decorator that computes in float32 for narrower float types."""
    @functools.wraps(function)
    def of_any(*arrays, **_):
        dtype = jnp.result_type(*arrays)
        if jnp.finfo(dtype).bits >= 32:
            return function(*arrays)
        return function(*(a.astype(jnp.float32) for a in arrays)).astype(dtype)
    return of_any


def _limit(first, step, a, slope=False):
    """Returns the limit of the last component of first(a), step(1, a, …), step(2, a, …), ….

    Also returns its derivative with respect to a if `slope`, else None. Both are NaN where the
    first half of the digits still changes in the last round.
    """
    one = jnp.ones_like(a)
    small = jnp.finfo(a.dtype).eps

    def goes_on(carry):
        return (carry[0] < _MOST_ROUNDS) & (carry[1] > small).any()

    def share(change, whole):
        """Returns the relative change, or 0 if it is small. Infinities and NaN do not change, so
        the result for them is 0."""
        return jnp.where(jnp.abs(change) > small * whole, jnp.abs(change) / whole, 0)

    def body(carry):
        k, _, state, tangent = carry
        number = k.astype(a.dtype)
        if slope:
            new, after = jax.jvp(functools.partial(step, number),
                                 (a, state), (one, tangent))
        else:
            new, after = step(number, a, state), None
        change = share(new[-1] - state[-1], jnp.abs(new[-1]))
        if slope:
            change = jnp.maximum(change, share(after[-1] - tangent[-1],
                                               jnp.abs(new[-1]) + jnp.abs(after[-1])))
        return k + 1, change, new, after

    state, tangent = jax.jvp(first, (a,), (one,)) if slope else (first(a), None)
    _, change, state, tangent = lax.while_loop(
        goes_on, body, (jnp.int32(1), one, state, tangent))

    def or_nan(value):
        return jnp.where(change > small ** 0.5, jnp.nan, value)
    return or_nan(state[-1]), or_nan(tangent[-1]) if slope else None


def _fraction(numerator, denominator):
    """Returns `first` and `step` of _limit() for a fraction d0 + n1 / (d1 + n2 / (d2 + …)).

    The algorithm is by Thompson and Barnett (1986). `numerator` and `denominator` take the index
    of a term, and `a`.
    """
    def away(x):  # moves x away from zero
        tiny = 1e3 * jnp.finfo(x.dtype).tiny
        return jnp.where(jnp.abs(x) < tiny, tiny, x)

    def first(a):
        value = away(denominator(jnp.zeros_like(a), a))
        return value, jnp.zeros_like(a), value

    def step(k, a, state):
        c, d, value = state
        d = 1 / away(denominator(k, a) + numerator(k, a) * d)
        c = away(denominator(k, a) + numerator(k, a) / c)
        return c, d, value * (c * d)
    return first, step


# --- the incomplete gamma function ------------------------------------------------------

def _gamma_parts(a, x, by_fraction, slope):
    """Returns (f, f'). The lower function is f times the factor x^a * e^-x / Gamma(a).

    Where `by_fraction` is true, this product is the upper function. f' is the derivative of f
    with respect to a if `slope`, else None.
    """
    def first(a):
        return 1 / a, 1 / a

    few, many = jnp.where(by_fraction, 0, x), jnp.where(by_fraction, x, 2)

    def step(k, a, state):
        term = state[0] * few / (a + k)
        return term, state[1] + term

    low, low_slope = _limit(first, step, jnp.where(by_fraction, 1, a), slope)
    high, high_slope = _limit(*_fraction(lambda k, a: k * (a - k),
                                         lambda k, a: many + 2 * k + 1 - a),
                              jnp.where(by_fraction, a, 1), slope)
    if slope:
        high_slope = -high_slope / high ** 2
    return (jnp.where(by_fraction, 1 / high, low),
            jnp.where(by_fraction, high_slope, low_slope) if slope else None)


# Coefficients of 1, e, e^2, … in the functions c_0, c_1 and c_2 of _gamma_parts_near().
# Each function follows from the one before (DLMF 8.12.12).
_NEAR = (
    (-1 / 3, 1 / 12, -2 / 135, 1 / 864, 0.0003527336860670194, -0.0001787551440329218,
     3.919263178522438e-05, -2.185448510679992e-06, -1.85406221071516e-06,
     8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09,
     1.0261809784240309e-08, -4.382036018453353e-09),
    (-1 / 540, -1 / 288, 1 / 378, -77 / 77760, 0.00020576131687242798,
     -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06,
     -1.6120900894563446e-06, 4.647127802807434e-09),
    (25 / 6048, -139 / 51840, 1 / 1296, 2.0093878600823047e-06, -0.0001073665322636516,
     5.2923448829120125e-05))


def _is_near(a, x):
    """Returns whether a is so large, and x so close to a, that a series needs too many terms."""
    return (a > (1e3 if a.dtype.itemsize == 4 else 1e4)) & (jnp.abs(x - a) < 0.3 * a)


def _gamma_parts_near(a, x):
    """Returns (y, t). The upper function is erfc(y) / 2 + t * exp(-y^2); the lower one is the
    same with -y and -t (Temme, 1979; DLMF 8.12)."""
    def series(z, numbers):
        total = jnp.zeros_like(z)
        for number in reversed(numbers):
            total = total * z + number
        return total

    share = (x - a) / a
    # e^2 / 2 equals share - log1p(share), computed by the series of atanh.
    s = share / (2 + share)
    tail = series(s * s, [1 / k for k in range(3, 27, 2)])
    e = share * jnp.sqrt(2 / (2 + share) * (1 - 2 * s / (2 + share) * tail))
    t = sum(series(e, numbers) / a ** k for k, numbers in enumerate(_NEAR))
    return e * jnp.sqrt(a / 2), t / jnp.sqrt(2 * jnp.pi * a)


def _gamma_factor(a, x):
    factor = a * jnp.log(x) - x - lax.lgamma(a)
    return jnp.where(factor < -jnp.log(jnp.finfo(a.dtype).max), 0, jnp.exp(factor))


def _by_distance(is_edge, a, x):
    """Returns _is_near(), then a and x for the method near a, then a and x for the other method.

    Where a method is not used, its arguments have safe values.
    """
    is_near = ~is_edge & _is_near(a, x)
    is_other = is_edge | is_near
    return (is_near, jnp.where(is_near, a, 2e4), jnp.where(is_near, x, 2e4),
            jnp.where(is_other, 1, a), jnp.where(is_other, 1, x))


def _gamma_value(a, x, upper):
    is_wrong = (x < 0) | (a < 0) | ((a == 0) & (x == 0)) | jnp.isnan(a) | jnp.isnan(x)
    is_edge = is_wrong | (x == 0) | (x == jnp.inf) | (a == 0)
    is_near, near_a, near_x, safe_a, safe_x = _by_distance(is_edge, a, x)
    by_fraction = (safe_x >= 1) & (safe_x > safe_a)
    value = _gamma_factor(safe_a, safe_x) * _gamma_parts(safe_a, safe_x, by_fraction,
                                                         False)[0]
    value = jnp.where(by_fraction == upper, value, 1 - value)
    y, t = _gamma_parts_near(near_a, near_x)
    y, t = (y, t) if upper else (-y, -t)
    value = jnp.where(is_near, lax.erfc(y) / 2 + t * jnp.exp(-y * y), value)
    value = jnp.where(x == 0, int(upper), value)
    value = jnp.where((x == jnp.inf) | (a == 0), int(not upper), value)
    return jnp.where(is_wrong, jnp.nan, value)


@rule("igamma")
@_in_float32
def _igamma(a, x):
    return _gamma_value(a, x, False)


@rule("igammac")
@_in_float32
def _igammac(a, x):
    return _gamma_value(a, x, True)


def _gamma_slope(a, x, factor, near_factor):
    """Returns the derivative of the lower function with respect to a, with one factor replaced.

    `factor` replaces the factor _gamma_factor() of the derivative. If x is near a, `near_factor`
    replaces the factor exp(-y^2) instead.
    """
    is_wrong = (x < 0) | (a <= 0) | jnp.isnan(a) | jnp.isnan(x)
    is_edge = is_wrong | (x == 0)
    is_near, near_a, near_x, safe_a, safe_x = _by_distance(is_edge, a, x)
    by_fraction = (safe_x > 1) & (safe_x > safe_a)
    value, slope = _gamma_parts(safe_a, safe_x, by_fraction, True)
    slope = slope + value * (jnp.log(safe_x) - lax.digamma(safe_a))
    slope = factor(safe_a, safe_x) * jnp.where(by_fraction, -slope, slope)
    (y, t), (y_slope, t_slope) = jax.jvp(lambda a: _gamma_parts_near(a, near_x), (near_a,),
                                         (jnp.ones_like(near_a),))
    near = y_slope * (jnp.pi ** -0.5 + 2 * y * t) - t_slope
    slope = jnp.where(is_near, near_factor(near_a, near_x, y) * near, slope)
    return jnp.where(is_wrong, jnp.nan, jnp.where(x == 0, 0, slope))


@rule("igamma_grad_a")
@_in_float32
def _igamma_grad(a, x):
    return _gamma_slope(a, x, _gamma_factor, lambda a, x, y: jnp.exp(-y * y))


@rule("random_gamma_grad")
@_in_float32
def _random_gamma_grad(a, x):
    """Returns the derivative of a sample with respect to a, for a constant lower function.

    The derivative of that function with respect to x is _gamma_factor() / x.
    """
    def near_factor(a, x, y):  # Stirling series
        return -x * jnp.sqrt(2 * jnp.pi / a) * (1 + 1 / (12 * a) + 1 / (288 * a * a))
    return _gamma_slope(a, x, lambda a, x: -x, near_factor)


# --- the incomplete beta function -------------------------------------------------------

@rule("regularized_incomplete_beta")
@_in_float32
def _betainc(a, b, x):
    """Computes the continued fraction (DLMF 8.17.22) of the side that converges faster."""
    is_wrong = (a < 0) | (b < 0) | (x < 0) | (x > 1) | jnp.isnan(a) | jnp.isnan(
        b) | jnp.isnan(x) | ((a == 0) & (b == 0))
    is_zero, is_one = (b == 0) | (x == 0), ((a == 0) & (x > 0)) | (x == 1)
    is_edge = is_wrong | is_zero | is_one
    a, b, x = (jnp.where(is_edge, safe, v) for v, safe in ((a, 1), (b, 1), (x, 0.5)))
    turned = x >= (a + 1) / (a + b + 2)
    p, q, y = (jnp.where(turned, b, a), jnp.where(
        turned, a, b), jnp.where(turned, 1 - x, x))

    def numerator(k, p):
        m = jnp.floor(k / 2)
        odd = -(p + m) * (p + q + m) / ((p + 2 * m) * (p + 2 * m + 1))
        even = m * (q - m) / ((p + 2 * m - 1) * (p + 2 * m))
        return y * jnp.where(k % 2 == 1, odd, even)

    value, _ = _limit(*_fraction(numerator, lambda k, p: jnp.ones_like(p)), p)
    log_beta = lax.lgamma(a) + (lax.lgamma(b) - lax.lgamma(a + b))
    value = jnp.exp(a * jnp.log(x) + b * jnp.log1p(-x) - log_beta) / (p * value)
    value = jnp.where(turned, 1 - value, value)
    value = jnp.where(is_one, 1, jnp.where(is_zero, 0, value))
    return jnp.where(is_wrong, jnp.nan, value)


# --- the Bessel functions ---------------------------------------------------------------

@rule("bessel_i0e")
@_in_float32
def _bessel_i0e(x):
    """Computes a power series, or the asymptotic series for large numbers.

    The series are DLMF 10.25.2 and 10.40.1.
    """
    x = jnp.abs(x)
    switch, powers, parts = (12, 30, 12) if x.dtype.itemsize == 4 else (20, 46, 30)
    small, large = jnp.minimum(x, switch), jnp.maximum(x, switch)
    square = small * small / 4
    low, high = jnp.ones_like(x), jnp.ones_like(x)
    for k in range(powers, 0, -1):
        low = 1 + low * square * (1 / k ** 2)
    for k in range(parts, 0, -1):
        high = 1 + high * ((2 * k - 1) ** 2 / (8 * k)) / large
    return jnp.where(x < switch, low * jnp.exp(-small),
                     high / (math.sqrt(2 * math.pi) * jnp.sqrt(large)))
