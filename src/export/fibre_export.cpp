#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <functional>
#include <string>

#include "core/readable.hpp"
#include "src/export/export_plan.hpp"
#include "src/export/fibre_groups.hpp"
#include "src/export/result_fibres.hpp"
#include "src/io/input_file.hpp"
#include "src/io/tracts/tracts.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

void check_place(const export_settings& settings, const std::string& ending) {
  const std::string& out = settings.out;
  if (!out.ends_with(ending))
    throw failure(exit_status::usage,
                  fmt::format("{}: expected a name that ends in {}, by which programs recognise the format",
                              printable(out), ending));
  if (fs::is_directory(out))
    throw failure(exit_status::usage, fmt::format("{} is a folder; expected a file name", printable(out)));
  refuse_existing(out, settings);
  const fs::path folder = fs::path(out).parent_path();
  std::error_code code;
  if (!folder.empty()) fs::create_directories(folder, code);
  if (code)
    throw failure(exit_status::disk,
                  fmt::format("{}: cannot create the folder: {}", printable(folder.string()), code.message()));
}

/// Writes the fibres of a result into one file, on rank 0. `ending`: of the file's name, by which readers recognise the
/// format. Collective. Throws failure: from result_fibres and the writer; usage for a wrong name, a folder, or an
/// existing file without --overwrite.
void export_fibres(const session& s, const export_settings& settings, const std::string& ending,
                   const std::function<void(const fibre_source&, const std::string& path)>& write) {
  s.on_root([&] {
    const result_fibres fibres(settings.result);
    check_place(settings, ending);
    write(fibres, settings.out);
    spdlog::info("{}: {}, {}", settings.out, counted(fibres.fibres(), "fibre"), counted(fibres.points(), "point"));
  });
}

void export_tck(session& s, const export_settings& settings) { export_fibres(s, settings, ".tck", write_tck); }

void export_trk(session& s, const export_settings& settings) { export_fibres(s, settings, ".trk", write_trk); }

void export_trx(session& s, const export_settings& settings) {
  export_fibres(s, settings, ".trx", [&](const fibre_source& fibres, const std::string& path) {
    const auto positions = settings.half_positions ? position_type::float16 : position_type::float32;
    write_trx(fibres, path, {group_by_regions(fibres), positions});
  });
}

}  // namespace

extern const export_kind tck_export{"tck", "FILE", "fibres for MRtrix (only positions)", false, export_tck};
extern const export_kind trk_export{"trk", "FILE", "fibres for TrackVis (up to ten numbers per fibre and per point)",
                                    false, export_trk};
extern const export_kind trx_export{"trx", "FILE", "fibres with all their data, and groups by regions", false,
                                    export_trx};

}  // namespace voxherd
