//===- PQTreeTest.cpp - PQ trees against brute force ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With BATCH_LONG_TESTS set in the environment, the random tests are longer.
//
//===----------------------------------------------------------------------===//

#include "Batch/Layout/PQTree.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>

using namespace batchrt;

namespace {
using Set = std::vector<int32_t>;
using Sets = std::vector<Set>;
using Order = std::vector<int32_t>;

int64_t timesIfLong(int64_t factor) {
  return std::getenv("BATCH_LONG_TESTS") ? factor : 1;
}

Set setOf(uint32_t bits) {
  Set set;
  for (int32_t i = 0; bits >> i; ++i)
    if (bits >> i & 1)
      set.push_back(i);
  return set;
}

/// Returns all orders of a node.
std::vector<Order> ordersOf(const PQTree &tree, PQTree::Node node) {
  if (tree.kind(node) == PQTree::Kind::Leaf)
    return {{node}};
  std::vector<PQTree::Node> children = tree.children(node);
  bool isP = tree.kind(node) == PQTree::Kind::P;
  std::vector<Order> result;
  std::vector<int> permutation(children.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  bool more = true, reversed = false;
  while (more) {
    std::vector<Order> parts{{}};
    for (int i : permutation) {
      std::vector<Order> longer;
      for (const Order &part : parts)
        for (const Order &below : ordersOf(tree, children[i])) {
          longer.push_back(part);
          longer.back().insert(longer.back().end(), below.begin(), below.end());
        }
      parts = std::move(longer);
    }
    result.insert(result.end(), parts.begin(), parts.end());
    if (isP) {
      more = std::next_permutation(permutation.begin(), permutation.end());
    } else {
      more = !reversed;
      reversed = true;
      std::reverse(permutation.begin(), permutation.end());
    }
  }
  return result;
}

/// Returns the number of orders of a node.
int64_t countOrders(const PQTree &tree, PQTree::Node node) {
  std::vector<PQTree::Node> children = tree.children(node);
  int64_t count = tree.kind(node) == PQTree::Kind::Q ? 2 : 1;
  for (size_t i = 0; i < children.size(); ++i) {
    count *= countOrders(tree, children[i]);
    if (tree.kind(node) == PQTree::Kind::P)
      count *= i + 1;
  }
  return count;
}

/// Returns the structure as text. A reduction that fails does not change this
/// text.
std::string textOf(const PQTree &tree, PQTree::Node node) {
  std::string text = std::to_string(node) + '(';
  for (PQTree::Node child : tree.children(node))
    text += textOf(tree, child);
  return text + ')';
}
std::string textOf(const PQTree &tree) { return textOf(tree, tree.root()); }

/// All permutations of n elements, and the permutations in which a set is
/// consecutive.
class AllOrders {
public:
  explicit AllOrders(int32_t n) : n(n), wholes(size_t(1) << n) {
    std::vector<uint8_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    do
      orders.insert(orders.end(), order.begin(), order.end());
    while (std::next_permutation(order.begin(), order.end()));
    count = static_cast<int64_t>(orders.size()) / n;
  }

  using Bits = std::vector<uint64_t>;
  Bits all() const {
    Bits bits((count + 63) / 64, ~uint64_t(0));
    if (count % 64)
      bits.back() = (uint64_t(1) << count % 64) - 1;
    return bits;
  }
  const Bits &consecutive(uint32_t set) {
    Bits &bits = wholes[set];
    if (!bits.empty())
      return bits;
    bits.resize((count + 63) / 64);
    for (int64_t p = 0; p < count; ++p) {
      int runs = 0;
      bool inside = false;
      for (int32_t i = 0; i < n; ++i) {
        bool is = set >> orders[p * n + i] & 1;
        runs += is && !inside;
        inside = is;
      }
      if (runs <= 1)
        bits[p / 64] |= uint64_t(1) << p % 64;
    }
    return bits;
  }
  static Bits intersect(const Bits &a, const Bits &b) {
    Bits both(a.size());
    for (size_t i = 0; i < a.size(); ++i)
      both[i] = a[i] & b[i];
    return both;
  }
  static int64_t size(const Bits &bits) {
    int64_t sum = 0;
    for (uint64_t word : bits)
      sum += __builtin_popcountll(word);
    return sum;
  }
  std::set<Order> members(const Bits &bits) const {
    std::set<Order> result;
    for (int64_t p = 0; p < count; ++p)
      if (bits[p / 64] >> p % 64 & 1)
        result.insert(
            Order(orders.begin() + p * n, orders.begin() + (p + 1) * n));
    return result;
  }

  const int32_t n;

private:
  std::vector<uint8_t> orders;
  int64_t count;
  std::vector<Bits> wholes;
};

/// The data that is compared after every reduction. In every order of the tree,
/// all sets are consecutive (`verify`), so equal numbers of orders mean that
/// the orders are equal. If `list` is true, the orders are compared one by one.
struct Family {
  AllOrders &orders;
  bool list;
  PQTree tree;
  AllOrders::Bits bits;
  Sets sets;

  Family(AllOrders &orders, bool list)
      : orders(orders), list(list), tree(orders.n), bits(orders.all()) {}

  /// Adds a set, and returns true if it fits.
  bool add(uint32_t set) {
    AllOrders::Bits both = AllOrders::intersect(bits, orders.consecutive(set));
    int64_t size = AllOrders::size(both);
    bool fits = size > 0, changed = true;
    std::string before = textOf(tree);
    EXPECT_EQ(tree.reduce(setOf(set), &changed), fits);
    EXPECT_EQ(changed, fits && size != AllOrders::size(bits));
    EXPECT_EQ(tree.check(), "");
    if (!changed) {
      EXPECT_EQ(textOf(tree), before);
    }
    if (!fits)
      return false;
    bits = std::move(both);
    sets.push_back(setOf(set));
    EXPECT_EQ(countOrders(tree, tree.root()), size);
    EXPECT_EQ(tree.verify(sets), "");
    if (list) {
      std::vector<Order> listed = ordersOf(tree, tree.root());
      EXPECT_EQ(static_cast<int64_t>(listed.size()), size);
      EXPECT_EQ(std::set<Order>(listed.begin(), listed.end()),
                orders.members(bits));
      EXPECT_EQ(std::count(listed.begin(), listed.end(), tree.frontier()), 1);
    }
    return true;
  }
};

/// Extends copies of `family`, whose sets fit, by each combination of at most
/// `depth` sets. Uses only sets whose bit masks are at least `next`.
void extend(const Family &family, uint32_t next, int depth, int64_t &families) {
  for (uint32_t set = next; set < uint32_t(1) << family.orders.n; ++set) {
    if (__builtin_popcount(set) < 2)
      continue;
    Family larger = family;
    ++families;
    if (larger.add(set) && depth > 1)
      extend(larger, set + 1, depth - 1, families);
    if (testing::Test::HasFailure())
      return;
  }
}

int64_t extendAll(int32_t n, int depth, bool list) {
  AllOrders orders(n);
  int64_t families = 0;
  extend(Family(orders, list), 0, depth, families);
  return families;
}

/// Sets that are intervals of one hidden order, so that all fit.
struct Intervals {
  Order hidden;
  Sets sets;

  Intervals(int32_t n, int64_t count, int32_t longest, int seed) : hidden(n) {
    std::mt19937 random(seed);
    std::iota(hidden.begin(), hidden.end(), 0);
    std::shuffle(hidden.begin(), hidden.end(), random);
    for (int64_t i = 0; i < count; ++i) {
      int32_t size = 2 + random() % (longest - 1);
      int32_t begin = random() % (n - size + 1);
      sets.emplace_back(hidden.begin() + begin, hidden.begin() + begin + size);
      std::shuffle(sets.back().begin(), sets.back().end(), random);
    }
  }
};
} // namespace

TEST(PQTree, FewLeaves) {
  EXPECT_EQ(PQTree(0).frontier(), Order());
  EXPECT_EQ(PQTree(0).check(), "");
  EXPECT_EQ(PQTree(1).frontier(), Order({0}));
  EXPECT_EQ(PQTree(1).check(), "");
  PQTree tree(2);
  EXPECT_TRUE(tree.reduce({}));
  EXPECT_TRUE(tree.reduce({1, 1}));
  EXPECT_TRUE(tree.reduce({0, 1, 0}));
  EXPECT_EQ(tree.check(), "");
}

// The example of ED-Batch, Figure 4.
TEST(PQTree, Example) {
  PQTree tree(8);
  for (const Set &set : Sets{{3, 4}, {0, 2}, {1, 0}, {2, 3, 4}, {5, 6, 7}})
    EXPECT_TRUE(tree.reduce(set));
  EXPECT_EQ(countOrders(tree, tree.root()), 2 * 2 * 2 * 6);
  EXPECT_FALSE(tree.reduce({1, 2}));
  EXPECT_FALSE(tree.reduce({0, 5}));
  EXPECT_TRUE(tree.reduce({5, 6}));
  EXPECT_EQ(countOrders(tree, tree.root()), 2 * 2 * 2 * 4);
  EXPECT_EQ(tree.check(), "");
}

TEST(PQTree, EveryFamilyOnUpTo4) {
  EXPECT_GT(extendAll(2, 1, true), 0);
  EXPECT_GT(extendAll(3, 4, true), 0);
  EXPECT_GT(extendAll(4, 11, true), 0);
}

// A family that does not fit has a subset that fits and one more set that does
// not, so the test covers all families.
TEST(PQTree, EveryFamilyOn5) { EXPECT_GT(extendAll(5, 26, true), 90000); }

TEST(PQTree, ThreeSubsetsOf6And7) {
  EXPECT_GT(extendAll(6, 3, false), 10000);
  EXPECT_GT(extendAll(7, 3, false), 100000);
}

TEST(PQTree, RandomFamiliesOnUpTo9) {
  std::mt19937 random(5);
  for (int32_t n = 6; n <= 9; ++n) {
    AllOrders orders(n);
    int64_t families = timesIfLong(20) * (n == 9 ? 30 : 100);
    for (int64_t f = 0; f < families; ++f) {
      Family family(orders, n == 6);
      // Vary the size of the sets, because small sets fit more often.
      int sizes = 2 + random() % (n - 2);
      for (int i = 0; i < 12; ++i) {
        uint32_t set = 0;
        for (int j = 0; j < sizes; ++j)
          set |= uint32_t(1) << random() % n;
        family.add(set);
      }
      ASSERT_FALSE(HasFailure()) << "family " << f << " on " << n;
    }
  }
}

TEST(PQTree, IntervalsOfAHiddenOrderFit) {
  for (int seed = 0; seed < 200 * timesIfLong(20); ++seed) {
    int32_t n = 5 + seed % 97;
    Intervals intervals(n, 1 + seed % 61, 2 + seed % (n - 2), seed);
    PQTree tree(n);
    for (const Set &set : intervals.sets) {
      ASSERT_TRUE(tree.reduce(set));
      ASSERT_EQ(tree.check(), "");
    }
    ASSERT_EQ(tree.verify(intervals.sets), "");
  }
}

// With all pairs of neighbors, only the hidden order and its reverse remain.
// Another pair does not fit and does not change the tree.
TEST(PQTree, OneOrderLeft) {
  for (int seed = 0; seed < 20; ++seed) {
    int32_t n = 3 + seed * 7;
    Intervals intervals(n, 0, 2, seed);
    std::mt19937 random(seed);
    for (int32_t i = 0; i + 1 < n; ++i)
      intervals.sets.push_back({intervals.hidden[i + 1], intervals.hidden[i]});
    std::shuffle(intervals.sets.begin(), intervals.sets.end(), random);
    PQTree tree(n);
    for (const Set &set : intervals.sets)
      ASSERT_TRUE(tree.reduce(set));
    EXPECT_FALSE(tree.reduce({intervals.hidden[0], intervals.hidden[n - 1]}));
    EXPECT_EQ(tree.check(), "");
    Order reversed(intervals.hidden.rbegin(), intervals.hidden.rend()),
        order = tree.frontier();
    EXPECT_TRUE(order == intervals.hidden || order == reversed);
  }
}

// The number of visits of a reduction grows with the size of its set, not with
// the tree or earlier reductions. This holds even if sets do not fit.
TEST(PQTree, VisitsLittle) {
  for (int32_t n : {1000, 1000000}) {
    Intervals intervals(n, n / 10, 18, n);
    PQTree tree(n);
    int64_t entries = 0;
    for (const Set &set : intervals.sets) {
      ASSERT_TRUE(tree.reduce(set));
      entries += set.size();
    }
    EXPECT_LE(tree.visited(), 3 * entries);
    EXPECT_EQ(tree.check(), "");

    int64_t before = tree.visited(), failures = 0;
    std::mt19937 random(n);
    for (const Set &set : intervals.sets) {
      PQTree unchanged = n == 1000 ? tree : PQTree(0);
      if (tree.reduce({set[0], set[1], static_cast<int32_t>(random() % n)}))
        continue;
      ++failures;
      if (n == 1000) {
        ASSERT_EQ(textOf(tree), textOf(unchanged));
      }
    }
    EXPECT_GT(failures, n / 100);
    EXPECT_LE(tree.visited() - before, n / 10 * 3 * 4);
    EXPECT_EQ(tree.check(), "");
  }
}

TEST(PQTree, VerifyFindsSetsThatAreNotConsecutive) {
  PQTree tree(5);
  ASSERT_TRUE(tree.reduce({0, 1, 2}));
  EXPECT_EQ(tree.verify({{0, 1, 2}, {3, 4, 0}}),
            "set 1 is not consecutive in every order");
  EXPECT_EQ(tree.verify({{0, 1}}), "set 0 is not consecutive in every order");
  EXPECT_EQ(tree.verify({{}, {3}, {0, 1, 2, 3, 4}}), "");
  ASSERT_TRUE(tree.reduce({2, 3}));
  EXPECT_EQ(tree.verify({{0, 1, 2, 3}, {4, 2, 3, 0, 1}, {0, 1}}), "");
  EXPECT_NE(tree.verify({{0, 2}}), "");
}
