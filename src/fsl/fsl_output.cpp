#include "src/fsl/fsl_output.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "core/failure.hpp"
#include "mpi/run/study_question.hpp"

namespace voxherd {

image_type fsl_output_type() {
  constexpr const char* variable = "FSLOUTPUTTYPE";
  constexpr struct {
    std::string_view name;
    image_type type;
  } types[] = {
      {"NIFTI_GZ", {true, false}}, {"NIFTI", {false, false}}, {"NIFTI2_GZ", {true, true}}, {"NIFTI2", {false, true}}};
  const char* const value = std::getenv(variable);
  const std::string name = value == nullptr ? "" : value;
  if (name.empty()) return {};
  for (const auto& known : types)
    if (name == known.name) return known.type;
  refuse_usage("{}={}: expected NIFTI_GZ, NIFTI, NIFTI2_GZ or NIFTI2; other types are not written", variable, name);
}

bool goes_on_with_images(exit_status of_result, const run_request& run) {
  return of_result == exit_status::complete && (!run.dry_run || is_asked());
}

output_folder::~output_folder() {
  std::error_code not_empty;
  for (auto folder = created_.rbegin(); folder != created_.rend(); ++folder)
    std::filesystem::remove(*folder, not_empty);
}

bool output_folder::create(const std::string& folder) {
  std::error_code code;
  const std::filesystem::path path(folder);
  std::filesystem::path part;
  bool is_new = false;
  for (const std::filesystem::path& name : path) {
    if (code || name.empty()) continue;  // the name after the last slash
    part /= name;
    std::error_code missing;
    is_new = !std::filesystem::is_directory(part, missing) && std::filesystem::create_directory(part, code);
    if (is_new) created_.push_back(part.string());
  }
  if (code) fail_on_disk(code.value(), "{}: cannot create the folder", folder);
  return is_new;
}

export_settings make_fsl_settings(const session& s, const std::string& result, const std::string& folder,
                                  const run_request& run) {
  export_settings settings;
  settings.result = result;
  settings.out = folder;
  settings.overwrite = true;
  settings.type = fsl_output_type();
  settings.quiet = run.quiet;
  settings.threads = export_threads(s, run.threads);
  return settings;
}

}  // namespace voxherd
