#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include "mpi/result/named_output.hpp"
#include "src/tools/slurm/job_estimate.hpp"
#include "src/tools/slurm/job_options.hpp"
#include "src/tools/slurm/job_script.hpp"

namespace voxherd {

namespace {

exit_status run_slurm(session& s, const slurm_request& request) {
  slurm_job job = make_job(request);
  std::string why_none;
  const auto estimate = estimate_job(s, job, why_none);
  s.on_root([&] {
    settle_limits(job, estimate, why_none);
    const auto lines = estimate_lines(job, estimate, why_none);
    const std::string text = job_script(job, lines);
    if (request.script.empty()) {
      fmt::print("{}", text);
      return;
    }
    write_output({"--script", request.script, request.overwrite_script}, text);
    for (const std::string& line : lines) fmt::print(stderr, "{}\n", line);
  });
  return exit_status::complete;
}

}  // namespace

constexpr command make_slurm_command() {
  command c = make_command<slurm_options, run_slurm>(
      {"slurm", "print a batch script for an analysis, with an estimate of time and memory",
       "ANALYSIS [its options] [--nodes N] [--time H:MM:SS] [--script FILE]", "",
       "voxherd slurm tensor --dwi data.nii.gz --bvals bvals --bvecs bvecs \\\n"
       "  --mask mask.nii.gz --out tensor.h5 --nodes 2 --time 1:00:00 \\\n"
       "  --script job.sh\n"
       "sbatch job.sh"});
  c.translate = words_of_analysis_apart;
  return c;
}

extern const command slurm_command = make_slurm_command();

}  // namespace voxherd
