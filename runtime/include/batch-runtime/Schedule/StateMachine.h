//===- StateMachine.h - A policy as a finite state machine ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A learned policy: the state of a frontier says which type runs next
// (ED-Batch, section 2.2), where no type satisfies the sufficient condition.
// Free of IR: the runtime links it, the compiler may.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_STATEMACHINE_H
#define BATCH_RUNTIME_SCHEDULE_STATEMACHINE_H

#include "batch-runtime/Schedule/Frontier.h"

namespace batchrt {

/// The facts about a frontier that a state encodes.
enum class Encoding {
  /// The types that are ready.
  Base,
  /// And which of them has the most ready tasks.
  Max,
  /// The types that are ready, the one with the most ready tasks first.
  Sort,
  /// And how many eighths of all tasks have run.
  Share,
  /// And which of them is the most urgent, with the best batch after it.
  Urgency,
};
constexpr int numEncodings = 5;

const char *name(Encoding encoding);
/// The facts that a frontier must keep for an encoding and for the condition.
unsigned neededFacts(Encoding encoding);

/// A state: numbers of types, perhaps one more number.
using State = std::vector<uint16_t>;
/// Sets `state` to that of a frontier. Equal counts: the lower type first.
void encode(const Frontier &frontier, Encoding encoding, State &state);

/// True if the last number of a state repeats one of its types.
inline bool namesOne(Encoding encoding) {
  return encoding == Encoding::Max || encoding == Encoding::Urgency;
}
/// The count of ready types in a state: all of its numbers, or all but the
/// last.
size_t numReady(const State &state, Encoding encoding);

/// Numbers states 0, 1, ... in the order in which they are added.
class StateIndex {
public:
  /// The number of a state, -1 if it is unknown. In constant time.
  int32_t find(const State &state) const;
  /// The number of a state, which is added if it is unknown.
  int32_t add(const State &state);
  int32_t size() const { return static_cast<int32_t>(begins.size()) - 1; }
  State state(int32_t number) const {
    return State(pool.begin() + begins[number],
                 pool.begin() + begins[number + 1]);
  }

private:
  size_t place(const State &state) const;

  std::vector<uint16_t> pool;
  std::vector<int32_t> begins{0};
  std::vector<int32_t> slots; ///< numbers by hash, -1 where none is
};

/// States with the type that runs next in each.
class StateMachine {
public:
  StateMachine() = default;
  StateMachine(Encoding encoding, std::vector<std::string> types)
      : kind(encoding), names(std::move(types)) {}

  Encoding encoding() const { return kind; }
  /// Names of the types, which are numbered in this order.
  const std::vector<std::string> &types() const { return names; }
  int32_t states() const { return index.size(); }
  State state(int32_t number) const { return index.state(number); }

  /// The next type, -1 in an unknown state.
  int32_t next(const State &state) const {
    int32_t number = index.find(state);
    return number < 0 ? -1 : actions[number];
  }
  /// `type` must be one of the state.
  void set(const State &state, int32_t type);

  /// Numbers types as a program does, which may have more of them. If it lacks
  /// one, returns an error and changes nothing; else returns an empty text.
  std::string renumber(const std::vector<std::string> &program);

  /// Its text, the same for equal state machines; see docs/Policies.md.
  std::string print() const;
  /// Reads a state machine from its text. If that fails, returns "FILE:LINE:
  /// error" and changes nothing; else returns an empty text.
  std::string parse(const std::string &text, const std::string &file);

private:
  Encoding kind = Encoding::Base;
  std::vector<std::string> names;
  StateIndex index;
  std::vector<int32_t> actions;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_STATEMACHINE_H
