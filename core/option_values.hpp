#pragma once

#include <fmt/core.h>

#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include "core/command.hpp"

/// Values of options with their range checked. All throw failure (usage) naming option, value and what is expected.
namespace voxherd::option {

long long integer(const arguments& args, const char* name, long long least, long long most);
double number(const arguments& args, const char* name, double least, double most);
[[noreturn]] void refuse(const std::string& message);
[[noreturn]] void refuse_word(const char* name, const std::string& given, const std::string& expected);
/// "--NAME has no meaning REASON", when NAME is given.
void refuse_given(const arguments& args, const char* name, const char* reason);

/// A value with a default, for a list of options.
inline auto* text(const char* standard) { return po::value<std::string>()->default_value(standard); }
inline auto* whole(long long standard) { return po::value<long long>()->default_value(standard); }
inline auto* real(double standard, const char* shown) { return po::value<double>()->default_value(standard, shown); }

/// The default depends on other options and is put in when they are read.
inline auto* text_by_others(const char* shown) { return po::value<std::string>()->default_value("", shown); }
inline auto* whole_by_others(const char* shown) { return po::value<long long>()->default_value(0, shown); }
inline auto* real_by_others(const char* shown) { return real(std::numeric_limits<double>::quiet_NaN(), shown); }

inline auto* file() { return po::value<std::string>()->value_name("FILE"); }

/// The value that belongs to the option's word.
template <class T>
T word(const arguments& args, const char* name, std::initializer_list<std::pair<const char*, T>> words) {
  const auto& given = args.get<std::string>(name);
  std::string all;
  for (const auto& [text, value] : words) {
    if (given == text) return value;
    all += (all.empty() ? "" : ", ") + std::string(text);
  }
  refuse_word(name, given, all);
}

}  // namespace voxherd::option
