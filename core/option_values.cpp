#include "core/option_values.hpp"

namespace voxherd::option {

void refuse(const std::string& message) { throw failure(exit_status::usage, message); }

void refuse_word(const char* name, const std::string& given, const std::string& expected) {
  refuse(fmt::format("--{} {}: expected one of {}", name, given, expected));
}

void refuse_given(const arguments& args, const char* name, const char* reason) {
  if (args.has(name)) refuse(fmt::format("--{} has no meaning {}; leave it out", name, reason));
}

long long integer(const arguments& args, const char* name, long long least, long long most) {
  const auto value = args.get<long long>(name);
  if (value < least || value > most) refuse(fmt::format("--{} {}: expected {} to {}", name, value, least, most));
  return value;
}

double number(const arguments& args, const char* name, double least, double most) {
  const auto value = args.get<double>(name);
  if (!(value >= least && value <= most)) refuse(fmt::format("--{} {}: expected {} to {}", name, value, least, most));
  return value;
}

}  // namespace voxherd::option
