#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/run/signals.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/tensor/tensor.hpp"
#include "src/export/export_plan.hpp"
#include "src/fsl/fsl_words.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/gradients.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view no_kurtosis = "voxherd fits no kurtosis", whole_mask = "all voxels of the mask are fitted";

// clang-format off
constexpr fsl_option dtifit_options_of_fsl[] = {
  {"-k, --data", fsl_answer::value, "--dwi"},
  {"-o, --out", fsl_answer::value, "--basename"},
  {"-m, --mask", fsl_answer::value, "--mask"},
  {"-r, --bvecs", fsl_answer::value, "--bvecs"},
  {"-b, --bvals", fsl_answer::value, "--bvals"},
  {"-w, --wls", fsl_answer::given, "--fit=wls"},
  {"--gradnonlin", fsl_answer::value, "--grad-dev"},
  {"--save_tensor", fsl_answer::given, "--save-tensor"},
  {"-V, --verbose", fsl_answer::no_difference, ""},
  {"--kurt, --kurtdir", fsl_answer::unsupported, no_kurtosis},
  {"--cni", fsl_answer::unsupported, "confounds are not fitted; remove them from the data first"},
  {"--littlebit, -x, --xmin, -X, --xmax, -y, --ymin", fsl_answer::unsupported, whole_mask},
  {"-Y, --ymax, -z, --zmin, -Z, --zmax", fsl_answer::unsupported, whole_mask},
};
// clang-format on

constexpr fsl_program dtifit_program{"dtifit", dtifit_options_of_fsl};

std::vector<std::string> from_dtifit(const std::vector<std::string>& words) {
  return translate_fsl_words(dtifit_program, words);
}

std::string list_dtifit_flags() { return list_fsl_names(dtifit_program); }

struct dtifit_request {
  dwi_request series;
  std::string basename;
  tensor_weighting weighting = tensor_weighting::ordinary;
  bool squared_errors = false, save_tensor = false;
  std::vector<std::string> no_difference;  ///< options of FSL
  run_request run;
};

void check_dtifit(const dtifit_request& r, const given_options&) {
  if (!r.run.out.empty()) option::refuse("dtifit: the files are named by -o");
  if (fs::path(r.basename).filename().empty())
    option::refuse(
        fmt::format("dtifit: -o {}: expected the beginning of file names, e.g. {}dti", r.basename, r.basename));
  if (r.squared_errors && !r.series.gradient_deviation.empty())
    option::refuse("dtifit: --sse is not available with --gradnonlin; leave one of them out");
}

const option_table<dtifit_request>& dtifit_options() {
  using T = dtifit_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .include(&T::series, dwi_options())
    .group("Fit", {
      {"fit", &T::weighting, {{"ols", tensor_weighting::ordinary}, {"wls", tensor_weighting::weighted},
                              {"iwls", tensor_weighting::iterated}},
       {"least squares: ordinary, weighted, or weighted and iterated"}},
      {"no-difference", &T::no_difference, text_kind::any,
       {.text = "an option of FSL that has no effect here (-V)", .value = "OPTION"}}})
    .group("Images", {
      {"basename", &T::basename, text_kind::any,
       {.text = "beginning of the names of the files: BASENAME_FA.nii.gz, ...", .value = "BASENAME", .required = true}},
      {"sse", &T::squared_errors, {"also write the sum of the squared errors of the logarithms: BASENAME_sse"}},
      {"save-tensor", &T::save_tensor, {"also write the tensors: BASENAME_tensor"}}})
    .include_optional(&T::run, run_options())
    .check(check_dtifit);
  // clang-format on
  return table;
}

/// Maps of the tensor analysis that dtifit writes under the same names.
constexpr const char* plain_maps[] = {"FA", "MD", "S0", "L1", "L2", "L3", "V1", "V2", "V3"};

std::vector<std::string> image_names(const dtifit_request& request) {
  std::vector<std::string> names(std::begin(plain_maps), std::end(plain_maps));
  names.emplace_back("MO");
  if (request.save_tensor) names.emplace_back("tensor");
  if (request.squared_errors) names.emplace_back("sse");
  return names;
}

std::string file_path(const dtifit_request& request, const std::string& name) {
  return fmt::format("{}_{}.nii.gz", request.basename, name);
}

std::string result_path(const dtifit_request& request) { return request.basename + "_voxherd.h5"; }

bool has_result(const dtifit_request& request) {
  return fs::exists(result_path(request)) || fs::exists(unfinished_path(result_path(request)));
}

/// Mode of anisotropy: -1 for a plane, 1 for a line (Ennis & Kindlmann, Magn Reson Med 55:136, 2006). 0 where all
/// eigenvalues are equal.
float anisotropy_mode(double L1, double L2, double L3) {
  const double mean = (L1 + L2 + L3) / 3;
  const double a = L1 - mean, b = L2 - mean, c = L3 - mean;
  const double norm = std::sqrt(a * a + b * b + c * c);
  if (!(norm > 0)) return 0;
  const double mode = 3 * std::sqrt(6.0) * (a / norm) * (b / norm) * (c / norm);
  return static_cast<float>(std::clamp(mode, -1.0, 1.0));
}

export_image mode_image(const result_volumes& r, const std::string& name) {
  return {name, describe_image(r, 1, "[1] mode of anisotropy", -1, 1),
          [](const result_volumes& result, const volume_sink& sink) {
            auto values = result.map("L1");
            const auto L2 = result.map("L2"), L3 = result.map("L3");
            for (std::size_t v = 0; v < values.size(); ++v)
              values[v] = anisotropy_mode(static_cast<double>(values[v]), static_cast<double>(L2[v]),
                                          static_cast<double>(L3[v]));
            sink(values);
          }};
}

/// Sums (ln S - ln fitted S)^2 over the measurements with a positive signal.
class error_sums {
 public:
  explicit error_sums(const result_volumes& result)
      : S0_(result.map("S0")), tensor_(result.map("tensor")), sums_(S0_.size()) {}

  void add(const std::vector<float>& signal, double b_s_per_mm2, const double (&g)[3]) {
    const double product[6] = {g[0] * g[0], 2 * g[0] * g[1], 2 * g[0] * g[2],
                               g[1] * g[1], 2 * g[1] * g[2], g[2] * g[2]};
    const std::size_t voxels = sums_.size();
    for (std::size_t v = 0; v < voxels; ++v) {
      if (!(S0_[v] > 0) || !(signal[v] > 0)) continue;
      double diffusivity = 0;
      for (std::size_t i = 0; i < 6; ++i) diffusivity += product[i] * static_cast<double>(tensor_[i * voxels + v]);
      const double error =
          std::log(static_cast<double>(signal[v]) / static_cast<double>(S0_[v])) + b_s_per_mm2 * diffusivity;
      sums_[v] += static_cast<float>(error * error);
    }
  }
  const std::vector<float>& sums() const { return sums_; }

 private:
  std::vector<float> S0_, tensor_, sums_;
};

export_image squared_error_image(const result_volumes& r, const dwi_request& series, const std::string& name) {
  return {name, describe_image(r, 1, "[1] sum of squared errors of the logarithm of the signal"),
          [series](const result_volumes& result, const volume_sink& sink) {
            nifti_reader data(read_nifti_header(series.dwi));
            const std::uint64_t voxels = data.header().grid.voxel_count();
            const gradient_table g = read_gradients({series.bvals, series.bvecs, series.frame}, data.header().grid,
                                                    data.header().volumes, {.is_required = false});
            error_sums errors(result);
            std::vector<float> signal(voxels);
            for (std::size_t k = 0; k < g.size(); ++k) {
              data.read(k, 0, voxels, signal.data());
              errors.add(signal, g.b_s_per_mm2[k], {g.x[k], g.y[k], g.z[k]});
            }
            sink(errors.sums());
          }};
}

export_plan plan_dtifit(const result_volumes& result, const dtifit_request& request) {
  export_plan plan;
  const auto file_name = [&](const std::string& name) {
    return fs::path(file_path(request, name)).filename().string();
  };
  for (const char* name : plain_maps) plan.images.push_back(map_image(result, name, file_name(name)));
  plan.images.push_back(mode_image(result, file_name("MO")));
  if (request.save_tensor) plan.images.push_back(map_image(result, "tensor", file_name("tensor")));
  if (request.squared_errors) plan.images.push_back(squared_error_image(result, request.series, file_name("sse")));
  return plan;
}

/// The tensor analysis of the request. FSL's programs find images without their extension.
tensor_request make_tensor_request(const dtifit_request& request, bool is_started) {
  tensor_request t;
  t.series = request.series;
  for (std::string* image : {&t.series.dwi, &t.series.mask, &t.series.gradient_deviation})
    if (const std::string found = find_image(*image); !found.empty()) *image = found;
  t.series.needs_b0 = false;  // S0 is fitted
  t.series.masks = mask_rules::fsl;
  t.weighting = request.weighting;
  t.run = request.run;
  t.run.out = result_path(request);
  t.run.resume = t.run.resume || (is_started && !t.run.overwrite);
  return t;
}

/// Before anything is computed: images that are not from an earlier call are not replaced.
void check_images(const dtifit_request& request, const tensor_request& t, bool is_started) {
  const std::vector<kept_file> inputs{{t.series.dwi, "the input --data"},
                                      {t.series.bvals, "the input --bvals"},
                                      {t.series.bvecs, "the input --bvecs"},
                                      {t.series.mask, "the input --mask"},
                                      {t.series.gradient_deviation, "the input --gradnonlin"}};
  for (const std::string& name : image_names(request))
    check_output({"--out", file_path(request, name), is_started || request.run.overwrite}, inputs);
}

void write_images(session& s, const dtifit_request& request, const tensor_request& t) {
  export_settings settings;
  settings.result = t.run.out;
  settings.out = fs::absolute(request.basename).parent_path().string();
  settings.overwrite = true;  // checked before the fit
  settings.quiet = request.run.quiet;
  settings.threads = export_threads(s, request.run.threads);
  dtifit_request named = request;
  named.series = t.series;
  export_folder(s, settings, [&](const result_volumes& result) { return plan_dtifit(result, named); });
}

exit_status run_dtifit(session& s, const dtifit_request& request) {
  log_no_difference(request.no_difference);
  bool is_started = false;
  s.on_root([&] {
    is_started = has_result(request);
    check_images(request, make_tensor_request(request, is_started), is_started);
  });
  s.broadcast(is_started);
  tensor_request t = make_tensor_request(request, is_started);
  const run_listener listener = listen_as_part(request.run);
  t.run.listener = &listener;
  const exit_status status = run_tensor(s, t);
  stop_signals::release();  // the result is complete: a signal may end the export
  if (status == exit_status::complete && !request.run.dry_run) write_images(s, request, t);
  return status;
}

}  // namespace

constexpr command make_dtifit_command() {
  command c =
      make_command<dtifit_options, run_dtifit>({"dtifit", "FSL's dtifit: accepts its options, writes its images",
                                                "voxherd dtifit -k data.nii.gz -o dti -m nodif_brain_mask.nii.gz \\\n"
                                                "  -r bvecs -b bvals"});
  c.translate = from_dtifit;
  c.other_usage = "-k DATA -o BASENAME -m MASK -r BVECS -b BVALS";
  c.notes = list_dtifit_flags;
  c.other_names = "dtifit";
  return c;
}

extern const command dtifit_command = make_dtifit_command();

}  // namespace voxherd
