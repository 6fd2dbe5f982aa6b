//===- StateMachine.h - A policy as a finite state machine ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A learned policy: the state of a frontier determines the next type (ED-Batch,
// section 2.2) if no type satisfies the sufficient condition. Independent of
// the IR, so the runtime and the compiler can link it.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_STATEMACHINE_H
#define BATCH_RUNTIME_SCHEDULE_STATEMACHINE_H

#include "batch-runtime/Schedule/Frontier.h"

namespace batchrt {

/// The facts about a frontier that a state encodes.
enum class Encoding {
  /// The ready types.
  Base,
  /// The ready types, and the one with the most ready tasks.
  Max,
  /// The ready types, sorted by descending number of ready tasks.
  Sort,
  /// Like Sort, plus the share of all tasks that have run, in eighths.
  Share,
  /// The ready types, and the type with the highest Frontier::urgency().
  Urgency,
};
constexpr int numEncodings = 5;

const char *name(Encoding encoding);
/// Returns the facts that a frontier must track for an encoding and for the
/// sufficient condition.
unsigned neededFacts(Encoding encoding);

/// A state: the numbers of the ready types, followed by one more number in some
/// encodings.
using State = std::vector<uint16_t>;
/// Sets `state` to the state of a frontier. Among types with equally many ready
/// tasks, the one with the lower number is first.
void encode(const Frontier &frontier, Encoding encoding, State &state);

/// Returns true if the last number of a state repeats one of its types.
inline bool namesOne(Encoding encoding) {
  return encoding == Encoding::Max || encoding == Encoding::Urgency;
}
/// Returns how many numbers of a state are ready types: all, or all except the
/// last.
size_t numReady(const State &state, Encoding encoding);

/// Numbers states 0, 1, ... in the order in which they are added.
class StateIndex {
public:
  /// Returns the number of a state, or -1 if it is unknown. Takes constant
  /// time.
  int32_t find(const State &state) const;
  /// Returns the number of a state. Adds the state if it is unknown.
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
  std::vector<int32_t> slots; ///< numbers by hash; -1: free slot
};

/// Maps states to the type that runs next.
class StateMachine {
public:
  StateMachine() = default;
  StateMachine(Encoding encoding, std::vector<std::string> types)
      : kind(encoding), names(std::move(types)) {}

  Encoding encoding() const { return kind; }
  /// Returns the names of the types, which are numbered in this order.
  const std::vector<std::string> &types() const { return names; }
  int32_t states() const { return index.size(); }
  State state(int32_t number) const { return index.state(number); }

  /// Returns the next type, or -1 for an unknown state.
  int32_t next(const State &state) const {
    int32_t number = index.find(state);
    return number < 0 ? -1 : actions[number];
  }
  /// Sets the next type of a state. `type` must be one of the state's types.
  void set(const State &state, int32_t type);

  /// Renumbers the types to match those of a program, which may have additional
  /// types. If the program lacks a type, returns an error and changes nothing;
  /// otherwise returns an empty string.
  std::string renumber(const std::vector<std::string> &program);

  /// Returns the text of the state machine (docs/reference/formats.md). Equal
  /// state machines have the same text.
  std::string print() const;
  /// Reads a state machine from its text. On failure, returns "FILE:LINE:
  /// error" and changes nothing; otherwise returns an empty string.
  std::string parse(const std::string &text, const std::string &file);

private:
  Encoding kind = Encoding::Base;
  std::vector<std::string> names;
  StateIndex index;
  std::vector<int32_t> actions;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_STATEMACHINE_H
