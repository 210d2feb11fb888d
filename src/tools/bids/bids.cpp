#include <fmt/core.h>

#include <filesystem>

#include "core/command.hpp"
#include "core/version.hpp"
#include "mpi/comm/session.hpp"
#include "src/io/input_file.hpp"
#include "src/tools/bids/dynamic_series.hpp"
#include "src/tools/bids/folder_files.hpp"
#include "src/tools/bids/group.hpp"
#include "src/tools/bids/participant.hpp"
#include "src/tools/bids/steps.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

void check_data_set(const bids_request& request, const std::vector<bids_series>& all) {
  const fs::path folder = request.bids_dir;
  const bool is_bids = fs::exists(folder / ("sub-" + all.front().subject));  // else folders of the HCP
  if (request.skip_validation || !is_bids || fs::exists(folder / "dataset_description.json")) return;
  throw failure(exit_status::bad_data,
                fmt::format("{}: no dataset_description.json, which a BIDS data set has; use its top folder, or "
                            "--skip-bids-validation",
                            printable(request.bids_dir)));
}

std::vector<bids_series> find_wanted_series(const bids_request& request) {
  series_request wanted{request.bids_dir, request.derivatives, request.subjects, request.sessions, {}};
  if (!request.filter_file.empty()) wanted.filter = bids_filter(request.filter_file, read_text(request.filter_file));
  const bool has_perfusion = computes(request, "perfusion"), has_diffusion = request.analyses.size() > has_perfusion;
  std::vector<bids_series> all;
  if (has_diffusion) all = find_series(wanted);
  if (has_perfusion) {
    const std::vector<bids_series> dynamic = find_dynamic_series(wanted, perfusion_words(request));
    all.insert(all.end(), dynamic.begin(), dynamic.end());
  }
  if (has_diffusion) {
    check_found(wanted, all, has_perfusion ? "diffusion or dynamic" : "diffusion",
                "sub-*/[ses-*/]dwi/*_dwi.nii.gz or */T1w/Diffusion/data.nii.gz");
  } else {
    check_found(wanted, all, "dynamic", "images that --bids-filter-file names by \"dynamic\"");
  }
  check_data_set(request, all);
  if (request.series.empty()) return all;
  std::erase_if(all, [&](const bids_series& series) { return series.name != request.series; });
  if (all.empty())
    throw failure(exit_status::missing_input,
                  fmt::format("--series {}: no series of {} has this name, which is that of its derivatives without "
                              "_model-..., such as sub-01_ses-1_run-1",
                              request.series, printable(request.bids_dir)));
  return all;
}

/// Paths do not depend on the folder where the program was started. The form NAME=DIR of fMRIPrep is accepted.
bids_request with_absolute_paths(bids_request request) {
  const auto make_absolute = [](std::string& path) {
    const fs::path normal = fs::absolute(path).lexically_normal();
    path = (normal.has_filename() ? normal : normal.parent_path()).string();
  };
  for (std::string& path : request.derivatives) {
    const std::size_t equals = path.find('=');
    if (equals != std::string::npos && !fs::exists(path)) path.erase(0, equals + 1);
    make_absolute(path);
  }
  for (std::string* path : {&request.bids_dir, &request.out_dir, &request.work_dir}) make_absolute(*path);
  return request;
}

exit_status run_bids(session& s, const bids_request& given) {
  if (given.shows_version) {
    if (s.is_root()) fmt::print("voxherd {}\n", version);
    return exit_status::complete;
  }
  const bids_request request = with_absolute_paths(given);
  nlohmann::json found;
  s.on_root([&] { found = find_wanted_series(request); });
  s.broadcast(found);
  const auto all = found.get<std::vector<bids_series>>();
  if (request.level == bids_level::participant) return run_participants(s, request, all);
  s.on_root([&] { write_group(request, all); });
  return exit_status::complete;
}

}  // namespace

constexpr command make_bids_command() {
  command c = make_command<bids_options, run_bids>(
      {"bids", "diffusion and dynamic series of a BIDS data set: computes, and writes BIDS derivatives",
       "BIDS_DIR OUT_DIR participant|group --analysis LIST", "bids-dir,out-dir,level",
       "voxherd bids /data/study /data/study/derivatives/voxherd participant \\\n"
       "  --analysis tensor,ballstick --participant-label 01 02 -w /scratch/work"});
  c.translate = from_bids_app;
  return c;
}

extern const command bids_command = make_bids_command();

}  // namespace voxherd
