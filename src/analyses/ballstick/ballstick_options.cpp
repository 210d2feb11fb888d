#include "src/analyses/ballstick/ballstick_options.hpp"

#include <fmt/core.h>

#include <limits>

#include "core/option_values.hpp"

namespace voxherd {

namespace {

using ballstick::diffusion_model;
using ballstick::noise_model;
using ballstick::relevance_prior;

using option::integer;

float number(const arguments& args, const char* name, double least, double most) {
  return static_cast<float>(option::number(args, name, least, most));
}

noise_model noise(const arguments& args) {
  const auto& word = args.get<std::string>("noise");
  if (word == "gaussian") return noise_model::gaussian;
  if (word == "rician") return noise_model::rician;
  throw failure(exit_status::usage, fmt::format("--noise {}: not one of gaussian, rician", word));
}

relevance_prior relevance(const arguments& args) {
  const bool none = args.get<bool>("no-ard"), all = args.get<bool>("all-ard");
  if (none && all) throw failure(exit_status::usage, "--no-ard and --all-ard exclude each other; give one");
  return none ? relevance_prior::none : all ? relevance_prior::all : relevance_prior::all_but_first;
}

int parameters(const ballstick::settings& s) { return ballstick::layout_of(s).count; }

}  // namespace

void add_ballstick_options(po::options_description& options) {
  options.add_options()                                                               //
      ("fibres", po::value<long long>()->default_value(3), "fibres a voxel, 1 to 4")  //
      ("model", po::value<long long>()->default_value(2),
       "1 one diffusivity, 2 Gamma-distributed diffusivity, 3 zeppelins")                                      //
      ("noise", po::value<std::string>()->default_value("gaussian"), "gaussian | rician")                      //
      ("burn-in", po::value<long long>()->default_value(1000), "jumps before sampling, 0 to 10000000")         //
      ("jumps", po::value<long long>()->default_value(1250), "jumps while sampling, 1 to 10000000")            //
      ("sample-every", po::value<long long>()->default_value(25), "jumps from one stored sample to the next")  //
      ("adapt-every", po::value<long long>()->default_value(40),
       "jumps from one adaptation of the steps to the next")                                             //
      ("seed", po::value<long long>()->default_value(8665904), "random seed, 0 or more")                 //
      ("ard-weight", po::value<double>()->default_value(1), "weight of the relevance prior, 0 to 1000")  //
      ("no-ard", po::bool_switch(), "no relevance prior on any fibre")                                   //
      ("all-ard", po::bool_switch(), "relevance prior on the first fibre too")                           //
      ("f0", po::bool_switch(), "add a compartment without attenuation")                                 //
      ("f0-ard", po::bool_switch(), "relevance prior on that compartment (with --f0)")                   //
      ("ratio-mean", po::value<double>()->default_value(0.13, "0.13"),
       "prior mean of perpendicular over parallel diffusivity (model 3), 0.001 to 1")  //
      ("ratio-std", po::value<double>()->default_value(0.03, "0.03"),
       "its standard deviation (model 3), 0.0001 to 1")  //
      ("all-samples", po::bool_switch(), "store the samples of S0, d, d_std, R, f0 and tau too");
}

ballstick::settings read_ballstick_settings(const arguments& args) {
  constexpr long long most_jumps = 10'000'000;
  ballstick::settings s;
  s.fibres = static_cast<int>(integer(args, "fibres", 1, ballstick::max_fibres));
  s.model = static_cast<diffusion_model>(integer(args, "model", 1, 3));
  s.noise = noise(args);
  s.burn_in_jumps = static_cast<int>(integer(args, "burn-in", 0, most_jumps));
  s.sampled_jumps = static_cast<int>(integer(args, "jumps", 1, most_jumps));
  s.sample_every = static_cast<int>(integer(args, "sample-every", 1, s.sampled_jumps));
  s.adapt_every = static_cast<int>(integer(args, "adapt-every", 1, most_jumps));
  s.seed = static_cast<std::uint64_t>(integer(args, "seed", 0, std::numeric_limits<long long>::max()));
  s.relevance = relevance(args);
  s.relevance_weight = number(args, "ard-weight", 0, 1000);
  s.unattenuated = args.get<bool>("f0");
  s.unattenuated_relevance = args.get<bool>("f0-ard");
  if (s.unattenuated_relevance && !s.unattenuated)
    throw failure(exit_status::usage, "--f0-ard has no meaning without --f0; add --f0");
  s.ratio_mean = number(args, "ratio-mean", 0.001, 1);
  s.ratio_std = number(args, "ratio-std", 0.0001, 1);
  return s;
}

void check_measurements(const ballstick::settings& settings, const gradient_table& gradients, const arguments& args) {
  std::size_t weighted = 0;
  for (const double b : gradients.b_s_per_mm2) weighted += b > 50;
  const auto needed = static_cast<std::size_t>(parameters(settings));
  if (gradients.size() <= needed || weighted < 6)
    throw failure(
        exit_status::bad_data,
        fmt::format(
            "{}: {} volumes, {} of them weighted, cannot determine {} parameters; expected more than {} volumes "
            "and at least 6 weighted; use fewer --fibres or another series",
            args.get<std::string>("dwi"), gradients.size(), weighted, needed, needed));
}

void add_to_configuration(const ballstick::settings& s, const arguments& args, nlohmann::json& configuration) {
  for (const char* name : {"fibres", "model", "burn-in", "jumps", "sample-every", "adapt-every", "seed"})
    configuration[name] = args.get<long long>(name);
  for (const char* name : {"no-ard", "all-ard", "f0", "f0-ard", "all-samples"})
    configuration[name] = args.get<bool>(name);
  configuration["noise"] = args.get<std::string>("noise");
  configuration["ard-weight"] = args.get<double>("ard-weight");
  if (s.model != diffusion_model::zeppelin) return;
  configuration["ratio-mean"] = args.get<double>("ratio-mean");
  configuration["ratio-std"] = args.get<double>("ratio-std");
}

}  // namespace voxherd
