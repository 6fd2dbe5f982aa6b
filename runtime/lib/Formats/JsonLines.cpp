//===- JsonLines.cpp - Instances as JSON lines ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parser passes its events directly to the value builder, without a tree of
// JSON values and without recursion. Chains may therefore have any depth.
//
//===----------------------------------------------------------------------===//

#include "JsonLines.h"
#include "TensorText.h"
#include "batch-runtime/Error.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <iterator>
#include <set>

using namespace batchrt;
using nlohmann::json;

namespace {
/// Iterator that records the parser's position.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  const char *at;
  const char **reached;

  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    *reached = ++at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator &other) const {
    return at == other.at;
  }
  bool operator!=(const CountingIterator &other) const {
    return at != other.at;
  }
};

/// Handlers that ignore all events, except that an error ends the parse.
struct Events : nlohmann::json_sax<json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t &) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string &,
                   const nlohmann::detail::exception &) override {
    return false;
  }
};

/// Keys of the outer object of a line, up to and including the first unknown
/// key.
struct TopKeys : Events {
  std::set<std::string> known, keys;
  int64_t depth = 0;

  bool key(string_t &name) override {
    if (depth == 1)
      keys.insert(name);
    return depth != 1 || known.count(name);
  }
  bool start_object(std::size_t) override { return ++depth, true; }
  bool end_object() override { return --depth, true; }
  bool start_array(std::size_t) override { return ++depth, true; }
  bool end_array() override { return --depth, true; }
};

class InstanceParser : public Events {
public:
  InstanceParser(const Descriptor &descriptor, const std::string &where,
                 ValueBuilder &builder, InputTensors &tensors,
                 Vocabulary &words)
      : descriptor(descriptor), where(where), builder(builder),
        tensors(tensors), words(words), given(descriptor.arguments.size()),
        elements(descriptor) {}

  std::vector<int64_t> parse(const char *begin, const char *end);

private:
  struct Frame {
    enum Kind {
      Single,    ///< the bare value of the only argument
      Arguments, ///< the object keyed by argument names
      Node,      ///< ["variant", field, ...]
      List,
      Braces, ///< an object whose first key determines its kind
      Shared, ///< {"nodes": ..., "root": ...}
      Nodes,  ///< the array of nodes in Shared
      Reference,
      Tensor,   ///< {"tensor": "NAME"}
      Elements, ///< a tensor as nested arrays
    };
    Kind kind;
    const Type *type;   ///< type of the value
    size_t base;        ///< index of the frame's first cell in `values`
    int64_t column = 0; ///< column where the value begins
    const Variant *variant = nullptr;
    int64_t scope = -1;    ///< Shared, Nodes: scope in which references are
                           ///< looked up
    int64_t pending = -1;  ///< Arguments: number of the argument; Shared: 0 for
                           ///< root, 1 for nodes; Reference: its scope
    int64_t root = -1;     ///< Shared
    bool hasNodes = false; ///< Shared
    int64_t result = -1;   ///< Reference, Tensor
    bool done = false;     ///< Reference, Tensor
  };

  template <class... Parts>
  [[noreturn]] void error(const Parts &...parts) {
    raise(where, column(), ": ", concat(parts...));
  }
  int64_t column() const { return tokenStart - text + 1; }
  /// Finds the beginning of the current event's token, after the previous
  /// token.
  void mark(bool number = false) {
    const char *from = previous;
    while (from < reached && (*from == ' ' || *from == '\t' || *from == ',' ||
                              *from == ':' || *from == '\r'))
      ++from;
    tokenStart = from;
    // The parser reads one character past a number to find its end.
    previous =
        number && reached > text && reached < textEnd ? reached - 1 : reached;
  }

  const Type &expected(const char *found);
  void push(int64_t cell);
  void integer(int64_t value, bool tooLarge);
  [[noreturn]] void wrong(const char *found);
  template <class... Parts>
  [[noreturn]] void wrongValue(const Parts &...parts);
  std::string valueName(const Type &type);
  std::string subject() const;
  template <class Body>
  void inTensor(Body body);
  template <class... Value>
  void addElement(const Type &type, Value... value);
  void startElements(const Type &type);
  void pushTensor(const Type &type);
  const Variant &lookUpVariant(const Type &type, const std::string &name,
                               bool anyAdt);
  void startVariant(Frame &frame, const std::string &name);
  int64_t innermostScope() const;

  bool null() override { return mark(), wrong("null"), true; }
  bool boolean(bool value) override;
  bool number_integer(number_integer_t value) override {
    return mark(true), integer(value, false), true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    mark(true);
    bool large = value > static_cast<uint64_t>(INT64_MAX);
    return integer(static_cast<int64_t>(value), large), true;
  }
  bool number_float(number_float_t value, const string_t &text) override;
  bool string(string_t &value) override;
  bool start_object(std::size_t) override;
  bool key(string_t &name) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t, const std::string &token,
                   const nlohmann::detail::exception &exception) override;

  const Descriptor &descriptor;
  const std::string &where;
  ValueBuilder &builder;
  InputTensors &tensors;
  Vocabulary &words;
  std::vector<int64_t> given; ///< 1 for an argument that already has a value
  std::vector<int64_t> results;
  std::vector<Frame> frames;
  std::vector<int64_t> values;
  TensorText elements; ///< of the innermost frame, if its kind is Elements
  const char *text = nullptr, *textEnd = nullptr;
  const char *reached = nullptr, *previous = nullptr, *tokenStart = nullptr;
};
} // namespace

std::string InstanceParser::valueName(const Type &type) {
  switch (type.kind) {
  case Type::Index:
    return "an index";
  case Type::Integer:
    return std::string("an integer of type ") + typeName(type.dtype);
  case Type::Float:
    return "a number";
  case Type::Adt:
    return "a value of ADT " + descriptor.adts[type.adt].name + " such as [\"" +
           descriptor.adts[type.adt].variants.front().name + "\", ...]";
  case Type::List:
    return "an array (" + describe(descriptor, type) + ")";
  case Type::Tensor:
    return TensorText::expected(type) + " or {\"tensor\": \"NAME\"} (" +
           describe(descriptor, type) + ")";
  }
  return "";
}

/// Describes the argument or field to which the current value belongs, and the
/// value's position in lists: "argument 'xs'[2]".
std::string InstanceParser::subject() const {
  size_t first = frames.size();
  std::string text;
  // In `values`, the values of a frame end at the base of the next frame.
  while (first > 0) {
    const Frame &frame = frames[--first];
    size_t end =
        first + 1 < frames.size() ? frames[first + 1].base : values.size();
    if (frame.kind == Frame::List) {
      text = concat("[", end - frame.base, "]", text);
    } else if (frame.kind == Frame::Node && frame.variant) {
      const Field &field = frame.variant->fields[end - frame.base];
      return concat("field '", field.name, "' of '", frame.variant->name, "'",
                    text);
    } else if (frame.kind == Frame::Single || frame.kind == Frame::Arguments) {
      size_t argument = frame.kind == Frame::Single ? 0 : frame.pending;
      return concat("argument '", descriptor.arguments[argument].name, "'",
                    text);
    }
  }
  return text;
}

void InstanceParser::wrong(const char *found) {
  const Type &type = expected(found);
  if (frames.back().kind == Frame::Elements)
    inTensor([&] { elements.mismatch(found); });
  wrongValue("expected ", valueName(type), ", found ", found);
}

/// Raises an error that begins with the argument or field.
template <class... Parts>
void InstanceParser::wrongValue(const Parts &...parts) {
  const std::string what = subject();
  error(what, what.empty() ? "" : ": ", parts...);
}

/// Adds the position, and the argument or field, to errors in a tensor's
/// elements.
template <class Body>
void InstanceParser::inTensor(Body body) {
  try {
    body();
  } catch (const Error &problem) {
    error(subject(), problem.what());
  }
}

/// Handles a number or a boolean that is an element of a tensor or a whole
/// tensor of rank 0.
template <class... Value>
void InstanceParser::addElement(const Type &type, Value... value) {
  bool inArray = frames.back().kind == Frame::Elements;
  if (!inArray && !type.shape.empty())
    wrong("a number");
  inTensor([&] {
    if (!inArray)
      elements.begin(type);
    elements.add(value...);
  });
  if (!inArray)
    pushTensor(type);
}

void InstanceParser::startElements(const Type &type) {
  elements.begin(type);
  frames.push_back({Frame::Elements, &type, values.size(), column()});
}

/// Adds a complete tensor to the inputs, and pushes its handle.
void InstanceParser::pushTensor(const Type &type) {
  int64_t row = 0;
  try {
    row = tensors.addRow(type, elements.elements());
  } catch (const Error &problem) {
    error(problem.what());
  }
  push(sourceHandle(type.source, row));
}

/// Returns "expected 1 field for 'leaf'", for errors.
static std::string describeFields(const Variant &variant) {
  const size_t count = variant.fields.size();
  return concat("expected ", count, count == 1 ? " field" : " fields", " for '",
                variant.name, "'");
}

/// Returns the type of the value that begins here. Raises an error if no value
/// is allowed.
const Type &InstanceParser::expected(const char *found) {
  Frame &frame = frames.back();
  switch (frame.kind) {
  case Frame::Single:
    return *frame.type;
  case Frame::Arguments:
    return descriptor.arguments[frame.pending].type;
  case Frame::Node: {
    if (!frame.variant)
      error("expected the name of a variant, found ", found);
    size_t field = values.size() - frame.base;
    if (field >= frame.variant->fields.size())
      error(describeFields(*frame.variant), ", found more");
    return frame.variant->fields[field].type;
  }
  case Frame::List:
    return frame.type->element();
  case Frame::Nodes:
  case Frame::Elements:
    return *frame.type;
  case Frame::Reference:
    error("expected the number of a node in {\"ref\": ...}, found ", found);
  case Frame::Tensor:
    error("expected the name of a tensor in {\"tensor\": ...}, found ", found);
  case Frame::Shared:
    error(frame.pending == 0 ? "expected the number of a node in \"root\""
                             : "expected an array of nodes in \"nodes\"",
          ", found ", found);
  case Frame::Braces:
    break;
  }
  error("unexpected ", found);
}

/// Passes the cell of a complete value to the innermost frame.
void InstanceParser::push(int64_t cell) {
  Frame &frame = frames.back();
  if (frame.kind == Frame::Single) {
    results[0] = cell;
    given[0] = 1;
  } else if (frame.kind == Frame::Arguments) {
    results[frame.pending] = cell;
    given[frame.pending] = 1;
  } else if (frame.kind == Frame::Nodes) {
    builder.addToScope(frame.scope, cell);
  } else {
    values.push_back(cell);
  }
}

/// Handles an integer. If it is too large for an int64_t (`tooLarge`), `value`
/// contains the bits of a uint64_t.
void InstanceParser::integer(int64_t value, bool tooLarge) {
  Frame &frame = frames.back();
  auto large = static_cast<uint64_t>(value);
  auto digits = [&] {
    return tooLarge ? std::to_string(large) : std::to_string(value);
  };
  if (frame.kind == Frame::Reference || frame.kind == Frame::Shared) {
    if (frame.kind == Frame::Shared && frame.pending != 0)
      (void)expected("a number");
    if (tooLarge || value < 0 || value > INT32_MAX)
      error("node ", digits(), " is out of range; expected 0 to 2147483647");
    if (frame.kind == Frame::Shared)
      frame.root = value;
    else
      frame.result = value;
    frame.done = true;
    return;
  }
  const Type &type = expected("a number");
  auto real = static_cast<double>(large);
  if (type.kind == Type::Index) {
    if (tooLarge || value < 0 || value > INT32_MAX)
      wrongValue("index ", digits(),
                 " is out of range; expected 0 to 2147483647");
    builder.largestIndex = std::max(builder.largestIndex, value);
    return push(value);
  }
  if (type.kind == Type::Integer) {
    auto [least, most] = integerRange(type.dtype);
    if (tooLarge || value < least || value > most)
      wrongValue(digits(), " is out of range for ", typeName(type.dtype),
                 "; expected ", least, " to ", most);
    return push(value);
  }
  if (type.kind == Type::Float) {
    number_float(tooLarge ? real : static_cast<double>(value), "");
    return;
  }
  if (type.kind == Type::Tensor && tooLarge)
    return addElement(type, real, digits().c_str());
  if (type.kind == Type::Tensor)
    return addElement(type, value);
  wrong("a number");
}

bool InstanceParser::boolean(bool value) {
  mark();
  const Type &type = expected("a boolean");
  if (type.kind == Type::Tensor)
    return addElement(type, value), true;
  if (type.kind != Type::Integer || type.dtype != DType::I1)
    wrong("a boolean");
  return push(value), true;
}

bool InstanceParser::number_float(number_float_t value,
                                  const string_t &digits) {
  if (!digits.empty())
    mark(true);
  const Type &type = expected("a number with a fraction");
  if (type.kind == Type::Tensor)
    return addElement(type, value, digits.c_str()), true;
  if (type.kind != Type::Float)
    wrong(digits.c_str());
  int64_t cell = 0;
  if (!storeFloat(type.dtype, value, reinterpret_cast<char *>(&cell), 0))
    wrongValue("the number is too large for ", typeName(type.dtype));
  return push(cell), true;
}

const Variant &InstanceParser::lookUpVariant(const Type &type,
                                             const std::string &name,
                                             bool anyAdt) {
  const AdtInfo &adt = descriptor.adts[type.adt];
  if (const Variant *variant = adt.find(name))
    return *variant;
  if (anyAdt)
    for (const AdtInfo &other : descriptor.adts)
      if (const Variant *variant = other.find(name))
        return *variant;
  std::string names;
  for (const Variant &variant : adt.variants)
    names += (names.empty() ? "" : ", ") + variant.name;
  error("unknown variant '", name, "' of ADT ", adt.name, "; expected one of ",
        names);
}

bool InstanceParser::string(string_t &value) {
  mark();
  Frame &frame = frames.back();
  if (frame.kind == Frame::Node && !frame.variant) {
    // Within "nodes", a node may be of any ADT. References are checked later.
    bool anyAdt =
        frames.size() > 1 && frames[frames.size() - 2].kind == Frame::Nodes;
    frame.variant = &lookUpVariant(*frame.type, value, anyAdt);
    return true;
  }
  if (frame.kind == Frame::Tensor) {
    bool list = frame.type->kind == Type::List;
    const Type &row = list ? frame.type->element() : *frame.type;
    std::pair<int64_t, int64_t> rows;
    try {
      rows = tensors.rows(row, value, list);
    } catch (const Error &problem) {
      error(problem.what());
    }
    if (!list) {
      frame.result = sourceHandle(row.source, rows.first);
    } else {
      std::vector<int64_t> cells;
      for (int64_t i = 0; i < rows.second; ++i)
        cells.push_back(sourceHandle(row.source, rows.first + i));
      frame.result = builder.addList(cells.data(), rows.second);
    }
    frame.done = true;
    return true;
  }
  const Type &type = expected("a string");
  if (std::optional<NonFinite> number = NonFinite::find(value)) {
    if (type.kind == Type::Tensor)
      return addElement(type, *number), true;
    if (type.kind == Type::Float) {
      number_float(number->value, "");
      return true;
    }
  }
  if (type.kind != Type::Index)
    wrong("a string");
  std::optional<int64_t> number = words.number(value);
  if (!number)
    error("the word '", value, "' is not in the vocabulary '", words.path(),
          "'; add the word or '<unk>'");
  builder.largestIndex = std::max(builder.largestIndex, *number);
  return push(*number), true;
}

bool InstanceParser::start_array(std::size_t) {
  mark();
  Frame &frame = frames.back();
  if (frame.kind == Frame::Shared && frame.pending == 1) {
    frame.hasNodes = true;
    Frame nodes{Frame::Nodes, frame.type, values.size(), column()};
    nodes.scope = frame.scope;
    frames.push_back(nodes);
    return true;
  }
  const Type &type = expected("an array");
  if (frame.kind == Frame::Elements)
    inTensor([&] { elements.open(); });
  else if (type.kind == Type::Adt)
    frames.push_back({Frame::Node, &type, values.size(), column()});
  else if (type.kind == Type::List)
    frames.push_back({Frame::List, &type, values.size(), column()});
  else if (type.kind == Type::Tensor && !type.shape.empty())
    startElements(type);
  else
    wrong("an array");
  return true;
}

bool InstanceParser::end_array() {
  mark();
  Frame frame = frames.back();
  int64_t count = static_cast<int64_t>(values.size() - frame.base);
  int64_t cell = 0;
  if (frame.kind == Frame::Nodes) {
    frames.pop_back();
    return true;
  }
  if (frame.kind == Frame::Elements) {
    bool complete = false;
    inTensor([&] { complete = elements.close(); });
    if (complete) {
      frames.pop_back();
      pushTensor(*frame.type);
    }
    return true;
  }
  if (frame.kind == Frame::Node) {
    if (!frame.variant)
      error("expected a value of ADT ", descriptor.adts[frame.type->adt].name,
            ", found an empty array");
    if (count != static_cast<int64_t>(frame.variant->fields.size()))
      error(describeFields(*frame.variant), ", found ", count);
    try {
      cell = builder.addNode(*frame.variant, values.data() + frame.base);
    } catch (const Error &tooMany) {
      error(tooMany.what());
    }
  } else {
    cell = builder.addList(values.data() + frame.base, count);
  }
  values.resize(frame.base);
  frames.pop_back();
  push(cell);
  return true;
}

int64_t InstanceParser::innermostScope() const {
  for (size_t i = frames.size(); i-- > 0;)
    if (frames[i].scope >= 0)
      return frames[i].scope;
  return -1;
}

bool InstanceParser::start_object(std::size_t) {
  mark();
  if (frames.empty()) {
    frames.push_back({Frame::Arguments, nullptr, 0});
    return true;
  }
  const Type &type = expected("an object");
  bool tensorList =
      type.kind == Type::List && type.element().kind == Type::Tensor;
  if ((type.kind != Type::Adt && type.kind != Type::Tensor && !tensorList) ||
      frames.back().kind == Frame::Elements)
    wrong("an object");
  frames.push_back({Frame::Braces, &type, values.size(), column()});
  return true;
}

bool InstanceParser::key(string_t &name) {
  mark();
  Frame &frame = frames.back();
  if (frame.kind == Frame::Arguments) {
    for (size_t i = 0; i < descriptor.arguments.size(); ++i)
      if (descriptor.arguments[i].name == name) {
        if (given[i])
          error("the argument '", name, "' is given twice");
        frame.pending = static_cast<int64_t>(i);
        return true;
      }
    std::string names;
    for (const Field &argument : descriptor.arguments)
      names += (names.empty() ? "" : ", ") + argument.name;
    error("unknown argument '", name, "'; the model takes ",
          names.empty() ? "none" : names);
  }
  if (frame.kind == Frame::Braces) {
    if (frames.size() > 1 && frames[frames.size() - 2].kind == Frame::Nodes)
      error("expected ", valueName(*frame.type),
            " in \"nodes\", found an object");
    bool adt = frame.type->kind == Type::Adt;
    if (adt && name == "ref") {
      int64_t scope = innermostScope();
      if (scope < 0)
        error("{\"ref\": ...} is only allowed within \"nodes\"");
      frame.kind = Frame::Reference;
      frame.pending = scope;
      return true;
    }
    if (adt && (name == "nodes" || name == "root")) {
      frame.kind = Frame::Shared;
      frame.scope = builder.openScope();
    } else if (!adt && name == "tensor") {
      frame.kind = Frame::Tensor;
      return true;
    } else {
      error("unexpected key '", name, "'; expected ", valueName(*frame.type),
            adt ? " or {\"nodes\": [...], \"root\": N}" : "");
    }
  }
  if (frame.kind == Frame::Shared) {
    if (name == "nodes" && !frame.hasNodes) {
      frame.pending = 1;
      return true;
    }
    if (name == "root" && frame.root < 0) {
      frame.pending = 0;
      return true;
    }
  }
  error("unexpected key '", name, "'; expected ",
        frame.kind == Frame::Shared ? "\"nodes\" and \"root\", each once"
                                    : "no other key");
}

bool InstanceParser::end_object() {
  mark();
  Frame frame = frames.back();
  if (frame.kind == Frame::Arguments)
    return true;
  frames.pop_back();
  if (frame.kind == Frame::Braces)
    error("expected ", valueName(*frame.type), ", found an empty object");
  if (frame.kind == Frame::Shared) {
    if (!frame.hasNodes || frame.root < 0)
      error("a shared value requires both \"nodes\" and \"root\"");
    if (frame.root >= builder.scopeSize(frame.scope))
      error("\"root\" is ", frame.root, ", but \"nodes\" has only ",
            builder.scopeSize(frame.scope),
            builder.scopeSize(frame.scope) == 1 ? " node" : " nodes",
            ", numbered from 0");
    push(builder.addReference(frame.scope, frame.root, frame.type->adt,
                              concat(where, column(), ": the root ")));
    return true;
  }
  if (!frame.done)
    error("the object has no value");
  if (frame.kind == Frame::Reference)
    push(builder.addReference(frame.pending, frame.result, frame.type->adt,
                              concat(where, column(), ": ")));
  else
    push(frame.result);
  return true;
}

std::string batchrt::jsonErrorText(std::string message) {
  // "[json.exception...] parse error at line 1, column 5: syntax error ..."
  size_t begin = message.find(": ");
  if (begin == std::string::npos)
    begin = message.find("] ");
  if (begin != std::string::npos)
    message.erase(0, begin + 2);
  // Python writes NaN and Infinity without quotes.
  for (const char *end : {"N'", "I'"})
    if (message.size() > 2 && message.compare(message.size() - 2, 2, end) == 0)
      message += R"(; write "NaN", "Infinity" or "-Infinity")";
  return message;
}

bool InstanceParser::parse_error(std::size_t position, const std::string &token,
                                 const nlohmann::detail::exception &exception) {
  constexpr int overflow = 406; // well-formed, but too large for a double
  if (exception.id == overflow && !frames.empty()) {
    mark(true);
    const Type &type = expected("a number");
    if (type.kind == Type::Tensor)
      addElement(type, HUGE_VAL, token.c_str());
    if (type.kind == Type::Float)
      wrongValue("the number is too large for ", typeName(type.dtype));
  }
  raise(where, std::max<size_t>(position, 1),
        ": malformed JSON: ", jsonErrorText(exception.what()));
}

std::vector<int64_t> InstanceParser::parse(const char *begin, const char *end) {
  text = reached = previous = tokenStart = begin;
  textEnd = end;
  results.assign(descriptor.arguments.size(), 0);
  // Report NUL characters: the parser treats them as the end of the text.
  if (const void *nul = std::memchr(begin, 0, end - begin))
    raise(where, static_cast<const char *>(nul) - begin + 1,
          ": malformed JSON: a NUL byte");
  CountingIterator first{begin, &reached}, last{end, &reached};

  const char *start = begin;
  while (start < end && (*start == ' ' || *start == '\t'))
    ++start;
  bool keyed = start < end && *start == '{';
  if (keyed && descriptor.arguments.size() == 1) {
    const Field &argument = descriptor.arguments[0];
    TopKeys top;
    // {"tensor": "NAME"} may also be the bare value of the only argument.
    if (argument.type.kind == Type::Adt)
      top.known = {"nodes", "root"};
    else if (argument.name != "tensor")
      top.known = {"tensor"};
    json::sax_parse(begin, end, static_cast<Events *>(&top));
    if (!top.known.empty() && top.keys == top.known)
      keyed = false;
  }
  if (!keyed && descriptor.arguments.size() != 1) {
    std::string names;
    for (const Field &argument : descriptor.arguments)
      names += (names.empty() ? "\"" : ", \"") + argument.name + "\": ...";
    raise(where, start - begin + 1, ": the model has ",
          descriptor.arguments.size(), " arguments; write an object {", names,
          "}");
  }
  // If the arguments are keyed, the outer brace opens their frame.
  if (!keyed)
    frames.push_back({Frame::Single, &descriptor.arguments[0].type, 0});
  json::sax_parse(first, last, static_cast<Events *>(this));
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i])
      raise(where, start - begin + 1, ": the argument '",
            descriptor.arguments[i].name, "' is missing");
  return results;
}

void batchrt::parseJsonInstance(const Descriptor &descriptor, const char *begin,
                                const char *end, const std::string &where,
                                int64_t line, ValueBuilder &builder,
                                InputTensors &tensors, Vocabulary &words,
                                Forest &forest) {
  InstanceParser parser(descriptor, where, builder, tensors, words);
  std::vector<int64_t> cells = parser.parse(begin, end);
  try {
    for (size_t i = 0; i < cells.size(); ++i)
      builder.place(forest, static_cast<int>(i), descriptor.arguments[i].type,
                    cells[i]);
    builder.finishInstance(forest, line);
  } catch (const Error &error) {
    std::string message = error.what();
    // Errors in references already contain the column.
    if (message.rfind(where, 0) == 0)
      throw;
    raise(where, "1: ", message);
  }
}
