#include "mpi/run/run_outputs.hpp"

#include <fmt/core.h>

namespace voxherd {

named_output json_output(const run_settings& settings) { return {"--json", settings.json, settings.overwrite}; }
named_output trace_output(const run_settings& settings) { return {"--trace", settings.trace, settings.overwrite}; }

void check_not_a_result(const std::string& option, const std::string& path, const std::string& result_option,
                        const std::string& result) {
  for (const char* ending : {"", ".part", ".part.new", ".lock", ".task.json"}) {
    if (!is_same_file(path, result + ending)) continue;
    throw failure(exit_status::usage,
                  fmt::format("{} {} is {} {}; choose another name", option, path,
                              *ending == '\0' ? "also the file of" : "a temporary file of", result_option));
  }
}

void check_run_outputs(const run_settings& settings, const nlohmann::json& provenance) {
  const named_output outputs[] = {json_output(settings), trace_output(settings)};
  for (const named_output& output : outputs) {
    if (output.path.empty()) continue;
    check_not_an_input(output, provenance);
    check_not_a_result(output.option, output.path, "--out", settings.out);
    check_output(output);
  }
}

}  // namespace voxherd
