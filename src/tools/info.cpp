#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "core/command.hpp"
#include "core/device.hpp"
#include "core/readable.hpp"
#include "core/version.hpp"
#include "kernels/device/cpu_level.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/analyses/common/status_counts.hpp"

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
          .group(
              "Input",
              {{"result", &T::result, text_kind::file, {"result file, complete or FILE.part; without it the program"}}})
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
  fmt::print("MPI        {}, {} rank{}\n", mpi_library(), s.size(), s.size() == 1 ? "" : "s");
  fmt::print("HDF5       {}\n", hdf5_library());
  fmt::print("CPU        {} cores on {}\n", std::thread::hardware_concurrency(), s.host());
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
    rows.push_back({dataset_path(o) + shape, std::string(type_name(o.type)), o.unit, o.meaning});
  }
  for (const constant& c : r.constants())
    rows.push_back({fmt::format("{}[{}]", dataset_path(c), fmt::join(c.shape, ",")), "float64", c.unit, c.meaning});
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

void print_result(const result_reader& r, bool verbose) {
  std::uint64_t done = 0;
  for (const journal_entry& e : r.journal()) done += e.done == 1 ? 1 : 0;
  const auto& grid = r.grid();
  fmt::print("{}: {} by voxherd {}, {} of {} batches, {}\n", r.path(), r.analysis_name(), r.version(), done,
             r.batches().size(), r.complete() ? "complete" : "incomplete: continue with --resume");
  const bool has_points = !r.point_offsets().empty();
  const bool has_maps = std::any_of(r.outputs().begin(), r.outputs().end(),
                                    [](const output_spec& o) { return o.layout == output_layout::volume; });
  const char* const item = has_points ? "fibre" : has_maps ? "voxel" : "row";
  std::string items = counted(r.item_voxels().size(), item);
  if (has_points) items += " with " + counted(r.point_count(), "point");
  if (has_maps) items += " in the mask";
  fmt::print("image      {} voxels of {:.4g} mm, {}\n", fmt::join(grid.size, " x "),
             fmt::join(grid.voxel_size_mm, " x "), items);
  fmt::print("contents\n");
  print_outputs(r);
  print_status_counts(r);
  if (verbose)
    fmt::print("configuration\n{}\nprovenance\n{}\n", r.configuration().dump(2), r.provenance().dump(2));
  else
    fmt::print("command    {}\n           (--verbose prints configuration and provenance)\n",
               r.provenance().value("command_line", "unknown"));
  if (!r.summary().is_null()) {
    fmt::print("run        {:.1f} s on {}, {:.1f} {}s/s\n", r.summary().at("seconds").get<double>(),
               counted(static_cast<std::uint64_t>(r.summary().at("rank_count").get<int>()), "rank"),
               r.summary().at("items_per_second").get<double>(), item);
  }
}

exit_status run_info(session& s, const info_request& request) {
  s.on_root([&] {
    if (request.result.empty()) {
      print_program(s);
    } else {
      const result_reader result(request.result);
      try {
        print_result(result, request.verbose);
      } catch (const nlohmann::json::exception& e) {
        throw failure(exit_status::bad_data,
                      fmt::format("{}: {}; is it a complete copy of a voxherd result?", request.result, e.what()));
      }
    }
  });
  return exit_status::complete;
}

}  // namespace

extern const command info_command = make_command<info_options, run_info>(
    {"info", "describe this program and its devices, or a result", "[FILE] [--verbose]", "result",
     "voxherd info\n"
     "voxherd info tensor.h5"});

}  // namespace voxherd
