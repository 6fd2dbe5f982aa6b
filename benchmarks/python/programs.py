"""The compared functions, each for one instance. An entry of PROGRAMS returns the function and
the arguments of n instances."""

import jax
import jax.numpy as jnp
import numpy
from jax import lax

PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def numbers(generator, *shape, scale=1.0):
    return jnp.asarray(scale * generator.normal(size=shape), jnp.float32)


def matrix(generator, rows, columns):
    return numbers(generator, rows, columns, scale=columns ** -0.5)


@program
def mandelbrot(n, generator):
    """Computes escape times: iterates two numbers until they leave a circle; 1 to 1000 rounds."""
    def f(x0, y0):
        def goes_on(state):
            x, y, rounds = state
            return (x * x + y * y < 4) & (rounds < 1000)

        def step(state):
            x, y, rounds = state
            return x * x - y * y + x0, 2 * x * y + y0, rounds + 1

        return lax.while_loop(goes_on, step, (0.0, 0.0, 0))[2]

    return f, (jnp.asarray(generator.uniform(-2, 0.5, n), jnp.float32),
               jnp.asarray(generator.uniform(-1.2, 1.2, n), jnp.float32))


@program
def newton(n, generator):
    """Computes a square root; 8 to 15 rounds."""
    def f(x):
        return lax.while_loop(lambda y: jnp.abs(y * y - x) > 1e-5 * x,
                              lambda y: (y + x / y) / 2, x + 1)

    return f, (jnp.asarray(10.0 ** generator.uniform(2, 6, n), jnp.float32),)


@program
def collatz(n, generator):
    """Computes the length of a Collatz sequence, with integers only; about 10 to 350 rounds."""
    def f(start):
        def step(state):
            value, rounds = state
            return jnp.where(value % 2 == 0, value // 2, 3 * value + 1), rounds + 1

        return lax.while_loop(lambda state: state[0] > 1, step, (start, 0))[1]

    return f, (jnp.asarray(generator.integers(2, 100000, n), jnp.int32),)


# Coefficients of the method of Dormand and Prince (1980).
A = [[], [1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9],
     [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
     [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
     [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]]
B = A[-1] + [0]
E = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]


@program
def ode(n, generator):
    """Integrates the Lorenz equations. The error determines the step size (RK45); 25 to 60
    steps."""
    def slope(y):
        return jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1],
                          y[0] * y[1] - 8 / 3 * y[2]])

    def f(start, end):
        def step(state):
            t, y, h = state
            h = jnp.minimum(h, end - t)
            slopes = []
            for row in A:
                slopes.append(slope(y + h * sum((a * k for a, k in zip(row, slopes) if a),
                                                jnp.zeros(3))))
            after = y + h * sum(b * k for b, k in zip(B, slopes) if b)
            error = h * sum(e * k for e, k in zip(E, slopes) if e)
            worst = jnp.max(jnp.abs(error) / (1e-4 + 1e-4 * jnp.abs(after))) + 1e-10
            good = worst <= 1
            factor = jnp.clip(0.9 * worst ** -0.2, 0.2, 5.0)
            return jnp.where(good, t + h, t), jnp.where(good, after, y), h * factor

        return lax.while_loop(lambda state: state[0] < end - 1e-6, step,
                              (jnp.float32(0), start, jnp.float32(0.01)))[1]

    return f, (numbers(generator, n, 3, scale=5.0) + jnp.asarray([0.0, 0.0, 20.0]),
               jnp.asarray(generator.uniform(0.5, 1.0, n), jnp.float32))


@program
def rejection(n, generator):
    """Draws normal numbers until one is above a bound. The bound determines the average number of
    draws, 2 to 300."""
    def uniform(seed, number):
        bits = seed * jnp.uint32(747796405) + number * jnp.uint32(2891336453)
        for shift, factor in ((16, 2246822507), (13, 3266489909)):
            bits = (bits ^ (bits >> shift)) * jnp.uint32(factor)
        bits = bits ^ (bits >> 16)
        return (bits >> 8).astype(jnp.float32) * 2.0 ** -24 + 2.0 ** -25

    def f(seed, bound):
        def step(state):
            draw, _ = state
            radius = jnp.sqrt(-2 * jnp.log(uniform(seed, 2 * draw)))
            angle = 6.2831853 * uniform(seed, 2 * draw + 1)
            return draw + 1, radius * jnp.cos(angle)

        return lax.while_loop(lambda state: state[1] < bound, step,
                              (jnp.uint32(0), bound - 1))[1]

    return f, (jnp.asarray(generator.integers(0, 2 ** 32, n), jnp.uint32),
               jnp.asarray(generator.uniform(0, 2.7, n), jnp.float32))


def converge(hidden):
    def make(n, generator):
        w = numpy.linalg.qr(generator.normal(size=(hidden, hidden)))[0]
        w = jnp.asarray(w, jnp.float32)

        def f(x, scale):
            def step(state):
                h, _ = state
                after = jnp.tanh(scale * (w @ h) + x)
                return after, jnp.max(jnp.abs(after - h))

            return lax.while_loop(lambda state: state[1] > 1e-4, step,
                                  (jnp.zeros(hidden), jnp.float32(1)))[0]

        return f, (numbers(generator, n, hidden, scale=0.1),
                   jnp.asarray(generator.uniform(0.5, 0.9, n), jnp.float32))

    make.__doc__ = "A layer of hidden size %d until its state is constant; 12 to 60 " \
        "rounds." % hidden
    return make


for size in (16, 64, 256):
    PROGRAMS["converge%d" % size] = converge(size)


@program
def decoder(n, generator):
    """Runs a recurrent net. Each step selects a word, which the next step reads; 16 to 64 words."""
    hidden, words = 256, 128
    w, u, v = (matrix(generator, *shape) for shape in (
        (hidden, hidden), (hidden, hidden), (words, hidden)))
    table = numbers(generator, words, hidden)

    def f(start, length):
        def step(state):
            h, word, at, written = state
            h = jnp.tanh(w @ h + u @ table[word])
            word = jnp.argmax(v @ h).astype(jnp.int32)
            return h, word, at + 1, lax.dynamic_update_index_in_dim(written, word, at, 0)

        return lax.while_loop(lambda state: state[2] < length, step,
                              (start, jnp.int32(0), jnp.int32(0),
                               jnp.zeros(64, jnp.int32)))[3]

    return f, (numbers(generator, n, hidden),
               jnp.asarray(generator.integers(16, 65, n), jnp.int32))


@program
def gru(n, generator):
    """Runs 100 steps of a GRU of hidden size 64. All lanes take the same steps, which is the best
    case for vmap."""
    hidden = 64
    w, u = matrix(generator, 3 * hidden, hidden), matrix(generator, 3 * hidden, hidden)

    def f(xs):
        def step(h, x):
            a, b = w @ x, u @ h
            r = jax.nn.sigmoid(a[:hidden] + b[:hidden])
            z = jax.nn.sigmoid(a[hidden:2 * hidden] + b[hidden:2 * hidden])
            new = jnp.tanh(a[2 * hidden:] + r * b[2 * hidden:])
            return (1 - z) * new + z * h, None

        return lax.scan(step, jnp.zeros(hidden), xs)[0]

    return f, (numbers(generator, n, 100, hidden),)


@program
def condition(n, generator):
    """On average, one lane in eight takes a branch with 20 layers. The other lanes take a branch
    with one layer."""
    hidden = 128
    w = matrix(generator, hidden, hidden)

    def f(x, takes):
        def long(x):
            return lax.fori_loop(0, 20, lambda _, h: jnp.tanh(w @ h), x)

        return lax.cond(takes < 0.125, long, lambda x: jnp.tanh(w @ x), x)

    return f, (numbers(generator, n, hidden),
               jnp.asarray(generator.uniform(0, 1, n), jnp.float32))


@program
def mlp(n, generator):
    """Runs three layers of 256 numbers, without control flow."""
    layers = [matrix(generator, 256, 256) for _ in range(3)]

    def f(x):
        for layer in layers:
            x = jax.nn.relu(layer @ x)
        return x

    return f, (numbers(generator, n, 256),)
