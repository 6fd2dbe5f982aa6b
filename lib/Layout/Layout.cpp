//===- Layout.cpp - Variables in the order of batches ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Layout/Layout.h"
#include "Batch/Layout/PQTree.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>

using namespace batchrt;

using Node = PQTree::Node;

namespace {
/// Finished PQ tree: the ancestors of nodes, and the range of the frontier
/// below each node.
struct TreeView {
  explicit TreeView(const PQTree &tree);

  /// Returns the lowest node above both positions of the frontier.
  Node above(int32_t first, int32_t last) const;
  /// Returns the index of the child of `node` that is above a position of the
  /// frontier.
  int32_t numberBelow(Node node, int32_t place) const;

  std::vector<int32_t> frontier, place;
  struct NodeView {
    Node parent = PQTree::none;
    /// Index among the children of the parent.
    int32_t number = 0;
    int32_t begin = 0, end = 0;
    PQTree::Kind kind = PQTree::Kind::Free;
    std::vector<Node> children;
  };
  std::vector<NodeView> nodes;
  Node root;
};

/// Orders of nodes that determine each other (ED-Batch, algorithm 5). The order
/// of a P node assigns a rank to each child. The order of a Q node, or of a P
/// node with two children, assigns a rank to its left and to its right end.
class NodeOrders {
public:
  explicit NodeOrders(size_t numNodes) : parents(numNodes), maps(numNodes) {
    std::iota(parents.begin(), parents.end(), 0);
  }

  /// Requires child i of `a` to have the rank of child map[i] of `b`. Returns
  /// false if this contradicts earlier requirements.
  bool unite(Node a, Node b, const std::vector<int32_t> &map);
  /// Returns the ranks of the `size` children or ends of a node.
  std::vector<int32_t> ranks(Node node, size_t size);

private:
  using Map = std::vector<int32_t>;
  /// Returns the node that determines the order of `node`. Stores in `map`, for
  /// each child of `node`, the child of the returned node that has the same
  /// rank.
  Node find(Node node, size_t size, Map &map);

  std::vector<Node> parents, path;
  std::vector<Map> maps;
};

/// Access that must work without a copy.
struct Claim {
  int32_t batch;
  int32_t access;
  int64_t bytes;
};

/// Finds an order that satisfies a set of claims (ED-Batch, algorithms 2 to 4
/// and 6).
class Solver {
public:
  explicit Solver(const LayoutProblem &problem)
      : problem(problem), indexOf(problem.variables.size()) {}

  /// Stores an order that satisfies `claims` in `order`. Returns false if there
  /// is none.
  bool solve(const std::vector<Claim> &claims, std::vector<int32_t> &order);

private:
  const std::vector<int32_t> &variables(const Claim &claim) const {
    return problem.batches[claim.batch].accesses[claim.access];
  }
  bool broadcast(const std::vector<Claim> &claims, PQTree &tree);
  bool broadcastFrom(const Claim &from, const std::vector<Claim> &batch,
                     const TreeView &view, PQTree &tree);
  bool uniteOrders(const std::vector<Claim> &claims, const TreeView &view,
                   NodeOrders &orders);
  bool uniteOrders(const Claim &from, const Claim &to, const TreeView &view,
                   NodeOrders &orders);
  template <class Callback>
  void forEachNode(const Claim &claim, const TreeView &view,
                   Callback &&callback);
  void setIndices(const Claim &claim);

  const LayoutProblem &problem;
  /// For each variable, its index in the claim that is broadcast.
  std::vector<int32_t> indexOf;
  std::vector<int32_t> image;
  /// For each variable, the batches with a claim that contains it. For each
  /// batch, true if its trees have changed since its last broadcast.
  std::vector<std::vector<int32_t>> batchesOf;
  std::vector<char> changed;
};
} // namespace

//===----------------------------------------------------------------------===//
// Trees and orders of their nodes
//===----------------------------------------------------------------------===//

TreeView::TreeView(const PQTree &tree)
    : place(tree.numLeaves()), nodes(tree.numNodes()), root(tree.root()) {
  struct Visit {
    Node node;
    bool isEnd;
  };
  std::vector<Visit> stack;
  if (root != PQTree::none)
    stack.push_back({root, false});
  while (!stack.empty()) {
    Visit visit = stack.back();
    stack.pop_back();
    NodeView &node = nodes[visit.node];
    if (visit.isEnd) {
      node.end = static_cast<int32_t>(frontier.size());
      continue;
    }
    node.begin = static_cast<int32_t>(frontier.size());
    node.kind = tree.kind(visit.node);
    if (node.kind == PQTree::Kind::Leaf) {
      place[visit.node] = node.begin;
      frontier.push_back(visit.node);
      node.end = node.begin + 1;
      continue;
    }
    node.children = tree.children(visit.node);
    stack.push_back({visit.node, true});
    for (size_t i = node.children.size(); i-- > 0;) {
      nodes[node.children[i]].parent = visit.node;
      nodes[node.children[i]].number = static_cast<int32_t>(i);
      stack.push_back({node.children[i], false});
    }
  }
}

Node TreeView::above(int32_t first, int32_t last) const {
  if (first > last)
    std::swap(first, last);
  Node node = frontier[first];
  while (nodes[node].end <= last)
    node = nodes[node].parent;
  return node;
}

int32_t TreeView::numberBelow(Node node, int32_t place) const {
  Node below = frontier[place];
  while (nodes[below].parent != node)
    below = nodes[below].parent;
  return nodes[below].number;
}

Node NodeOrders::find(Node node, size_t size, Map &map) {
  path.clear();
  for (; parents[node] != node; node = parents[node])
    path.push_back(node);
  map.resize(size);
  std::iota(map.begin(), map.end(), 0);
  // Compress from the top down, because each map depends on those above it.
  for (size_t i = path.size(); i-- > 0;) {
    Map &own = maps[path[i]];
    for (int32_t &child : own)
      child = map[child];
    parents[path[i]] = node;
    map = own;
  }
  return node;
}

bool NodeOrders::unite(Node a, Node b, const std::vector<int32_t> &map) {
  Map toA, toB;
  Node topA = find(a, map.size(), toA), topB = find(b, map.size(), toB);
  if (topA != topB) {
    parents[topA] = topB;
    maps[topA].resize(map.size());
    for (size_t i = 0; i < map.size(); ++i)
      maps[topA][toA[i]] = toB[map[i]];
    return true;
  }
  for (size_t i = 0; i < map.size(); ++i)
    if (toA[i] != toB[map[i]])
      return false;
  return true;
}

std::vector<int32_t> NodeOrders::ranks(Node node, size_t size) {
  Map map;
  find(node, size, map);
  return map;
}

//===----------------------------------------------------------------------===//
// Orders that satisfy claims
//===----------------------------------------------------------------------===//

bool Solver::solve(const std::vector<Claim> &claims,
                   std::vector<int32_t> &order) {
  PQTree tree(static_cast<int32_t>(problem.variables.size()));
  for (const Claim &claim : claims)
    if (!tree.reduce(variables(claim)))
      return false;
  if (!broadcast(claims, tree))
    return false;
  TreeView view(tree);
  NodeOrders orders(view.nodes.size());
  if (!uniteOrders(claims, view, orders))
    return false;

  order.clear();
  std::vector<Node> stack;
  if (view.root != PQTree::none)
    stack.push_back(view.root);
  while (!stack.empty()) {
    Node node = stack.back();
    stack.pop_back();
    const std::vector<Node> &children = view.nodes[node].children;
    if (children.empty()) {
      order.push_back(node);
      continue;
    }
    // The stack contains the children in reverse order.
    size_t size = children.size(), first = stack.size();
    stack.resize(first + size);
    bool isP = view.nodes[node].kind == PQTree::Kind::P && size > 2;
    std::vector<int32_t> ranks = orders.ranks(node, isP ? size : 2);
    for (size_t i = 0; i < size; ++i) {
      size_t rank = isP ? ranks[i] : ranks[0] == 0 ? i : size - 1 - i;
      stack[first + size - 1 - rank] = children[i];
    }
  }
  return true;
}

/// Calls `callback` with the claims of each batch that has several claims,
/// until a call returns false. Returns false in this case. The claims of a
/// batch must be adjacent.
template <class Callback>
static bool forEachBatch(const std::vector<Claim> &claims,
                         Callback &&callback) {
  std::vector<Claim> batch;
  for (size_t i = 0; i < claims.size(); ++i) {
    batch.push_back(claims[i]);
    if (i + 1 < claims.size() && claims[i + 1].batch == claims[i].batch)
      continue;
    if (batch.size() > 1 && !callback(batch))
      return false;
    batch.clear();
  }
  return true;
}

void Solver::setIndices(const Claim &claim) {
  const std::vector<int32_t> &from = variables(claim);
  for (size_t i = 0; i < from.size(); ++i)
    indexOf[from[i]] = static_cast<int32_t>(i);
}

/// Calls `callback` with every inner node that has variables of a claim below
/// two or more of its children, and with these children.
template <class Callback>
void Solver::forEachNode(const Claim &claim, const TreeView &view,
                         Callback &&callback) {
  int32_t begin = INT32_MAX, end = 0;
  for (int32_t variable : variables(claim)) {
    begin = std::min(begin, view.place[variable]);
    end = std::max(end, view.place[variable] + 1);
  }
  // Some children of `top` may contain no variables of the claim.
  Node top = view.above(begin, end - 1);
  const std::vector<Node> &ofTop = view.nodes[top].children;
  std::vector<Node> children(ofTop.begin() + view.numberBelow(top, begin),
                             ofTop.begin() + view.numberBelow(top, end - 1) +
                                 1);
  std::vector<Node> stack;
  for (Node node = top;;) {
    callback(node, children);
    stack.insert(stack.end(), children.rbegin(), children.rend());
    do {
      if (stack.empty())
        return;
      node = stack.back();
      stack.pop_back();
      children = view.nodes[node].children;
    } while (children.empty());
  }
}

/// Makes the trees below all accesses of a batch isomorphic: if variables are
/// adjacent in every order of one tree, the corresponding variables are
/// adjacent in the others. Returns false if this is impossible. A reduction
/// changes only the trees of accesses that share variables with its set.
bool Solver::broadcast(const std::vector<Claim> &claims, PQTree &tree) {
  batchesOf.assign(problem.variables.size(), {});
  for (const Claim &claim : claims)
    for (int32_t variable : variables(claim))
      batchesOf[variable].push_back(claim.batch);
  changed.assign(problem.batches.size(), true);
  std::vector<char> work;
  auto isChanged = [](char is) { return is; };
  while (std::any_of(changed.begin(), changed.end(), isChanged)) {
    work = changed;
    changed.assign(changed.size(), false);
    // The view does not include later reductions, but it remains valid.
    TreeView view(tree);
    bool fits = forEachBatch(claims, [&](const std::vector<Claim> &batch) {
      if (!work[batch[0].batch])
        return true;
      for (const Claim &from : batch)
        if (!broadcastFrom(from, batch, view, tree))
          return false;
      return true;
    });
    if (!fits)
      return false;
  }
  return true;
}

bool Solver::broadcastFrom(const Claim &from, const std::vector<Claim> &batch,
                           const TreeView &view, PQTree &tree) {
  setIndices(from);
  size_t whole = variables(from).size();
  bool fits = true;
  auto apply = [&](int32_t begin, int32_t end) {
    if (static_cast<size_t>(end - begin) == whole)
      return;
    for (const Claim &to : batch) {
      if (to.access == from.access || !fits)
        continue;
      image.clear();
      for (int32_t place = begin; place < end; ++place)
        image.push_back(variables(to)[indexOf[view.frontier[place]]]);
      bool changedNow;
      fits = tree.reduce(image, &changedNow);
      if (changedNow)
        for (int32_t variable : image)
          for (int32_t batch : batchesOf[variable])
            changed[batch] = true;
    }
  };
  forEachNode(from, view, [&](Node node, const std::vector<Node> &children) {
    if (view.nodes[node].kind == PQTree::Kind::P)
      return apply(view.nodes[node].begin, view.nodes[node].end);
    for (size_t i = 0; i + 1 < children.size(); ++i)
      apply(view.nodes[children[i]].begin, view.nodes[children[i + 1]].end);
  });
  return fits;
}

bool Solver::uniteOrders(const std::vector<Claim> &claims, const TreeView &view,
                         NodeOrders &orders) {
  return forEachBatch(claims, [&](const std::vector<Claim> &batch) {
    setIndices(batch[0]);
    for (size_t i = 1; i < batch.size(); ++i)
      if (!uniteOrders(batch[0], batch[i], view, orders))
        return false;
    return true;
  });
}

/// Requires the nodes of the two isomorphic trees to be in the same order. For
/// a Q node that extends beyond the claims, the direction matters.
bool Solver::uniteOrders(const Claim &from, const Claim &to,
                         const TreeView &view, NodeOrders &orders) {
  auto placeOfImage = [&](Node child) {
    int32_t variable = view.frontier[view.nodes[child].begin];
    return view.place[variables(to)[indexOf[variable]]];
  };
  bool fits = true;
  std::vector<int32_t> map;
  forEachNode(from, view, [&](Node node, const std::vector<Node> &children) {
    int32_t first = placeOfImage(children[0]),
            second = placeOfImage(children[1]);
    Node other = view.above(first, second);
    if (view.nodes[node].kind == PQTree::Kind::Q || children.size() == 2) {
      map = {first < second ? 0 : 1, first < second ? 1 : 0};
    } else {
      assert(view.nodes[other].children.size() == children.size() &&
             "the trees are isomorphic");
      map.clear();
      for (Node child : children)
        map.push_back(view.numberBelow(other, placeOfImage(child)));
    }
    fits = fits && orders.unite(node, other, map);
  });
  return fits;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static bool isContiguous(const std::vector<int32_t> &variables,
                         const std::vector<int32_t> &operators,
                         const std::vector<int32_t> &place) {
  for (size_t i = 1; i < operators.size(); ++i)
    if (place[variables[operators[i]]] !=
        place[variables[operators[i - 1]]] + 1)
      return false;
  return true;
}

/// Returns true if an access that is not shared needs a copy in every layout.
/// Stores the reason for a copy in `reason`.
static bool noLayoutHelps(const LayoutProblem &problem,
                          const std::vector<int32_t> &variables,
                          AccessCopy::Reason &reason) {
  std::vector<int32_t> sorted = variables;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    reason = AccessCopy::Reason::repeated;
    return true;
  }
  reason = AccessCopy::Reason::spaces;
  for (int32_t variable : variables)
    if (problem.variables[variable].space !=
        problem.variables[variables[0]].space)
      return true;
  reason = AccessCopy::Reason::conflict;
  return false;
}

/// Returns true for an access that needs no copy in any layout.
static bool isShared(const LayoutProblem &problem,
                     const std::vector<int32_t> &variables) {
  return problem.sharedReads &&
         std::all_of(variables.begin(), variables.end(), [&](int32_t variable) {
           return variable == variables[0];
         });
}

static int64_t bytesOf(const LayoutProblem &problem,
                       const std::vector<int32_t> &variables) {
  int64_t sum = 0;
  for (int32_t variable : variables)
    sum += problem.variables[variable].bytes;
  return sum;
}

static std::vector<int32_t> placesOf(const std::vector<int32_t> &order) {
  std::vector<int32_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    place[order[i]] = static_cast<int32_t>(i);
  return place;
}

int64_t Layout::bytesCopied() const {
  int64_t sum = 0;
  for (const AccessCopy &copy : copies)
    sum += copy.bytes;
  return sum;
}

/// Returns the claims of a problem, batch by batch.
static std::vector<Claim> allClaims(const LayoutProblem &problem) {
  std::vector<Claim> claims;
  for (size_t b = 0; b < problem.batches.size(); ++b) {
    const BatchAccesses &batch = problem.batches[b];
    if (batch.numOperators() < 2)
      continue;
    for (size_t a = 0; a < batch.accesses.size(); ++a) {
      AccessCopy::Reason reason;
      if (!noLayoutHelps(problem, batch.accesses[a], reason))
        claims.push_back({static_cast<int32_t>(b), static_cast<int32_t>(a),
                          bytesOf(problem, batch.accesses[a])});
    }
  }
  return claims;
}

std::string batchrt::checkProblem(const LayoutProblem &problem) {
  for (size_t b = 0; b < problem.batches.size(); ++b)
    for (const std::vector<int32_t> &variables : problem.batches[b].accesses) {
      std::string name = "batch " + std::to_string(b);
      if (variables.size() != problem.batches[b].accesses[0].size())
        return name + " has accesses of several lengths";
      for (int32_t variable : variables)
        if (variable < 0 ||
            variable >= static_cast<int32_t>(problem.variables.size()))
          return name + " uses variable " + std::to_string(variable) +
                 ", but there are only " +
                 std::to_string(problem.variables.size());
    }
  return "";
}

Layout batchrt::layoutInOrder(const LayoutProblem &problem,
                              std::vector<int32_t> order) {
  Layout layout;
  std::vector<int32_t> place = placesOf(order);
  layout.order = std::move(order);
  for (size_t b = 0; b < problem.batches.size(); ++b) {
    const BatchAccesses &batch = problem.batches[b];
    // An access whose variables are consecutive determines the order of the
    // operators. Try the order of each access.
    std::vector<int32_t> operators(batch.numOperators()), best;
    std::iota(operators.begin(), operators.end(), 0);
    std::vector<AccessCopy> bestCopies;
    std::pair<int64_t, size_t> bestCost{INT64_MAX, 0};
    for (size_t chosen = 0; chosen <= batch.accesses.size(); ++chosen) {
      if (chosen > 0)
        std::stable_sort(operators.begin(), operators.end(),
                         [&](int32_t x, int32_t y) {
                           const auto &access = batch.accesses[chosen - 1];
                           return place[access[x]] < place[access[y]];
                         });
      std::vector<AccessCopy> copies;
      int64_t bytes = 0;
      for (size_t a = 0; a < batch.accesses.size(); ++a) {
        const std::vector<int32_t> &variables = batch.accesses[a];
        AccessCopy::Reason reason;
        if (operators.size() < 2 || isShared(problem, variables) ||
            (!noLayoutHelps(problem, variables, reason) &&
             isContiguous(variables, operators, place)))
          continue;
        copies.push_back({static_cast<int32_t>(b), static_cast<int32_t>(a),
                          bytesOf(problem, variables), reason});
        bytes += copies.back().bytes;
      }
      std::pair<int64_t, size_t> cost{bytes, copies.size()};
      if (cost >= bestCost)
        continue;
      bestCost = cost;
      best = operators;
      bestCopies = std::move(copies);
    }
    layout.operators.push_back(std::move(best));
    layout.copies.insert(layout.copies.end(), bestCopies.begin(),
                         bestCopies.end());
  }
  return layout;
}

namespace {
/// Chooses the claims to drop if not all can be satisfied. Here, a claim is
/// represented by its index in `claims`, which is sorted by descending bytes.
class Conflicts {
public:
  explicit Conflicts(const LayoutProblem &problem);

  std::vector<int32_t> resolve();

private:
  using Claims = std::vector<int32_t>;

  bool fits(const Claims &some);
  size_t firstTooMuch(const Claims &fixed, const Claims &more);
  Claims core(const Claims &some);
  bool dropFewest();
  void dropInTurn();

  Solver solver;
  std::vector<Claim> claims;
  std::vector<int32_t> order;
};
} // namespace

Conflicts::Conflicts(const LayoutProblem &problem)
    : solver(problem), claims(allClaims(problem)) {
  std::stable_sort(
      claims.begin(), claims.end(),
      [](const Claim &a, const Claim &b) { return a.bytes > b.bytes; });
}

bool Conflicts::fits(const Claims &some) {
  std::vector<Claim> list;
  for (int32_t c : some)
    list.push_back(claims[c]);
  std::stable_sort(
      list.begin(), list.end(),
      [](const Claim &a, const Claim &b) { return a.batch < b.batch; });
  return solver.solve(list, order);
}

/// Returns the length of the shortest prefix of `more` that cannot be satisfied
/// together with `fixed`. If all of `more` can be satisfied, returns its length
/// plus one. Shorter prefixes are easier to satisfy, so bisection finds this
/// length.
size_t Conflicts::firstTooMuch(const Claims &fixed, const Claims &more) {
  size_t lower = 0, upper = more.size() + 1;
  while (lower < upper) {
    size_t middle =
        upper > more.size() ? more.size() : lower + (upper - lower) / 2;
    Claims some = fixed;
    some.insert(some.end(), more.begin(), more.begin() + middle);
    if (fits(some))
      lower = middle + 1;
    else
      upper = middle;
  }
  return lower;
}

/// Returns a minimal subset of `some` whose claims cannot all be satisfied.
/// Requires that the claims of `some` cannot all be satisfied.
Conflicts::Claims Conflicts::core(const Claims &some) {
  Claims result, rest = some;
  for (;;) {
    size_t count = firstTooMuch(result, rest);
    if (count == 0)
      return result;
    result.push_back(rest[count - 1]);
    rest.resize(count - 1);
  }
}

/// Drops a set of claims with the fewest bytes and, among equals, the fewest
/// claims. Tries sets in this order. Each set consists of an earlier set and a
/// claim from a core() that remains after the earlier set is dropped. Returns
/// false if there are too many claims, or if the search takes too long.
bool Conflicts::dropFewest() {
  constexpr size_t maxClaims = 64;
  constexpr int maxSets = 256;
  if (claims.size() > maxClaims)
    return false;
  using Dropped = std::pair<std::pair<int64_t, size_t>, Claims>;
  std::set<Dropped> queue{{{0, 0}, {}}};
  std::vector<Claims> cores;
  for (int sets = 0; sets < maxSets; ++sets) {
    auto [cost, dropped] = *queue.begin();
    queue.erase(queue.begin());
    auto isDropped = [&, &dropped = dropped](int32_t claim) {
      return std::binary_search(dropped.begin(), dropped.end(), claim);
    };
    auto left = std::find_if(
        cores.begin(), cores.end(), [&](const Claims &claimsOfCore) {
          return std::none_of(claimsOfCore.begin(), claimsOfCore.end(),
                              isDropped);
        });
    if (left == cores.end()) {
      Claims kept;
      for (int32_t c = 0; c < static_cast<int32_t>(claims.size()); ++c)
        if (!isDropped(c))
          kept.push_back(c);
      if (fits(kept))
        return true;
      left = cores.insert(cores.end(), core(kept));
    }
    for (int32_t claim : *left) {
      Claims more = dropped;
      more.insert(std::lower_bound(more.begin(), more.end(), claim), claim);
      queue.insert({{cost.first + claims[claim].bytes, more.size()}, more});
    }
  }
  return false;
}

/// Adds the claims one after another, and drops each claim that cannot be
/// satisfied together with the previous ones.
void Conflicts::dropInTurn() {
  Claims kept, rest(claims.size());
  std::iota(rest.begin(), rest.end(), 0);
  while (!rest.empty()) {
    size_t count = firstTooMuch(kept, rest);
    kept.insert(kept.end(), rest.begin(), rest.begin() + (count - 1));
    rest.erase(rest.begin(), rest.begin() + std::min(count, rest.size()));
  }
  fits(kept);
}

std::vector<int32_t> Conflicts::resolve() {
  if (!dropFewest())
    dropInTurn();
  return std::move(order);
}

std::optional<Layout>
batchrt::findLayoutWithoutConflicts(const LayoutProblem &problem) {
  std::vector<int32_t> order;
  if (!Solver(problem).solve(allClaims(problem), order))
    return std::nullopt;
  return layoutInOrder(problem, std::move(order));
}

Layout batchrt::findLayout(const LayoutProblem &problem) {
  if (std::optional<Layout> layout = findLayoutWithoutConflicts(problem))
    return *std::move(layout);
  return layoutInOrder(problem, Conflicts(problem).resolve());
}

static bool isPermutation(std::vector<int32_t> order, size_t size) {
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<int32_t>(i))
      return false;
  return order.size() == size;
}

std::string batchrt::verifyLayout(const LayoutProblem &problem,
                                  const Layout &layout) {
  if (!isPermutation(layout.order, problem.variables.size()))
    return "not every variable is laid out exactly once";
  if (layout.operators.size() != problem.batches.size())
    return "not every batch has an order";
  std::vector<int32_t> place = placesOf(layout.order);
  size_t copy = 0;
  for (size_t b = 0; b < problem.batches.size(); ++b) {
    const BatchAccesses &batch = problem.batches[b];
    const std::vector<int32_t> &operators = layout.operators[b];
    std::string name = "batch " + std::to_string(b);
    if (!isPermutation(operators, batch.numOperators()))
      return name + " does not have every operator exactly once";
    for (size_t a = 0; a < batch.accesses.size(); ++a) {
      const std::vector<int32_t> &variables = batch.accesses[a];
      bool isCopied = copy < layout.copies.size() &&
                      layout.copies[copy].batch == static_cast<int32_t>(b) &&
                      layout.copies[copy].access == static_cast<int32_t>(a);
      AccessCopy::Reason reason;
      bool isFine = operators.size() < 2 || isShared(problem, variables) ||
                    (isContiguous(variables, operators, place) &&
                     !noLayoutHelps(problem, variables, reason));
      std::string access = name + ": access " + std::to_string(a);
      if (!isFine && !isCopied)
        return access + " is not consecutive and not copied";
      if (isFine && isCopied)
        return access + " is copied without need";
      if (isCopied && layout.copies[copy].bytes != bytesOf(problem, variables))
        return access + " has the wrong number of bytes";
      copy += isCopied;
    }
  }
  if (copy != layout.copies.size())
    return "some copies do not belong to any access";
  return "";
}
