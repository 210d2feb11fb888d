// The option tables of the analyses work in both directions: words -> request -> words, and request -> stored
// configuration -> request.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/command_line.hpp"
#include "core/text.hpp"
#include "src/analyses/ballstick/options.hpp"
#include "src/analyses/connect/options.hpp"
#include "src/analyses/geodesic/options.hpp"
#include "src/analyses/perfusion/options.hpp"
#include "src/analyses/tensor/tensor.hpp"
#include "src/analyses/track/options.hpp"

namespace voxherd {
namespace {

template <class T>
nlohmann::json stored_options(const option_table<T>& table, const T& request) {
  nlohmann::json configuration = nlohmann::json::object();
  table.add_stored(request, configuration);
  return configuration;
}

/// Every list of words, with `always_given` before it.
template <class T>
void expect_both_directions(const char* name, const option_table<T>& table, const std::string& always_given,
                            const std::vector<std::string>& lines) {
  const command& c = find_command(all_commands(), name);
  for (const std::string& line : lines) {
    SCOPED_TRACE(std::string(name) + ": " + line);
    const T request = table.read(parse_command_line(c, split_words(always_given + ' ' + line)));
    const std::vector<std::string> words = table.words(request);
    const T again = table.read(parse_command_line(c, words));
    EXPECT_EQ(stored_options(table, again), stored_options(table, request));
    EXPECT_EQ(table.words(again), words);
    // Files are not stored, and with them what applies only with a file.
    const nlohmann::json before = stored_options(table, request);
    const nlohmann::json after = stored_options(table, table.read_stored(before));
    for (const auto& [key, value] : after.items()) EXPECT_EQ(value, before.at(key)) << key;
  }
}

const std::string series = "--dwi d.nii --bvals b --bvecs v --out o.h5";

TEST(OptionTables, OfTensorWorkInBothDirections) {
  expect_both_directions(
      "tensor", tensor_options(), series,
      {"", "--fit ols", "--iterations 3 --mask m.nii", "--backend cpu --threads 2 --host-memory 4.5"});
}

TEST(OptionTables, OfBallstickWorkInBothDirections) {
  expect_both_directions("ballstick", ballstick_options(), series,
                         {"", "--fibers 2 --noise rician", "--model 3 --ratio-mean 0.2", "--f0 --f0-ard --all-ard",
                          "--jumps 50 --sample-every 5 --random-seed 9007199254740993", "--no-ard --all-samples"});
}

TEST(OptionTables, OfConnectWorkInBothDirections) {
  expect_both_directions(
      "connect", connect_options(), "--out o.h5",
      {"--tensor t.h5 --from a.nii --to b.nii", "--tensor t.h5 --connectome p.nii --labels 3,7-9 --metric power",
       "--tensor t.nii --tensor-from fsl --from-point=-12.5,30,8 --to b.nii --to-labels 4 --ball 2 --epsilon 0.1",
       "--dwi d --bvals b --bvecs v --connectome p.nii --bootstrap 10 --random-seed 3 --interval 90",
       "--tensor t.h5 --from a --to-point 1,2,3 --metric inverse --scheme hl26 --paths p.h5 --max-paths 7",
       "--tensor t.h5 --from a --to b --alpha 2.5 --smooth 0.7 --max-ratio 10 --order 1 --tolerance 1e-05"});
}

TEST(OptionTables, OfGeodesicWorkInBothDirections) {
  expect_both_directions(
      "geodesic", geodesic_options(), "--tensor t.h5 --out o.h5",
      {"--seed-points s.txt", "--seed-image s.nii --seed-labels 3,17 --seeding grid --seeds-per-voxel 2",
       "--seed-image s.nii --connectome p.nii --form streamline", "--seed-image s.nii --metric power --alpha 2",
       "--seed-image s.nii --targets t.nii --target-labels 4 --include a.nii --include b.nii --ordered --exclude c.nii",
       "--seed-image s.nii --direction-set cone --cone 30 --directions 5 --max-steps 400 --max-length 80",
       "--seed-image s.nii --direction-set axis --loop-check off --min-fa 0.1 --max-angle 45 --step 0.25"});
}

TEST(OptionTables, OfTrackWorkInBothDirections) {
  expect_both_directions(
      "track", track_options(), "--samples s.h5 --out o.h5",
      {"--seed-image a.nii b.nii", "--connectome p.nii --region-names n.txt --lengths --samples-per-seed 7",
       "--tracts dir --tract-list l.txt --tract-samples 10", "--seed-image a.nii --include x y --ordered --each-half",
       "--seed-image a.nii --exclude x --ignore-first-step --max-angle 30 --step 0.25 --loop-check on",
       "--seed-image a.nii --targets x y --paths p.h5 --max-paths 5 --matrix1 m.h5 --matrix-min-length 4"});
}

TEST(OptionTables, OfPerfusionWorkInBothDirections) {
  const std::string vois = "--times t --arterial-voi a --portal-voi p ";
  expect_both_directions(
      "perfusion", perfusion_options(), "--dynamic d.nii --out o.h5",
      {vois, "--spacing 2 --curves c.csv --solver simplex --bounded yes --bounds ka=0:8",
       vois + "--delays two-stage --delay-window 2", vois + "--arterial-labels 1 --portal-labels 2,5-7",
       vois +
           "--signal spgr --tr 4 --flip-angle 20 --relaxivity 3.4 --t1 0.6 --t1-blood 1.4 --arterial-baseline portal",
       vois + "--signal linear --relaxivity 4 --vfa v.nii --vfa-flip-angles 2,10,20 --vfa-tr 5 --baseline 0,6",
       "--times t --model arterial --arterial-curve a --skip-frames 3,41-47 --convolution direct --maps ka,kl",
       "--times t --curves c --solver linear --delays zero --haematocrit 0.42"});
}

}  // namespace
}  // namespace voxherd
