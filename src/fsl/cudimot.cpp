#include <spdlog/spdlog.h>

#include <filesystem>

#include "core/command.hpp"
#include "core/failure.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/run/signals.hpp"
#include "src/analyses/noddi/options.hpp"
#include "src/analyses/noddi/views.hpp"
#include "src/fsl/fsl_output.hpp"
#include "src/fsl/fsl_words.hpp"
#include "src/fsl/subject_folder.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

// clang-format off
constexpr fsl_option pipeline_options[] = {
  {"--runMCMC", fsl_answer::given, "--run-mcmc"},
  {"-b", fsl_answer::value, "--burn-in"},
  {"-j", fsl_answer::value, "--jumps"},
  {"-s", fsl_answer::value, "--sample-every"},
  {"--rician", fsl_answer::given, "--noise=rician"},
  {"-Q, -NJOBS", fsl_answer::no_difference_value, ""},
  {"--BIC_AIC", fsl_answer::unsupported, "information criteria are not computed"},
};
// clang-format on

const option_list& cudimot_table();

const fsl_program& cudimot_program() {
  static const fsl_program program{"cudimot", pipeline_options, cudimot_table};
  return program;
}

std::vector<std::string> from_cudimot(const std::vector<std::string>& words) {
  return translate_fsl_words(cudimot_program(), words);
}

std::string list_cudimot_flags() { return list_fsl_options(cudimot_program()); }

std::string retell_cudimot(const std::string& message, const std::vector<std::string>& typed) {
  return retell_in_fsl_words(cudimot_program(), message, typed);
}

struct cudimot_request {
  std::string subject;
  std::vector<std::string> no_difference;  ///< flags of cuDIMOT
  noddi_model_request model;
  bool run_mcmc = false;
  int burn_in_jumps = 1000;
  int sampled_jumps = 1250;
  int sample_every = 25;
  std::uint64_t seed = 8665904;
  noddi::dispersion_prior prior = noddi::dispersion_prior::kappa;
  run_request run;
};

void check_cudimot(const cudimot_request& r, const given_options& given) {
  if (given.has("out"))
    refuse_usage("cudimot: --out is not supported: the output is always SUBJECT_DIR.NODDI_Watson, or _Bingham");
  if (r.sample_every > r.sampled_jumps)
    refuse_usage("--sample-every {}: expected 1 to {}, the number of --jumps", r.sample_every, r.sampled_jumps);
}

const option_table<cudimot_request>& cudimot_options() {
  using T = cudimot_request;
  constexpr double max_jumps = 10'000'000;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"subject", &T::subject, text_kind::file,
       {.text = "folder with data, nodif_brain_mask, bvals, bvecs (or .txt)", .value = "SUBJECT_DIR", .required = true, .place = 1}},
      {"no-difference", &T::no_difference, text_kind::any,
       {.text = "a flag of cuDIMOT that has no effect here (-Q, -NJOBS)", .value = "FLAG"}}})
    .include(&T::model, noddi_model_options())
    .group("Sampling", {
      {"run-mcmc", &T::run_mcmc, {.text = "sample the posterior after the best fit (cuDIMOT's --runMCMC)"}},
      {"burn-in", &T::burn_in_jumps, range{0, max_jumps}, {.text = "iterations of the Markov chain before samples are taken; with --run-mcmc"}},
      {"jumps", &T::sampled_jumps, range{1, max_jumps}, {.text = "iterations in which samples are taken; with --run-mcmc"}},
      {"sample-every", &T::sample_every, range{1, max_jumps}, {.text = "iterations per stored sample, at most --jumps"}},
      {"prior", &T::prior, {{"kappa", noddi::dispersion_prior::kappa}, {"odi", noddi::dispersion_prior::odi}},
       {.text = "dispersion that is uniform before the data are seen; kappa: as cuDIMOT"}},
      {"random-seed", &T::seed, at_least(0), {.text = "start of the random numbers; the same one gives the same result"}}})
    .include_optional(&T::run, run_options())
    .check(check_cudimot);
  // clang-format on
  return table;
}

const option_list& cudimot_table() { return cudimot_options(); }

struct cudimot_files {
  std::string out, dwi, mask, bvals, bvecs;
  bool is_started = false;  ///< a stopped run left a part of its result

  static constexpr auto members() {
    using T = cudimot_files;
    return std::tuple(&T::out, &T::dwi, &T::mask, &T::bvals, &T::bvecs, &T::is_started);
  }
};

std::string cudimot_subject(const cudimot_request& request) {
  const fs::path folder = fs::absolute(request.subject).lexically_normal();
  return folder.filename().empty() ? folder.parent_path().string() : folder.string();  // "subject/" has an empty name
}

std::string cudimot_folder(const cudimot_request& request) {
  const bool is_bingham = request.model.distribution == noddi::distribution::bingham;
  return cudimot_subject(request) + (is_bingham ? ".NODDI_Bingham" : ".NODDI_Watson");
}

std::string cudimot_result(const std::string& folder) { return folder + "/voxherd.h5"; }

/// Throws failure (usage) if the folder has images and nothing says that they are ours.
void refuse_foreign_images(const cudimot_request& request, const cudimot_files& f) {
  const std::string result = cudimot_result(f.out);
  if (request.run.overwrite || fs::exists(result) || fs::exists(unfinished_path(result))) return;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(f.out, none)) {
    const std::string image = entry.path().filename().string();
    if (!image.ends_with(".nii.gz") && !image.ends_with(".nii")) continue;
    refuse_usage(
        "{}/{} is of another program, such as cuDIMOT itself; --overwrite replaces the images of this folder, or "
        "rename it",
        f.out, image);
  }
}

cudimot_files find_cudimot_files(const cudimot_request& request) {
  const std::string name = cudimot_subject(request);
  if (!fs::is_directory(name))
    refuse_missing("{}: no such folder; expected a folder with data, nodif_brain_mask, bvals and bvecs", name);
  cudimot_files f;
  f.out = cudimot_folder(request);
  f.dwi = require_file(find_only_image(name, "data"), name, "data.nii.gz or data.nii");
  f.mask = require_file(find_only_image(name, "nodif_brain_mask"), name, "nodif_brain_mask.nii.gz or .nii");
  f.bvals = require_file(find_text(name, "bvals"), name, "bvals or bvals.txt");
  f.bvecs = require_file(find_text(name, "bvecs"), name, "bvecs or bvecs.txt");
  f.is_started = fs::exists(unfinished_path(cudimot_result(f.out)));
  refuse_foreign_images(request, f);
  return f;
}

noddi_request make_noddi_request(const cudimot_request& request, const cudimot_files& f) {
  noddi_request n;
  n.series = {f.dwi, f.bvals, f.bvecs, f.mask, ""};
  n.series.masks = mask_rules::fsl;
  n.model = request.model;
  n.sampling.samples = request.run_mcmc ? request.sampled_jumps / request.sample_every : 0;
  n.sampling.burn_in_jumps = request.burn_in_jumps;
  n.sampling.sample_every = request.sample_every;
  n.sampling.seed = request.seed;
  n.prior = request.prior;
  n.run = request.run;
  n.run.out = cudimot_result(f.out);
  // As cuDIMOT, it computes again: a result of ours is replaced, also by what a stopped run has begun to replace it
  // with, unless --resume keeps it.
  n.run.overwrite = n.run.overwrite || !n.run.resume || f.is_started;
  n.run.resume = n.run.resume || f.is_started;
  return n;
}

exit_status run_cudimot(session& s, const cudimot_request& request) {
  begin_fsl_command(request.no_difference);
  output_folder output;
  const cudimot_files f = s.from_root([&] {
    cudimot_files found = find_cudimot_files(request);
    output.create(found.out);
    return found;
  });
  const run_listener listener = listen_as_part(request.run);
  noddi_request estimation = make_noddi_request(request, f);
  estimation.run.listener = &listener;
  const exit_status status = run_noddi(s, estimation);
  stop_signals::release();  // the result is complete: a signal may end the export
  if (!goes_on_with_images(status, request.run)) return status;
  export_folder(s, make_fsl_settings(s, estimation.run.out, f.out, request.run), plan_cudimot_folder);
  spdlog::info("{0} written; next: voxherd report {0}/voxherd.h5, or fsleyes {0}/mean_fintra", f.out);
  return status;
}

constexpr command make_cudimot_command() {
  command c = make_command<cudimot_options, run_cudimot>(
      {"cudimot", "cuDIMOT's Pipeline_NODDI_*.sh: flags and folder as theirs", "voxherd cudimot subject --runMCMC"});
  c.translate = from_cudimot;
  c.notes = list_cudimot_flags;
  c.retell = retell_cudimot;
  c.own_result = [](const given_options& given) {
    return cudimot_result(cudimot_folder(cudimot_options().read(given)));
  };
  c.other_names = "Pipeline_NODDI_Watson.sh Pipeline_NODDI_Bingham.sh:--model=bingham";
  return c;
}

}  // namespace

extern const command cudimot_command = make_cudimot_command();

}  // namespace voxherd
