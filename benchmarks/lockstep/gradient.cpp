//===- gradient.cpp - A batched gradient written by hand --------*- C++ -*-===//
//
// batch-gradient CHAINS OBSERVATIONS REGRESSORS RUNS: prints a JSON object with
// the seconds of a handwritten loop, and values to check. The loop computes the
// log density of Bayesian logistic regression and its gradient for all chains
// at once. No chain waits for another one. The loop is the counterpart of
// @log_density in test/models/nuts_logreg.mlir, on the same kind of synthetic
// data:
//
//   a = X w,  log p = sum(y a - ln(1 + exp(a))) - w.w / 2,
//   gradient = X^T (y - sigmoid(a)) - w
//
// An expert would write this code for the problem: a vector contains adjacent
// chains, and both products keep their sums in registers. A block of
// observations stays in the first-level cache during the first product, the
// sigmoid and the second product.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Vector = double __attribute__((vector_size(64)));
/// Number of chains in a tile, of chains in a vector, and of vectors in a tile.
constexpr int64_t kTile = 32, kLanes = 8, kVectors = kTile / kLanes;
/// Number of observations in a block, and of rows in a register tile.
constexpr int64_t kBlock = 64, kRows = 6;

struct Problem {
  int64_t chains, observations, regressors;
  std::vector<double> x, y; ///< sizes: observations x regressors; observations
};

/// Adds the sum over k of a[i * rowStride + k * sumStride] * b[k][lane] to
/// out[i][lane]. `out` has a row of kTile chains for each i, and `b` has one
/// for each k.
template <int64_t Rows>
void multiplyRows(const double *a, int64_t rowStride, int64_t sumStride,
                  const Vector *b, int64_t terms, Vector *out) {
  Vector sums[Rows][kVectors];
  for (int64_t i = 0; i < Rows; ++i)
    for (int64_t v = 0; v < kVectors; ++v)
      sums[i][v] = out[i * kVectors + v];
  for (int64_t k = 0; k < terms; ++k)
    for (int64_t i = 0; i < Rows; ++i)
      for (int64_t v = 0; v < kVectors; ++v)
        sums[i][v] += a[i * rowStride + k * sumStride] * b[k * kVectors + v];
  for (int64_t i = 0; i < Rows; ++i)
    for (int64_t v = 0; v < kVectors; ++v)
      out[i * kVectors + v] = sums[i][v];
}

void multiply(const double *a, int64_t rows, int64_t rowStride,
              int64_t sumStride, const Vector *b, int64_t terms, Vector *out) {
  int64_t i = 0;
  for (; i + kRows <= rows; i += kRows)
    multiplyRows<kRows>(a + i * rowStride, rowStride, sumStride, b, terms,
                        out + i * kVectors);
  for (; i < rows; ++i)
    multiplyRows<1>(a + i * rowStride, rowStride, sumStride, b, terms,
                    out + i * kVectors);
}

/// Replaces a by y - sigmoid(a), for one observation and a tile of chains. Adds
/// the observation's term to the log density.
void residuals(double y, double *__restrict a, double *__restrict logp) {
  for (int64_t c = 0; c < kTile; ++c) {
    double e = std::exp(-std::fabs(a[c]));
    double inverse = 1 / (1 + e);
    logp[c] += y * a[c] - std::max(a[c], 0.0) - std::log(1 + e);
    a[c] = y - (a[c] >= 0 ? 1 : e) * inverse;
  }
}

/// Evaluates a tile of chains. `w` and `gradient` have a row of chains per
/// regressor.
void evaluate(const Problem &p, const Vector *w, Vector *gradient, double *logp,
              Vector *block) {
  std::fill(logp, logp + kTile, 0.0);
  auto *lanesOf = reinterpret_cast<const double *>(w);
  for (int64_t k = 0; k < p.regressors; ++k)
    for (int64_t c = 0; c < kTile; ++c)
      logp[c] -= 0.5 * lanesOf[k * kTile + c] * lanesOf[k * kTile + c];
  for (int64_t i = 0; i < p.regressors * kVectors; ++i)
    gradient[i] = -w[i];
  for (int64_t first = 0; first < p.observations; first += kBlock) {
    int64_t rows = std::min(kBlock, p.observations - first);
    const double *x = &p.x[first * p.regressors];
    std::fill(block, block + rows * kVectors, Vector{});
    multiply(x, rows, p.regressors, 1, w, p.regressors, block);
    for (int64_t r = 0; r < rows; ++r)
      residuals(p.y[first + r],
                reinterpret_cast<double *>(block + r * kVectors), logp);
    multiply(x, p.regressors, 1, p.regressors, block, rows, gradient);
  }
}

struct Random {
  uint64_t state = 1;
  /// Returns a uniform number in [-1, 1).
  double next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1p-52 - 1;
  }
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: batch-gradient CHAINS OBSERVATIONS REGRESSORS "
                         "RUNS\n");
    return 1;
  }
  Problem p;
  p.chains = (std::atoll(argv[1]) + kTile - 1) / kTile * kTile;
  p.observations = std::atoll(argv[2]);
  p.regressors = std::atoll(argv[3]);
  Random random;
  for (int64_t i = 0; i < p.observations * p.regressors; ++i)
    p.x.push_back(random.next());
  for (int64_t i = 0; i < p.observations; ++i)
    p.y.push_back(random.next() > 0);
  const int64_t tiles = p.chains / kTile, size = p.regressors * kVectors;
  std::vector<Vector> w(tiles * size), gradient(tiles * size),
      block(kBlock * kVectors);
  std::vector<double> logp(p.chains);
  for (Vector &values : w)
    for (int64_t i = 0; i < kLanes; ++i)
      values[i] = 0.1 * random.next();

  std::printf("{\"chains\": %lld, \"seconds\": [",
              static_cast<long long>(p.chains));
  for (int64_t run = 0, runs = std::atoll(argv[4]); run < runs; ++run) {
    auto start = std::chrono::steady_clock::now();
    for (int64_t t = 0; t < tiles; ++t)
      evaluate(p, &w[t * size], &gradient[t * size], &logp[t * kTile],
               block.data());
    std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    std::printf("%s%.6g", run ? ", " : "", taken.count());
  }

  // Compare some entries of the first chain's gradient with finite differences
  // of its log density.
  double worst = 0;
  std::vector<Vector> shifted(w.begin(), w.begin() + size), unused(size);
  std::vector<double> above(kTile), below(kTile);
  for (int64_t k = 0; k < p.regressors; k += 17) {
    const double h = 1e-5;
    Vector &entry = shifted[k * kVectors];
    double middle = entry[0];
    entry[0] = middle + h;
    evaluate(p, shifted.data(), unused.data(), above.data(), block.data());
    entry[0] = middle - h;
    evaluate(p, shifted.data(), unused.data(), below.data(), block.data());
    entry[0] = middle;
    double slope = (above[0] - below[0]) / (2 * h);
    worst = std::max(worst, std::fabs(slope - gradient[k * kVectors][0]) /
                                std::max(1.0, std::fabs(slope)));
  }
  std::printf("], \"error\": %.3g}\n", worst);
  return worst < 1e-5 ? 0 : 1;
}
