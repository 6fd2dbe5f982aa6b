//===- Explanation.cpp - Decisions of a compilation -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::batch;

struct Explanation::Remark {
  std::string subject, kind, text;
  Location loc;
};

/// Stores the text of remarks, which are destroyed once they have been
/// streamed.
class Explanation::Collector : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Collector(std::vector<Remark> &remarks) : remarks(remarks) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string text;
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      // An argument with the key "Remark" is a sentence or part of one.
      if (arg.key != "Remark")
        text += (text.empty() ? "" : "; ") + arg.key + ": ";
      text += arg.val;
    }
    remarks.push_back({remark.getRemarkName().str(),
                       remark.getRemarkTypeString().lower(), std::move(text),
                       remark.getLocation()});
  }

private:
  std::vector<Remark> &remarks;
};

Explanation::Explanation(MLIRContext &context, const llvm::SourceMgr &sources)
    : sources(sources) {
  context.disableMultithreading();
  // A kind without a filter is off, even if there is a filter for all kinds.
  remark::RemarkCategories all;
  all.passed = all.missed = all.analysis = all.failed = ".*";
  // Ignore the result: the call fails only if the streamer fails.
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<Collector>(remarks),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), all);
}

Explanation::~Explanation() = default;

/// Returns the place in a file that a location refers to, if any.
static FileLineColLoc findPlace(Location loc) {
  FileLineColLoc place;
  loc->walk([&](Location inner) {
    place = dyn_cast<FileLineColLoc>(inner);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  return place;
}

/// Returns a line of the buffer, numbered from 1, or "" if there is none.
static StringRef findLine(const llvm::MemoryBuffer &buffer, unsigned number) {
  StringRef text = buffer.getBuffer();
  for (; number > 1 && !text.empty(); --number)
    text = text.split('\n').second;
  return text.split('\n').first.rtrim('\r');
}

StringRef Explanation::getLine(FileLineColLoc loc) const {
  StringRef name = loc.getFilename();
  for (unsigned i = 1; i <= sources.getNumBuffers(); ++i)
    if (const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(i);
        buffer->getBufferIdentifier() == name)
      return findLine(*buffer, loc.getLine());
  auto [entry, isNew] = files.try_emplace(name);
  if (isNew)
    if (auto file = llvm::MemoryBuffer::getFile(name, /*IsText=*/true))
      entry->second = std::move(*file);
  return entry->second ? findLine(*entry->second, loc.getLine()) : "";
}

void Explanation::printRemark(llvm::raw_ostream &os,
                              const Remark &remark) const {
  FileLineColLoc place = findPlace(remark.loc);
  os << "  ";
  if (place)
    os << place.getFilename().getValue() << ":" << place.getLine() << ":"
       << place.getColumn() << ": ";
  os << remark.kind << ": " << remark.text << "\n";
  StringRef line = place ? getLine(place) : "";
  if (line.empty())
    return;
  os << "    " << line << "\n    ";
  // Make the indentation as wide as the text before the column.
  for (char c : line.take_front(std::max(place.getColumn(), 1u) - 1))
    os << (c == '\t' ? '\t' : ' ');
  os << "^\n";
}

void Explanation::print(llvm::raw_ostream &os, StringRef model) const {
  os << "how '" << model << "' is compiled:";
  llvm::MapVector<StringRef, SmallVector<const Remark *>> subjects;
  for (const Remark &remark : remarks)
    subjects[remark.subject].push_back(&remark);
  os << (subjects.empty() ? " nothing was decided\n" : "\n");
  for (const auto &[subject, found] : subjects) {
    os << "\n" << subject << "\n";
    for (const Remark *remark : found)
      printRemark(os, *remark);
  }
  os.flush();
}

void Explanation::printJson(llvm::raw_ostream &os) const {
  llvm::json::Array list;
  for (const Remark &remark : remarks) {
    llvm::json::Object object{{"subject", remark.subject},
                              {"kind", remark.kind},
                              {"text", remark.text}};
    if (FileLineColLoc place = findPlace(remark.loc)) {
      object["file"] = place.getFilename().str();
      object["line"] = place.getLine();
      object["column"] = place.getColumn();
    }
    list.push_back(std::move(object));
  }
  os << llvm::json::Value(std::move(list)) << "\n";
  os.flush();
}
