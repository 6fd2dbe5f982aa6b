//===- StateMachine.cpp - A policy as a finite state machine --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/StateMachine.h"

#include <algorithm>
#include <sstream>

using namespace batchrt;

static const char *const encodingNames[numEncodings] = {"base", "max", "sort",
                                                        "share", "urgency"};

const char *batchrt::name(Encoding encoding) {
  return encodingNames[static_cast<int>(encoding)];
}

unsigned batchrt::neededFacts(Encoding encoding) {
  return encoding == Encoding::Urgency ? Ratios | Urgencies : Ratios;
}

/// Sorts the types of a state by descending key, and types with equal keys by
/// number. Uses insertion sort, because a state has few types.
template <class Key>
static void sortTypes(State &state, Key key) {
  for (size_t i = 1; i < state.size(); ++i) {
    uint16_t type = state[i];
    auto own = key(type);
    size_t place = i;
    for (; place > 0 && key(state[place - 1]) < own; --place)
      state[place] = state[place - 1];
    state[place] = type;
  }
}

/// Returns the type with the greatest key in a state. If several types have
/// this key, returns the one with the lowest number.
template <class Key>
static uint16_t greatest(const State &state, Key key) {
  uint16_t best = state[0];
  auto bestKey = key(best);
  for (size_t i = 1; i < state.size(); ++i)
    if (auto own = key(state[i]); bestKey < own) {
      best = state[i];
      bestKey = own;
    }
  return best;
}

void batchrt::encode(const Frontier &frontier, Encoding encoding,
                     State &state) {
  state.clear();
  for (int32_t type = 0; type < frontier.numTypes(); ++type)
    if (frontier.ready(type))
      state.push_back(static_cast<uint16_t>(type));
  auto ready = [&](int32_t type) { return frontier.ready(type); };
  switch (encoding) {
  case Encoding::Base:
    break;
  case Encoding::Max:
    state.push_back(greatest(state, ready));
    break;
  case Encoding::Share: {
    sortTypes(state, ready);
    int64_t size = static_cast<int64_t>(frontier.order().size());
    state.push_back(
        static_cast<uint16_t>((size - frontier.remaining()) * 8 / size));
    break;
  }
  case Encoding::Sort:
    sortTypes(state, ready);
    break;
  case Encoding::Urgency:
    state.push_back(
        greatest(state, [&](int32_t type) { return frontier.urgency(type); }));
    break;
  }
}

/// Returns the slot of a state, or the empty slot to store it in.
size_t StateIndex::place(const State &state) const {
  uint64_t hash = state.size();
  for (uint16_t item : state)
    hash = (hash ^ item) * 0x9e3779b97f4a7c15;
  size_t mask = slots.size() - 1;
  for (size_t slot = (hash >> 32) & mask;; slot = (slot + 1) & mask) {
    int32_t number = slots[slot];
    if (number < 0 ||
        (begins[number + 1] - begins[number] ==
             static_cast<int32_t>(state.size()) &&
         std::equal(state.begin(), state.end(), pool.begin() + begins[number])))
      return slot;
  }
}

int32_t StateIndex::find(const State &state) const {
  return slots.empty() ? -1 : slots[place(state)];
}

int32_t StateIndex::add(const State &state) {
  // At most half of the slots are in use.
  if (slots.size() < 2 * begins.size()) {
    slots.assign(std::max<size_t>(16, 2 * slots.size()), -1);
    for (int32_t number = 0; number < size(); ++number)
      slots[place(this->state(number))] = number;
  }
  int32_t &slot = slots[place(state)];
  if (slot < 0) {
    slot = size();
    pool.insert(pool.end(), state.begin(), state.end());
    begins.push_back(static_cast<int32_t>(pool.size()));
  }
  return slot;
}

void StateMachine::set(const State &state, int32_t type) {
  size_t number = index.add(state);
  if (number == actions.size())
    actions.push_back(type);
  else
    actions[number] = type;
}

/// Returns true if the ready types of a state are in the order of their
/// numbers.
static bool isAscending(Encoding encoding) {
  return encoding == Encoding::Base || namesOne(encoding);
}

size_t batchrt::numReady(const State &state, Encoding encoding) {
  return state.size() - (namesOne(encoding) || encoding == Encoding::Share);
}

std::string StateMachine::renumber(const std::vector<std::string> &program) {
  std::vector<int32_t> to;
  for (const std::string &type : names) {
    auto found = std::find(program.begin(), program.end(), type);
    if (found == program.end())
      return "the policy is for another program: unknown kernel '" + type +
             "'; learn a policy from this program";
    to.push_back(static_cast<int32_t>(found - program.begin()));
  }
  StateMachine result(kind, program);
  for (int32_t number = 0; number < states(); ++number) {
    State state = index.state(number);
    const size_t ready = numReady(state, kind);
    for (size_t i = 0; i < ready + namesOne(kind); ++i)
      state[i] = static_cast<uint16_t>(to[state[i]]);
    if (isAscending(kind))
      std::sort(state.begin(), state.begin() + ready);
    result.set(state, to[actions[number]]);
  }
  *this = std::move(result);
  return "";
}

std::string StateMachine::print() const {
  std::string text = "batch-policy 1\nencoding ";
  text += name(kind);
  text += '\n';
  for (const std::string &type : names)
    text += "kernel " + type + '\n';
  std::vector<std::pair<State, int32_t>> sorted;
  for (int32_t number = 0; number < states(); ++number)
    sorted.emplace_back(index.state(number), actions[number]);
  std::sort(sorted.begin(), sorted.end());
  for (const auto &[state, action] : sorted) {
    text += "state";
    for (uint16_t item : state)
      text += ' ' + std::to_string(item);
    text += " : " + std::to_string(action) + '\n';
  }
  return text + "end\n";
}

namespace {
/// Reads the lines of a state machine. Functions return false after an error.
class Parser {
public:
  Parser(const std::string &text, const std::string &file)
      : lines(text), file(file) {}

  bool run(StateMachine &stateMachine) {
    if (!readField("batch-policy"))
      return false;
    if (rest != "1")
      return fail("unsupported version " + rest + "; expected version 1");
    if (!readField("encoding"))
      return false;
    auto known =
        std::find(std::begin(encodingNames), std::end(encodingNames), rest);
    if (known == std::end(encodingNames))
      return fail("unknown encoding '" + rest +
                  "'; expected base, max, sort, share or urgency");
    kind = static_cast<Encoding>(known - std::begin(encodingNames));
    if (!readKernels())
      return false;
    stateMachine = StateMachine(kind, names);
    while (word == "state")
      if (!readState(stateMachine) || !nextLine())
        return false;
    if (word != "end" || !rest.empty())
      return fail("expected 'state' or 'end', found '" + word + "'");
    std::string beyond;
    ++line;
    return !std::getline(lines, beyond) || fail("unexpected text after 'end'");
  }

  std::string error;

private:
  bool fail(const std::string &message) {
    error = file + ":" + std::to_string(line) + ": " + message;
    return false;
  }

  bool nextLine() {
    std::string all;
    ++line;
    if (!std::getline(lines, all))
      return fail("the file ends before 'end'");
    if (!all.empty() && all.back() == '\r')
      all.pop_back();
    size_t space = all.find(' ');
    word = all.substr(0, space);
    rest = space == std::string::npos ? "" : all.substr(space + 1);
    return true;
  }

  bool readField(const char *expected) {
    return nextLine() &&
           (word == expected || fail(std::string("expected '") + expected +
                                     "', found '" + word + "'"));
  }

  bool readKernels() {
    while (nextLine()) {
      if (word != "kernel")
        return true;
      if (rest.empty())
        return fail("expected the name of a kernel");
      if (std::find(names.begin(), names.end(), rest) != names.end())
        return fail("duplicate kernel '" + rest + "'");
      if (names.size() == TaskGraph::maxTypes)
        return fail("too many kernels; expected at most " +
                    std::to_string(TaskGraph::maxTypes));
      names.push_back(rest);
    }
    return false;
  }

  /// Parses the number of a kernel and appends it to `state`.
  bool readType(const std::string &text, State &state) {
    if (text.empty() || text.size() > 5 ||
        text.find_first_not_of("0123456789") != std::string::npos)
      return fail("expected a number, found '" + text + "'");
    size_t value = std::stoul(text);
    if (value >= names.size())
      return fail("kernel " + text + " is out of range for " +
                  std::to_string(names.size()) + " kernels");
    state.push_back(static_cast<uint16_t>(value));
    return true;
  }

  bool readState(StateMachine &stateMachine) {
    std::istringstream items(rest);
    std::vector<std::string> words;
    for (std::string item; items >> item;)
      words.push_back(item);
    size_t extra = namesOne(kind) || kind == Encoding::Share;
    if (words.size() < 3 + extra || words[words.size() - 2] != ":")
      return fail("expected 'state KERNELS : KERNEL'");
    State state, others; // others: the named type, then the next type
    const size_t ready = words.size() - 2 - extra;
    for (size_t i = 0; i < ready; ++i) {
      if (!readType(words[i], state))
        return false;
      if (std::count(state.begin(), state.end(), state.back()) > 1)
        return fail("kernel " + words[i] + " is listed twice");
    }
    if (isAscending(kind) && !std::is_sorted(state.begin(), state.end()))
      return fail("the kernels are not in the order of their numbers");
    if ((namesOne(kind) && !readType(words[ready], others)) ||
        !readType(words.back(), others))
      return false;
    for (uint16_t type : others)
      if (std::find(state.begin(), state.end(), type) == state.end())
        return fail("kernel " + std::to_string(type) +
                    " is not one of the ready kernels");
    if (namesOne(kind))
      state.push_back(others.front());
    if (kind == Encoding::Share) {
      const std::string &eighths = words[ready];
      if (eighths.size() != 1 || eighths < "0" || eighths > "7")
        return fail("expected eighths from 0 to 7, found '" + eighths + "'");
      state.push_back(static_cast<uint16_t>(eighths[0] - '0'));
    }
    if (stateMachine.next(state) >= 0)
      return fail("duplicate state");
    stateMachine.set(state, others.back());
    return true;
  }

  std::istringstream lines;
  const std::string file;
  int line = 0;
  std::string word, rest;
  Encoding kind = Encoding::Base;
  std::vector<std::string> names;
};
} // namespace

std::string StateMachine::parse(const std::string &text,
                                const std::string &file) {
  StateMachine stateMachine;
  Parser parser(text, file);
  if (!parser.run(stateMachine))
    return parser.error;
  *this = std::move(stateMachine);
  return "";
}
