//===- TaskGraph.cpp - Tasks, their operands, their batches ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/TaskGraph.h"
#include "batch-runtime/Schedule/Frontier.h"

using namespace batchrt;

int32_t TaskGraph::add(int32_t type, const std::vector<int32_t> &reads) {
  types.push_back(static_cast<uint16_t>(type));
  operands.insert(operands.end(), reads.begin(), reads.end());
  operandBegin.push_back(static_cast<int32_t>(operands.size()));
  return size() - 1;
}

void TaskGraph::append(const TaskGraph &other) {
  int32_t firstTask = size();
  int32_t firstOperand = static_cast<int32_t>(operands.size());
  if (numTypes < other.numTypes)
    numTypes = other.numTypes;
  types.insert(types.end(), other.types.begin(), other.types.end());
  for (int32_t operand : other.operands)
    operands.push_back(firstTask + operand);
  for (size_t t = 1; t < other.operandBegin.size(); ++t)
    operandBegin.push_back(firstOperand + other.operandBegin[t]);
}

void TaskGraph::clear() {
  types.clear();
  operandBegin.assign(1, 0);
  operands.clear();
}

std::string TaskGraph::check() const {
  if (numTypes < 0 || numTypes > maxTypes)
    return std::to_string(numTypes) + " types, but the limit is " +
           std::to_string(maxTypes);
  if (operandBegin.size() != types.size() + 1 || operandBegin.front() != 0 ||
      operandBegin.back() != static_cast<int32_t>(operands.size()))
    return "the ranges of operands do not match the tasks";
  for (int32_t task = 0; task < size(); ++task) {
    std::string name = "task " + std::to_string(task);
    if (types[task] >= numTypes)
      return name + " has type " + std::to_string(types[task]) + " of " +
             std::to_string(numTypes);
    if (operandBegin[task] > operandBegin[task + 1])
      return name + " has its operands before those of the previous task";
    for (int32_t o = operandBegin[task]; o < operandBegin[task + 1]; ++o)
      if (operands[o] < 0 || operands[o] >= task)
        return name + " reads task " + std::to_string(operands[o]) +
               ", which is not before it";
  }
  return "";
}

std::string Schedule::verify(const TaskGraph &graph) const {
  std::vector<int32_t> batchOf(graph.size(), -1);
  for (size_t b = 0; b < batches.size(); ++b) {
    const Batch &batch = batches[b];
    std::string name = "batch " + std::to_string(b);
    if (batch.count < 1)
      return name + " is empty";
    if (batch.begin < 0 ||
        int64_t(batch.begin) + batch.count > static_cast<int64_t>(order.size()))
      return name + " has tasks beyond the order";
    for (int32_t i = batch.begin; i < batch.begin + batch.count; ++i) {
      int32_t task = order[i];
      if (task < 0 || task >= graph.size())
        return name + " has task " + std::to_string(task) +
               ", which does not exist";
      if (graph.types[task] != batch.type)
        return name + " has task " + std::to_string(task) + " of another type";
      if (batchOf[task] != -1)
        return "task " + std::to_string(task) + " runs twice";
      batchOf[task] = static_cast<int32_t>(b);
    }
  }
  for (int32_t task = 0; task < graph.size(); ++task) {
    if (batchOf[task] == -1)
      return "task " + std::to_string(task) + " never runs";
    for (int32_t o = graph.operandBegin[task]; o < graph.operandBegin[task + 1];
         ++o)
      if (batchOf[graph.operands[o]] >= batchOf[task])
        return "task " + std::to_string(task) + " runs before its operand " +
               std::to_string(graph.operands[o]);
  }
  return "";
}

int64_t batchrt::lowerBound(const TaskGraph &graph) {
  FrontierPlan plan;
  plan.compute(graph, Chains);
  Frontier frontier;
  frontier.start(plan);
  return frontier.bound();
}
