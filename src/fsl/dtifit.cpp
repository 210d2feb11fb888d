#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "kernels/portable/cholesky.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/run/signals.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/tensor/tensor.hpp"
#include "src/export/export_plan.hpp"
#include "src/fsl/fsl_output.hpp"
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
  {"--sse", fsl_answer::given, "--sse"},
  {"--save_tensor", fsl_answer::given, "--save-tensor"},
  {"-V, --verbose", fsl_answer::no_difference, ""},
  {"--kurt, --kurtdir", fsl_answer::unsupported, no_kurtosis},
  {"--cni", fsl_answer::unsupported, "confounds are not fitted; remove them from the data first"},
  {"--littlebit, -x, --xmin, -X, --xmax, -y, --ymin", fsl_answer::unsupported, whole_mask},
  {"-Y, --ymax, -z, --zmin, -Z, --zmax", fsl_answer::unsupported, whole_mask},
};
// clang-format on

const option_list& dtifit_table();

constexpr fsl_program dtifit_program{"dtifit", dtifit_options_of_fsl, dtifit_table};

std::vector<std::string> from_dtifit(const std::vector<std::string>& words) {
  return translate_fsl_words(dtifit_program, words);
}

std::string list_dtifit_flags() { return list_fsl_options(dtifit_program); }

std::string retell_dtifit(const std::string& message, const std::vector<std::string>& typed) {
  return retell_in_fsl_words(dtifit_program, message, typed);
}

struct dtifit_request {
  dwi_request series;
  std::string basename;
  tensor_weighting weighting = tensor_weighting::ordinary;
  bool squared_errors = false, save_tensor = false;
  std::vector<std::string> no_difference;  ///< options of FSL
  run_request run;
};

void check_dtifit(const dtifit_request& r, const given_options&) {
  if (!r.run.out.empty()) refuse_usage("dtifit: the files are named by -o");
  if (fs::path(r.basename).filename().empty())
    refuse_usage("dtifit: -o {}: expected the beginning of file names, e.g. {}dti", r.basename, r.basename);
  if (r.squared_errors && !r.series.gradient_deviation.empty())
    refuse_usage("dtifit: --sse is not available with --gradnonlin; leave one of them out");
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

const option_list& dtifit_table() { return dtifit_options(); }

/// Maps of the tensor analysis that dtifit writes under the same names.
constexpr const char* plain_maps[] = {"FA", "MD", "S0", "L1", "L2", "L3", "V1", "V2", "V3"};

std::vector<std::string> image_names(const dtifit_request& request) {
  std::vector<std::string> names(std::begin(plain_maps), std::end(plain_maps));
  names.emplace_back("MO");
  if (request.save_tensor) names.emplace_back("tensor");
  if (request.squared_errors) names.emplace_back("sse");
  return names;
}

/// Without the ending.
std::string file_path(const dtifit_request& request, const std::string& name) {
  return fmt::format("{}_{}", request.basename, name);
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
  return {name,
          describe_image(r, 1, "[1] mode of anisotropy", -1, 1),
          {{"L1", 1}, {"L2", 1}, {"L3", 1}},
          [](const image_source& result, const volume_sink& sink) {
            auto values = result.map("L1");
            const auto L2 = result.map("L2"), L3 = result.map("L3");
            for (std::size_t v = 0; v < values.size(); ++v)
              values[v] = anisotropy_mode(static_cast<double>(values[v]), static_cast<double>(L2[v]),
                                          static_cast<double>(L3[v]));
            sink(values);
          }};
}

/// What precedes the logarithm of S0 or a tensor's element in the sum of the model; b in s/mm2.
std::array<double, 7> model_row(double b_s_per_mm2, const double (&g)[3]) {
  const double b = b_s_per_mm2;
  return {-b * g[0] * g[0],
          -2 * b * g[0] * g[1],
          -2 * b * g[0] * g[2],
          -b * g[1] * g[1],
          -2 * b * g[1] * g[2],
          -b * g[2] * g[2],
          1};
}

/// The smallest signals whose logarithms dtifit takes, 1 % of the S0 of its first fit (tensor_fitter::find_floor()).
class signal_floors {
 public:
  signal_floors(const gradient_table& g, std::uint64_t voxels) : log_S0_(voxels), sum_(voxels), most_(voxels) {
    constexpr int n = 7;
    double normal[packed_size(n)] = {}, last[n] = {};
    last[n - 1] = 1;
    for (std::size_t k = 0; k < g.size(); ++k) rows_.push_back(model_row(g.b_s_per_mm2[k], {g.x[k], g.y[k], g.z[k]}));
    for (const auto& x : rows_)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j)
          normal[packed_index(i, j)] += x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(j)];
    (void)cholesky_factor<n>(normal);  // the tensors are fitted
    cholesky_solve<n>(normal, last);
    for (const auto& x : rows_) share_.push_back(std::inner_product(x.begin(), x.end(), std::begin(last), 0.0));
  }

  void add(std::size_t k, const std::vector<float>& signal) {
    for (std::size_t v = 0; v < signal.size(); ++v) {
      const auto y = static_cast<double>(signal[v]);
      if (y > 0) log_S0_[v] += share_[k] * std::log(y);
      sum_[v] += y;
      most_[v] = std::max(most_[v], std::abs(y));
    }
  }
  double operator()(std::size_t v) const {
    constexpr double largest_log = 23, share = 0.01;
    const double S0 = log_S0_[v] < largest_log ? std::exp(log_S0_[v]) : most_[v];
    return share * (S0 < sum_[v] / static_cast<double>(rows_.size()) ? most_[v] : S0);
  }
  const std::array<double, 7>& row(std::size_t k) const { return rows_[k]; }

 private:
  std::vector<std::array<double, 7>> rows_;
  std::vector<double> share_, log_S0_, sum_, most_;
};

/// Sums (ln S - ln fitted S)^2 over the measurements.
class error_sums {
 public:
  explicit error_sums(const image_source& result)
      : S0_(result.map("S0")), tensor_(result.map("tensor")), sums_(S0_.size()) {}

  void add(const std::vector<float>& signal, const std::array<double, 7>& row, const signal_floors& floors) {
    const std::size_t voxels = sums_.size();
    for (std::size_t v = 0; v < voxels; ++v) {
      if (!(S0_[v] > 0)) continue;
      double fitted = std::log(static_cast<double>(S0_[v]));
      for (std::size_t i = 0; i < 6; ++i) fitted += row[i] * static_cast<double>(tensor_[i * voxels + v]);
      const double error = std::log(std::max(static_cast<double>(signal[v]), floors(v))) - fitted;
      sums_[v] += static_cast<float>(error * error);
    }
  }
  const std::vector<float>& sums() const { return sums_; }

 private:
  std::vector<float> S0_, tensor_, sums_;
};

export_image squared_error_image(const result_volumes& r, const dwi_request& series, const std::string& name) {
  return {name,
          describe_image(r, 1, "[1] sum of squared errors of the logarithm of the signal"),
          {{"S0", 1}, {"tensor", 6}},
          [series](const image_source& result, const volume_sink& sink) {
            const nifti_header header = read_nifti_header(series.dwi);
            const std::uint64_t voxels = header.grid.voxel_count();
            const gradient_table g = read_gradients({series.bvals, series.bvecs, series.frame}, header.grid,
                                                    header.volumes, {.is_required = false});
            std::vector<float> signal(voxels);
            const auto each_volume = [&](const auto& use) {
              nifti_reader data(header);
              for (std::size_t k = 0; k < g.size(); ++k) {
                data.read(k, 0, voxels, signal.data());
                use(k);
              }
            };
            signal_floors floors(g, voxels);
            each_volume([&](std::size_t k) { floors.add(k, signal); });
            error_sums errors(result);
            each_volume([&](std::size_t k) { errors.add(signal, floors.row(k), floors); });
            sink(errors.sums());
          }};
}

export_plan plan_dtifit(const result_volumes& result, const dtifit_request& request) {
  export_plan plan;
  const auto file_name = [&](const std::string& name) {
    return fs::path(file_path(request, name)).filename().string() + ".nii.gz";
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
  t.low_samples = low_sample_rule::hundredth_of_S0;
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
    for (const char* ending : {".nii.gz", ".nii"})
      check_output({"--out", file_path(request, name) + ending, is_started || request.run.overwrite}, inputs);
}

void write_images(session& s, const dtifit_request& request, const tensor_request& t) {
  const std::string folder = fs::absolute(request.basename).parent_path().string();
  const export_settings settings = make_fsl_settings(s, t.run.out, folder, request.run);
  dtifit_request named = request;
  named.series = t.series;
  export_folder(s, settings, [&](const result_volumes& result) { return plan_dtifit(result, named); });
}

exit_status run_dtifit(session& s, const dtifit_request& request) {
  begin_fsl_command(request.no_difference);
  const bool is_started = s.from_root([&] {
    const bool has_begun = has_result(request);
    check_images(request, make_tensor_request(request, has_begun), has_begun);
    return has_begun;
  });
  tensor_request t = make_tensor_request(request, is_started);
  const run_listener listener = listen_as_part(request.run);
  t.run.listener = &listener;
  const exit_status status = run_tensor(s, t);
  stop_signals::release();  // the result is complete: a signal may end the export
  if (goes_on_with_images(status, request.run)) write_images(s, request, t);
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
  c.retell = retell_dtifit;
  c.other_names = "dtifit";
  c.own_result = [](const given_options& given) { return result_path(dtifit_options().read(given)); };
  return c;
}

extern const command dtifit_command = make_dtifit_command();

}  // namespace voxherd
