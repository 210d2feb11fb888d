#include <fmt/core.h>

#include <fstream>

#include "src/phantom/phantom_kind.hpp"
#include "src/phantom/score.hpp"

namespace voxherd {

namespace {

void options(po::options_description& description) {
  description.add_options()                                                                //
      ("truth", po::value<std::string>(), "score: folder that voxherd phantom dwi wrote")  //
      ("json", po::value<std::string>(), "score: also write the numbers to this file");
}

void score(const arguments& args) {
  if (!args.has("result") || !args.has("truth"))
    throw failure(exit_status::usage, "phantom score: expected RESULT --truth FOLDER");
  const fibre_field truth = read_truth(args.get<std::string>("truth"));
  const auto path = args.get<std::string>("result");
  const fibre_field estimate = read_estimate(path);
  if (truth.size != estimate.size)
    throw failure(
        exit_status::bad_data,
        fmt::format("{}: found {} x {} x {} voxels, expected {} x {} x {} as in the truth", path, estimate.size[0],
                    estimate.size[1], estimate.size[2], truth.size[0], truth.size[1], truth.size[2]));
  const orientation_score result = score_orientations(truth, estimate);
  fmt::print("{}", table_of(result));
  if (!args.has("json")) return;
  std::ofstream file(args.get<std::string>("json"));
  file << json_of(result).dump(2) << '\n';
  file.close();
  if (!file) throw failure(exit_status::disk, fmt::format("{}: cannot be written", args.get<std::string>("json")));
}

exit_status run(session& s, const arguments& args) {
  s.on_root([&] { score(args); });
  return exit_status::whole;
}

}  // namespace

const phantom_kind score_phantom_kind{"score", options, run};

}  // namespace voxherd
