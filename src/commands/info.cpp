#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "core/command.hpp"
#include "core/control_groups.hpp"
#include "core/device.hpp"
#include "core/json_text.hpp"
#include "core/text.hpp"
#include "kernels/device/cpu_level.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/analyses/common/step_times.hpp"
#include "src/scan/direction_frame.hpp"
#include "src/scan/gradient_deviation.hpp"
#include "src/show/status_counts.hpp"

namespace voxherd {

namespace {

struct info_request {
  std::string result;  ///< "" for the program itself
  bool verbose = false;
};

const option_table<info_request>& info_options() {
  using T = info_request;
  static const option_table<T> table =
      option_table<T>()
          .group("Input",
                 {{"result",
                   &T::result,
                   text_kind::file,
                   {.text = "result file, complete or FILE.part, or a folder with results; without it the program",
                    .place = 1}}})
          .group("Output", {{"verbose", &T::verbose, {"print configuration and provenance too (JSON)"}}});
  return table;
}

/// The version of the CPU kernels that runs, and all that the program contains.
std::string describe_cpu_kernels() {
  std::vector<std::string> built;
  for (int i = 0; i < cpu_level_count; ++i) built.push_back(cpu_levels[i].name);
  return fmt::format("{} runs; built for {}", built[static_cast<std::size_t>(running_cpu_level)],
                     fmt::join(built, ", "));
}

void print_program(const session& s) {
  std::string why_none;
  const auto gpus = visible_gpus(&why_none);
  fmt::print("voxherd    {}\n", version);
  fmt::print("CUDA       {}\n", built_with_cuda() ? "built in" : "not built in");
  fmt::print("MPI        {}\n", mpi_library());
  fmt::print("HDF5       {}\n", hdf5_library());
  const int cores = static_cast<int>(std::thread::hardware_concurrency()), usable = usable_cores();
  fmt::print("CPU        {} cores on {}{}\n", cores, s.host(),
             usable < cores ? fmt::format(", of which {} may be used", usable) : "");
  fmt::print("kernels    {}\n", describe_cpu_kernels());
  for (const gpu& g : gpus) {
    fmt::print("GPU {}      {}, {:.0f} GB, compute capability {}.{}\n", g.ordinal, g.name,
               static_cast<double>(g.memory_bytes) / 1e9, g.compute_capability / 10, g.compute_capability % 10);
  }
  if (gpus.empty()) fmt::print("GPUs       none ({})\n", built_with_cuda() ? why_none : "built without CUDA");
}

/// Prints name, type, unit and meaning of each dataset in columns.
void print_outputs(const result_reader& r) {
  std::vector<std::array<std::string, 4>> rows;
  for (const output_spec& o : r.outputs()) {
    const std::string shape = o.shape.empty() ? "" : fmt::format("[{}]", fmt::join(o.shape, ","));
    rows.push_back(
        {one_line(dataset_path(o) + shape), std::string(type_name(o.type)), one_line(o.unit), one_line(o.meaning)});
  }
  for (const constant& c : r.constants())
    rows.push_back({one_line(fmt::format("{}[{}]", dataset_path(c), fmt::join(c.shape, ","))), "float64",
                    one_line(c.unit), one_line(c.meaning)});
  std::array<std::size_t, 3> width{28, 8, 8};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], row[i].size());
  for (const auto& [name, type, unit, meaning] : rows)
    fmt::print("  {:<{}} {:<{}} {:<{}} {}\n", name, width[0], type, width[1], unit, width[2], meaning);
}

/// Prints how many voxels have each code of the status map.
void print_status_counts(const result_reader& r) {
  if (!r.complete() || !has_status_map(r)) return;
  auto counts = stored_status_counts(r);
  if (counts.empty()) counts = count_status(r, r.item_voxels());
  for (const auto& [code, count] : counts)
    fmt::print("status     {}\n", describe_status(code, count, r.item_voxels().size()));
}

/// "5 of 44 batches, incomplete: continue with --resume"
std::string describe_progress(const result_reader& r) {
  std::uint64_t done = 0;
  for (const journal_entry& e : r.journal()) done += e.done == 1 ? 1 : 0;
  return fmt::format("{} of {} batches, {}", done, r.batches().size(),
                     r.complete() ? "complete" : "incomplete: continue with --resume");
}

/// Time, ranks, and the rate of a result of one step, or the time of each step. `item`: in the singular.
std::string describe_run(const nlohmann::json& summary, const std::string& item) {
  const std::string ranks = counted(summary.at("rank_count").get<std::uint64_t>(), "rank");
  const auto steps = step_times(summary);
  if (steps.empty())
    return fmt::format("{:.1f} s on {}, {:.1f} {}s/s", summary.at("seconds").get<double>(), ranks,
                       summary.at("items_per_second").get<double>(), item);
  double sum = 0;
  std::vector<std::string> times;
  for (const auto& [name, seconds] : steps) {
    sum += seconds;
    times.push_back(fmt::format("{} {:.1f}", name, seconds));
  }
  return fmt::format("{:.1f} s on {}: {} s", sum, ranks, fmt::join(times, ", "));
}

void print_result(const result_reader& r, bool verbose) {
  const auto& grid = r.grid();
  fmt::print("{}: {} by voxherd {}, {}\n", one_line(r.path()), r.analysis_name(), r.version(), describe_progress(r));
  fmt::print("image      {} voxels of {:.4g} mm, {}\n", fmt::join(grid.size, " x "),
             fmt::join(grid.voxel_size_mm, " x "), describe_items(r));
  const auto& inputs = r.provenance().value("inputs", nlohmann::json::object());
  if (inputs.contains("grad_dev"))
    fmt::print("grad_dev   read as {}\n", deviation_form_name(stored_deviation_form(inputs.at("grad_dev"))));
  if (inputs.contains("bvecs") && inputs.at("bvecs").contains("form"))
    fmt::print("bvecs      read as {}\n", frame_form(stored_frame(inputs.at("bvecs"))));
  fmt::print("contents\n");
  print_outputs(r);
  print_status_counts(r);
  if (verbose)
    fmt::print("configuration\n{}\nprovenance\n{}\n", dump_json(r.configuration(), 2), dump_json(r.provenance(), 2));
  else
    fmt::print("command    {}\n           (--verbose prints configuration and provenance)\n",
               one_line(r.provenance().value("command_line", "unknown")));
  if (!r.summary().is_null()) fmt::print("run        {}\n", describe_run(r.summary(), item_name(r)));
}

bool may_be_result(const std::filesystem::path& file) {
  return file.extension() == ".h5" || (file.extension() == ".part" && file.stem().extension() == ".h5");
}

/// Analysis and state of each result in a folder, one line each.
void print_folder(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (may_be_result(entry.path())) files.push_back(entry.path());
  if (files.empty()) refuse_missing("{}: a folder without results (.h5, .h5.part); expected a result", folder);
  std::sort(files.begin(), files.end());
  std::size_t width = 0;
  for (const auto& file : files) width = std::max(width, one_line(file.filename().string()).size());
  for (const auto& file : files) {
    std::string text;
    try {
      const result_reader r(file.string());
      text = fmt::format("{:<16} {}", r.analysis_name(), describe_progress(r));
    } catch (const failure& f) {
      text = fmt::format("not readable: {}", one_line(f.what()));
    }
    fmt::print("{:<{}}  {}\n", one_line(file.filename().string()), width, text);
  }
}

exit_status run_info(session& s, const info_request& request) {
  s.on_root([&] {
    if (request.result.empty()) {
      print_program(s);
    } else if (std::filesystem::is_directory(request.result)) {
      print_folder(request.result);
    } else {
      const result_reader result(request.result);
      print_result(result, request.verbose);
    }
  });
  return exit_status::complete;
}

}  // namespace

extern const command info_command =
    run_by_first_rank(make_command<info_options, run_info>({"info", "describe this program and its devices, or results",
                                                            "voxherd info\n"
                                                            "voxherd info tensor.h5\n"
                                                            "voxherd info ."}));

}  // namespace voxherd
