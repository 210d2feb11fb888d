#include <fmt/core.h>

#include "src/tools/phantom/phantom_kind.hpp"
#include "src/tools/phantom/phantom_options.hpp"

namespace voxherd {

namespace {

const phantom_kind* const kinds[] = {&dwi_phantom_kind, &liver_phantom_kind, &score_phantom_kind};

void options(po::options_description& description) {
  description.add_options()                                                                                     //
      ("kind", po::value<std::string>(), "dwi, liver: make a phantom; score: compare a result with its truth")  //
      ("result", po::value<std::string>(), "score: a result file, or a folder of maps (dyads1, f1, ...; kl, ka, ...)");
  phantom_option::add(description);
  for (const phantom_kind* kind : kinds) kind->options(description);
}

exit_status run_command(session& s, const arguments& args) {
  std::string names;
  const std::string asked = args.has("kind") ? args.get<std::string>("kind") : "";
  for (const phantom_kind* kind : kinds) {
    if (asked == kind->name) return kind->run(s, args);
    names += (names.empty() ? "" : ", ") + std::string(kind->name);
  }
  throw failure(exit_status::usage, fmt::format("phantom {}: expected one of {}", asked, names));
}

}  // namespace

extern const command phantom_command{"phantom",
                                     "make inputs with known truth, or score results against it",
                                     "dwi|liver --preset NAME --out FOLDER | score RESULT --truth FOLDER",
                                     "kind,result",
                                     options,
                                     run_command};

}  // namespace voxherd
