#include "src/analyses/perfusion/curve_files.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/options.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/run/run_outputs.hpp"

namespace voxherd {

namespace {

named_output curve_file(const run_settings& how) {
  return {"--out: its file of curves", curve_path(how.out), how.overwrite};
}

/// Whether the file has this content already, as after a run that was killed before it made OUT.part.
bool contains(const std::string& path, const std::string& text) {
  std::ifstream file(path, std::ios::binary);
  return file && std::string(std::istreambuf_iterator<char>(file), {}) == text;
}

/// Whether a stopped run, which is resumed now, has made the file.
bool is_kept(const run_settings& how, const named_output& file, const std::string& text) {
  if (!how.resume || how.overwrite || !std::filesystem::exists(file.path)) return false;
  return std::filesystem::exists(unfinished_path(how.out)) || contains(file.path, text);
}

std::string table_of(const perfusion_findings& found, const tissue_fit& tissue) {
  const auto& f = found.frames;
  std::string text = "t_s,arterial,portal,counted,tissue";
  text += tissue.fitted ? ",tissue_fit\n" : "\n";
  for (std::size_t i = 0; i < f.frames(); ++i) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}", f.time_s[i], f.arterial[i], f.portal[i], f.counts[i],
                   found.tissue[i]);
    text += tissue.fitted ? fmt::format(",{}\n", tissue.curve[i]) : "\n";
  }
  return text;
}

}  // namespace

std::string curve_path(const std::string& result) {
  const std::filesystem::path path(result);
  return (path.parent_path() / path.stem()).string() + ".curves.csv";
}

void check_curve_file(const run_settings& how) {
  const named_output file = curve_file(how);
  for (const named_output& other : {json_output(how), trace_output(how)}) {
    if (is_same_file(file.path, other.path))
      option::refuse(
          fmt::format("{} {} is also the file of {}; choose another name", file.option, file.path, other.option));
  }
  if (!how.resume) check_output(file);
}

std::string write_curve_file(const run_settings& how, const perfusion_findings& found, const tissue_fit& tissue) {
  const named_output file = curve_file(how);
  const std::string text = table_of(found, tissue);
  const bool kept = is_kept(how, file, text), is_new = !std::filesystem::exists(file.path);
  if (!kept) {
    check_not_an_input(file, how.provenance);
    check_output(file);
    write_output(file, text);
  }
  spdlog::info("curves and the mean curve's fit are in {}; `voxherd report` shows them", file.path);
  return is_new ? file.path : "";
}

}  // namespace voxherd
