#include <fmt/core.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "core/command.hpp"
#include "core/json_text.hpp"
#include "mpi/result/named_output.hpp"
#include "src/phantom/fibre_scores.hpp"
#include "src/phantom/network_score.hpp"
#include "src/phantom/phantom_options.hpp"
#include "src/phantom/score.hpp"

namespace voxherd {

namespace {

nlohmann::ordered_json print_orientations(const phantom_request& request) {
  const fibre_field truth = read_truth(request.truth), estimate = read_estimate(request.result);
  expect_same_order(request.result, estimate.grid, truth.grid, "the truth");
  const orientation_score result = score_orientations(truth, estimate);
  fmt::print("{}", format_table(result));
  nlohmann::ordered_json numbers = score_json(result);
  if (!estimate.fraction.empty()) {
    const detection_score found =
        score_detection(truth, estimate, {request.max_angle_degrees, static_cast<float>(request.min_fraction)});
    fmt::print("{}", format_table(found));
    numbers["detection"] = score_json(found);
  }
  if (std::filesystem::is_directory(request.result)) return numbers;
  if (const auto calibration = score_calibration(truth, result_reader(request.result))) {
    fmt::print("{}", format_table(*calibration));
    numbers["calibration"] = score_json(*calibration);
  }
  return numbers;
}

nlohmann::ordered_json print_network(const phantom_request& request) {
  const best_value best = request.best.value_or(natural_best(request.result, request.matrix));
  const region_network network = read_network(request.result, request.matrix);
  const network_score result = score_network(network, read_true_pairs(request.truth), best);
  fmt::print("{}", format_table(result));
  return score_json(result);
}

nlohmann::ordered_json print_perfusion(const std::string& path, const std::string& folder) {
  const perfusion_field truth = read_perfusion_truth(folder), estimate = read_perfusion_estimate(path);
  expect_same_order(path, estimate.grid, truth.grid, "the truth");
  const std::vector<region_score> result = score_perfusion(truth, estimate);
  fmt::print("{}", format_table(result));
  return score_json(result);
}

void score(const phantom_request& request) {
  const std::string &path = request.result, &folder = request.truth;
  if (path.empty() || folder.empty()) refuse_usage("phantom score: expected RESULT --truth FOLDER");
  const auto numbers = is_perfusion_truth(folder) ? print_perfusion(path, folder)
                       : is_network(path)         ? print_network(request)
                                                  : print_orientations(request);
  write_output({"--json", request.json, request.overwrite}, dump_json(numbers, 2) + "\n");
}

exit_status run_score(session& s, const phantom_request& request) {
  s.on_root([&] { score(request); });
  return exit_status::complete;
}

}  // namespace

const phantom_kind score_phantom_kind{
    "score", {"truth", "json", "result", "max-angle", "min-fraction", "matrix", "best"}, run_score};

namespace {

exit_status run_phantom(session& s, const phantom_request& request) {
  for (const phantom_kind* kind : {&dwi_phantom_kind, &liver_phantom_kind, &score_phantom_kind})
    if (request.kind == kind->name) return kind->run(s, request);
  throw failure(exit_status::internal_error, "phantom: this kind was not checked");
}

}  // namespace

extern const command phantom_command = run_by_first_rank(
    make_command<phantom_options, run_phantom>({"phantom", "make inputs with known truth, or score a result against it",
                                                "voxherd phantom dwi --preset toy --out phantom\n"
                                                "voxherd tensor --dwi phantom/data.nii --bvals phantom/bvals \\\n"
                                                "  --bvecs phantom/bvecs --out tensor.h5\n"
                                                "voxherd phantom score tensor.h5 --truth phantom"}));

}  // namespace voxherd
