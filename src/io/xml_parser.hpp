#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace voxherd {

/// Attributes of an XML element.
class xml_attributes {
 public:
  /// `list`: names and values in turn, ended by null, as expat has them.
  explicit xml_attributes(const char** list) : list_(list) {}
  /// "" if there is no such attribute.
  std::string_view find(std::string_view name) const;

 private:
  const char** list_;
};

/// Receives an XML document in its order. May throw, which ends the parsing.
class xml_handler {
 public:
  virtual ~xml_handler() = default;
  virtual void start(std::string_view name, const xml_attributes& attributes) = 0;
  /// Text of the innermost open element, in pieces of any size.
  virtual void text(std::string_view piece) = 0;
  virtual void end(std::string_view name) = 0;
};

/// Parses an XML document piece by piece with expat. Elements may be nested 32
/// deep. Declared entities are refused, because a few bytes of them can stand
/// for any amount of text. Throws failure (bad_data) with the line, and what
/// the handler throws.
class xml_parser {
 public:
  /// `name`: of the document in messages. The handler must outlive the parser.
  xml_parser(const std::string& name, xml_handler& handler);
  ~xml_parser();
  xml_parser(const xml_parser&) = delete;
  xml_parser& operator=(const xml_parser&) = delete;

  void parse(std::string_view piece);
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace voxherd
