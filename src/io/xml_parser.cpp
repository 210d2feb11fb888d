#include "src/io/xml_parser.hpp"

#include <expat.h>
#include <fmt/core.h>

#include <algorithm>
#include <exception>

#include "core/failure.hpp"

namespace voxherd {

namespace {

constexpr int max_depth = 32;
constexpr std::size_t max_piece = std::size_t{1} << 20;  // expat counts in int

}  // namespace

std::string_view xml_attributes::find(std::string_view name) const {
  for (const char** at = list_; at[0] != nullptr; at += 2)
    if (name == at[0]) return at[1];
  return {};
}

struct xml_parser::state {
  state(std::string n, xml_handler& h) : name(std::move(n)), handler(h), parser(XML_ParserCreate(nullptr)) {
    if (parser == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, start, end);
    XML_SetCharacterDataHandler(parser, text);
    XML_SetEntityDeclHandler(parser, declare_entity);
  }
  ~state() { XML_ParserFree(parser); }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  [[noreturn]] void refuse(const std::string& what) const {
    refuse_data("{}: line {}: {}", name, XML_GetCurrentLineNumber(parser), what);
  }

  /// Exceptions must not pass through expat, which is in C.
  template <class Action>
  void guard(const Action& action) {
    if (thrown) return;
    try {
      action();
    } catch (...) {
      thrown = std::current_exception();
      XML_StopParser(parser, XML_FALSE);
    }
  }

  static void start(void* self, const char* element, const char** attributes) {
    state& s = *static_cast<state*>(self);
    s.guard([&] {
      if (++s.depth > max_depth) s.refuse(fmt::format("elements are nested more than {} deep", max_depth));
      s.handler.start(element, xml_attributes(attributes));
    });
  }
  static void end(void* self, const char* element) {
    state& s = *static_cast<state*>(self);
    s.guard([&] {
      --s.depth;
      s.handler.end(element);
    });
  }
  static void text(void* self, const char* piece, int bytes) {
    state& s = *static_cast<state*>(self);
    s.guard([&] { s.handler.text({piece, static_cast<std::size_t>(bytes)}); });
  }
  static void declare_entity(void* self, const char*, int, const char*, int, const char*, const char*, const char*,
                             const char*) {
    state& s = *static_cast<state*>(self);
    s.guard([&] { s.refuse("declares an entity, expected an XML document without"); });
  }

  void parse(const char* data, std::size_t bytes, bool is_last) {
    const XML_Status status = XML_Parse(parser, data, static_cast<int>(bytes), is_last);
    if (thrown) std::rethrow_exception(thrown);
    if (status != XML_STATUS_OK)
      refuse(fmt::format("is not XML: {}; the file may be truncated", XML_ErrorString(XML_GetErrorCode(parser))));
  }

  std::string name;
  xml_handler& handler;
  XML_Parser parser;
  int depth = 0;
  std::exception_ptr thrown;
};

xml_parser::xml_parser(const std::string& name, xml_handler& handler)
    : state_(std::make_unique<state>(name, handler)) {}
xml_parser::~xml_parser() = default;

void xml_parser::parse(std::string_view piece) {
  for (std::size_t done = 0; done < piece.size(); done += max_piece)
    state_->parse(piece.data() + done, std::min(max_piece, piece.size() - done), false);
}

void xml_parser::finish() { state_->parse("", 0, true); }

}  // namespace voxherd
