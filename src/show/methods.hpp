#pragma once

#include <set>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/show/page.hpp"

namespace voxherd::report {

/// How a result was computed, for a paper. It is complete whatever an analysis writes: settings that its sentences do
/// not state are listed after them.
struct methods_text {
  explicit methods_text(const result_reader& r) : result(r) {}

  /// A setting for a sentence, "2" or "gaussian"; `standard` if the configuration has none.
  std::string state(const std::string& option, const std::string& standard = "?");
  void cite(std::string paper, std::string doi) { references.push_back({std::move(paper), std::move(doi)}); }

  const result_reader& result;
  std::string text;  ///< the same for all results with these settings
  std::string data;  ///< what differs between subjects
  std::vector<reference> references;
  std::set<std::string> stated;  ///< options
};

/// The methods of a result of any analysis.
methods_text write_methods(const result_reader& r);

/// "voxherd 0.1.0 (commit 0123456789ab)", which wrote the result.
std::string writing_program(const result_reader& r);
/// How a paper cites the program.
reference cite_program(const std::string& name);

/// The papers of the ball & stick model and of tracking through its samples.
void cite_ball_and_stick(methods_text& m);

}  // namespace voxherd::report
