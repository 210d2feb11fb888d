#include "core/own_program.hpp"

#include <sys/auxv.h>
#include <unistd.h>

namespace voxherd {

namespace {

namespace fs = std::filesystem;

constexpr const char* own_link = "/proc/self/exe";

struct program_start {
  fs::path file;  ///< as it was named to the system
  std::vector<std::string> words, environment;
};

/// The name by which the system started the program. A relative one begins in the folder in which it was started.
fs::path started_file() {
  const auto* const name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  std::error_code ignored;
  return name == nullptr ? fs::path() : fs::absolute(name, ignored);
}

std::vector<std::string> as_texts(char** from) {
  std::vector<std::string> texts;
  for (; from != nullptr && *from != nullptr; ++from) texts.emplace_back(*from);
  return texts;
}

program_start& noted() {
  static program_start start{started_file(), {}, as_texts(environ)};
  return start;
}

}  // namespace

void note_program_start(int argc, char** argv) {
  noted() = {started_file(), {argv + (argc > 0 ? 1 : 0), argv + argc}, as_texts(environ)};
}

fs::path own_program() {
  std::error_code failed;
  const fs::path file = fs::read_symlink(own_link, failed);
  return failed ? fs::canonical(noted().file, failed) : file;
}

std::string own_program_to_start() {
  return access(own_link, X_OK) == 0 ? std::string(own_link) : own_program().string();
}

const std::vector<std::string>& initial_words() { return noted().words; }

const std::vector<std::string>& initial_environment() { return noted().environment; }

}  // namespace voxherd
