#include "src/analyses/geodesic/options.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/option_values.hpp"
#include "src/analyses/common/metric_options.hpp"

namespace voxherd {

namespace {

using geodesic::direction_kind;
using geodesic::integrator;
using geodesic::interpolation;
using geodesic::measure_kind;
using geodesic::ray_form;
using geodesic::ray_settings;
using option::refuse;
using option::refuse_given;

constexpr double longest_mm = 100000;
constexpr std::uint32_t most_steps = 10'000'000;

float real(const arguments& args, const char* name, double least, double most) {
  return static_cast<float>(option::number(args, name, least, most));
}
float real_or(const arguments& args, const char* name, double least, double most, float standard) {
  return args.has(name) ? real(args, name, least, most) : standard;
}
template <class T>
T word_or(const arguments& args, const char* name, std::initializer_list<std::pair<const char*, T>> words, T standard) {
  return args.has(name) ? option::word<T>(args, name, words) : standard;
}

void read_equations(const arguments& args, ray_settings& r) {
  r.form = option::word<ray_form>(args, "form",
                                  {{"christoffel", ray_form::christoffel},
                                   {"hamiltonian", ray_form::hamiltonian},
                                   {"finsler4", ray_form::finsler4},
                                   {"streamline", ray_form::streamline}});
  const bool streamline = r.form == ray_form::streamline;
  r.reading = word_or<interpolation>(
      args, "interpolation",
      {{"trilinear", interpolation::trilinear},
       {"bspline", interpolation::bspline},
       {"texture", interpolation::texture}},
      streamline || r.form == ray_form::finsler4 ? interpolation::trilinear : interpolation::bspline);
  r.method = option::word<integrator>(args, "integrator",
                                      {{"euler", integrator::euler},
                                       {"rk2-frozen", integrator::rk2_frozen},
                                       {"rk2", integrator::rk2},
                                       {"rk4", integrator::rk4}});
}

void read_stops(const arguments& args, ray_settings& r) {
  r.step_mm = args.get<double>("step") == 0 ? 0 : real(args, "step", 0.0001, 100);
  r.max_steps = static_cast<std::uint32_t>(option::integer(args, "max-steps", 0, most_steps));
  r.max_length_mm = real(args, "max-length", 0.001, longest_mm);
  r.min_length_mm = real(args, "min-length", 0, longest_mm);
  if (r.min_length_mm > r.max_length_mm)
    refuse(fmt::format("--min-length {} is above --max-length {}: no fibre could be accepted", r.min_length_mm,
                       r.max_length_mm));
  r.min_radius_mm = real_or(args, "min-radius", 0, 1000, 0);
  r.min_FA = real_or(args, "min-fa", 0, 1, r.form == ray_form::streamline ? 0.15f : 0.0f);
  r.max_drift = real(args, "max-drift", 0, 100);
  r.stop_at_loops = !args.get<bool>("no-loop-check");
}

/// Directions that differ: an axis has one for a fibre of two rays, two for a single ray.
std::uint32_t read_direction_count(const arguments& args, const ray_settings& r) {
  const bool axis = r.directions == direction_kind::axis;
  if (!args.has("directions")) return axis ? 1 : 64;
  const auto n = static_cast<std::uint32_t>(option::integer(args, "directions", 1, 1'000'000));
  const std::uint32_t most = r.two_way ? 1 : 2;
  if (axis && n > most)
    refuse(
        fmt::format("--directions {}: --direction-set axis with --rays {} has {}; further ones would be the same "
                    "fibres again",
                    n, r.two_way ? "two-way" : "one-way", most == 1 ? "one" : "two, forth and back"));
  return n;
}

void read_directions(const arguments& args, bool connectome, ray_settings& r) {
  const bool streamline = r.form == ray_form::streamline;
  r.two_way = word_or<bool>(args, "rays", {{"one-way", false}, {"two-way", true}}, streamline || connectome);
  r.directions = word_or<direction_kind>(args, "direction-set",
                                         {{"sphere", direction_kind::sphere},
                                          {"cone", direction_kind::cone},
                                          {"random", direction_kind::random},
                                          {"axis", direction_kind::axis}},
                                         streamline ? direction_kind::axis : direction_kind::sphere);
  r.directions_per_seed = read_direction_count(args, r);
  r.cone_degrees = real(args, "cone", 0.1, 90);
  if (r.directions != direction_kind::cone) refuse_given(args, "cone", "without --direction-set cone");
  r.random_seed = static_cast<std::uint64_t>(option::integer(args, "seed", 0, std::numeric_limits<long long>::max()));
}

void read_measure(const arguments& args, ray_settings& r) {
  r.measure = option::word<measure_kind>(
      args, "measure",
      {{"ratio", measure_kind::ratio}, {"relative", measure_kind::relative}, {"weakest", measure_kind::weakest}});
  r.min_measure = real(args, "min-measure", 0, r.measure == measure_kind::ratio ? 1e6 : 1);
}

/// Geodesics need a field that a cubic B-spline leaves positive between voxels; docs/papers/van-aart-2011.md has what
/// these two numbers do to them in a real brain.
geodesic::preparation read_preparation(const arguments& args, ray_form form) {
  geodesic::preparation how;
  how.metric = read_metric(args);
  how.alpha = read_alpha(args, how.metric, 1);
  const bool tensor_geodesics = form == ray_form::christoffel || form == ray_form::hamiltonian;
  how.smoothing_voxels = args.has("smooth") ? option::number(args, "smooth", 0, 10) : (tensor_geodesics ? 0.7 : 0.0);
  how.min_eigenvalue = args.has("least-eigenvalue") ? option::number(args, "least-eigenvalue", 0.0001, 1)
                                                    : (tensor_geodesics ? 0.1 : 0.01);
  return how;
}

fibre_selection read_selection(const arguments& args) {
  fibre_selection s;
  s.top = static_cast<std::uint64_t>(option::integer(args, "top", 0, 1'000'000'000));
  s.distinct_mm = option::number(args, "distinct", 0, 1000);
  s.output_step_mm = args.get<double>("output-step") == 0 ? 0 : option::number(args, "output-step", 0.001, 1000);
  return s;
}

void check_form(const arguments& args, backend where, const ray_settings& r) {
  const bool christoffel = r.form == ray_form::christoffel;
  if (r.reading == interpolation::texture && !christoffel)
    refuse("--interpolation texture reads the derivatives that --form christoffel needs; give that form, or trilinear");
  if (r.reading == interpolation::texture && where != backend::cuda)
    refuse("--interpolation texture is the GPU's own filtering; give --backend cuda, or --interpolation trilinear");
  if (r.method == integrator::rk2_frozen && !christoffel && r.form != ray_form::hamiltonian)
    refuse("--integrator rk2-frozen belongs to --form christoffel and hamiltonian; give euler, rk2 or rk4");
  if (r.form == ray_form::finsler4) {
    for (const char* name : {"metric", "alpha", "smooth"})
      refuse_given(args, name, "with --form finsler4, which has its own norm");
  }
  if (r.form != ray_form::streamline) return;
  for (const char* name : {"metric", "alpha"}) refuse_given(args, name, "with --form streamline, which has no metric");
  refuse_given(args, "max-drift", "with --form streamline, which conserves no energy");
  if (r.directions != direction_kind::axis)
    refuse("--form streamline follows the main eigenvector wherever it is sent; leave --direction-set at axis");
}

/// The decimal that the user would write for this float, so that 0.15 is stored as 0.15.
double decimal(float value) { return std::stod(fmt::format("{}", value)); }

template <class T>
std::string word_for(T value, std::initializer_list<std::pair<T, const char*>> words) {
  return std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.first == value; })->second;
}

}  // namespace

ray_choice read_ray_options(const arguments& args, backend where, bool connectome) {
  ray_choice c;
  read_equations(args, c.rays);
  read_stops(args, c.rays);
  read_directions(args, connectome, c.rays);
  read_measure(args, c.rays);
  c.how = read_preparation(args, c.rays.form);
  c.selection = read_selection(args);
  check_form(args, where, c.rays);
  return c;
}

void fill_in_lengths(const arguments& args, const image_grid& grid, ray_choice& choice) {
  ray_settings& r = choice.rays;
  const auto& side = grid.voxel_size_mm;
  const double smallest = std::min({side[0], side[1], side[2]});
  const bool first_order = r.method == integrator::euler || r.method == integrator::rk2_frozen;
  const bool streamline = r.form == ray_form::streamline;
  if (r.step_mm == 0) r.step_mm = static_cast<float>(smallest / (first_order ? 10 : streamline ? 4 : 2));
  if (r.step_mm > static_cast<float>(smallest))
    spdlog::warn("--step {} mm is longer than a voxel's side of {:.3g} mm; what lies between two steps is not seen",
                 r.step_mm, smallest);
  const bool steps_alone = args.has("max-steps") && r.max_steps > 0 && !args.has("max-length");
  if (r.max_steps == 0) {
    const double steps = std::ceil(static_cast<double>(r.max_length_mm) / static_cast<double>(r.step_mm));
    if (steps > most_steps)
      refuse(fmt::format("--max-length {} takes {} steps of {} mm, expected at most {}; give a longer --step",
                         r.max_length_mm, steps, r.step_mm, most_steps));
    r.max_steps = static_cast<std::uint32_t>(steps);
  } else if (steps_alone) {
    r.max_length_mm = 2 * static_cast<float>(r.max_steps) * r.step_mm;  // two rays of so many steps
  }
  // A turn of 60 degrees from one step to the next, MRtrix's limit: radius = step / (2 sin 30).
  if (streamline && !args.has("min-radius")) r.min_radius_mm = r.step_mm;
  if (choice.selection.output_step_mm == 0) choice.selection.output_step_mm = smallest / 2;
}

void add_to_configuration(const ray_choice& choice, const arguments& args, nlohmann::json& configuration) {
  const ray_settings& r = choice.rays;
  for (const char* name : {"form", "measure", "metric"}) configuration[name] = args.get<std::string>(name);
  configuration["interpolation"] = word_for<interpolation>(r.reading, {{interpolation::trilinear, "trilinear"},
                                                                       {interpolation::bspline, "bspline"},
                                                                       {interpolation::texture, "texture"}});
  configuration["integrator"] = word_for<integrator>(r.method, {{integrator::euler, "euler"},
                                                                {integrator::rk2_frozen, "rk2-frozen"},
                                                                {integrator::rk2, "rk2"},
                                                                {integrator::rk4, "rk4"}});
  configuration["direction-set"] = word_for<direction_kind>(r.directions, {{direction_kind::sphere, "sphere"},
                                                                           {direction_kind::cone, "cone"},
                                                                           {direction_kind::random, "random"},
                                                                           {direction_kind::axis, "axis"}});
  configuration["rays"] = r.two_way ? "two-way" : "one-way";
  configuration["directions"] = r.directions_per_seed;
  if (r.directions == direction_kind::cone) configuration["cone"] = decimal(r.cone_degrees);
  configuration["seed"] = r.random_seed;
  configuration["step"] = decimal(r.step_mm);
  configuration["max-steps"] = r.max_steps;
  configuration["max-length"] = decimal(r.max_length_mm);
  configuration["min-length"] = decimal(r.min_length_mm);
  configuration["min-radius"] = decimal(r.min_radius_mm);
  configuration["min-fa"] = decimal(r.min_FA);
  configuration["max-drift"] = decimal(r.max_drift);
  configuration["no-loop-check"] = !r.stop_at_loops;
  configuration["min-measure"] = decimal(r.min_measure);
  configuration["alpha"] = choice.how.alpha;
  configuration["smooth"] = choice.how.smoothing_voxels;
  configuration["least-eigenvalue"] = choice.how.min_eigenvalue;
  configuration["top"] = choice.selection.top;
  configuration["distinct"] = choice.selection.distinct_mm;
  configuration["output-step"] = choice.selection.output_step_mm;
}

}  // namespace voxherd
