#include "core/utf8.hpp"

#include <nlohmann/json.hpp>

#include "core/json_text.hpp"

namespace voxherd {

namespace {

/// Bytes of the character of UTF-8 that begins here; 0 if there is none (Unicode 15, table 3-7).
std::size_t character_length(std::string_view at) {
  const auto byte = [&](std::size_t i) { return i < at.size() ? static_cast<unsigned char>(at[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0) return 0;
  // The second byte excludes long forms, surrogates, and what is beyond U+10FFFF.
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return length;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character_length(bytes.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string valid_utf8(const std::string& text) {
  if (find_invalid_utf8(text) == std::string_view::npos) return text;
  return nlohmann::json::parse(dump_json(nlohmann::json(text))).get<std::string>();
}

}  // namespace voxherd
