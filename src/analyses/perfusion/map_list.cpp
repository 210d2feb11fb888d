#include "src/analyses/perfusion/map_list.hpp"

#include <fmt/core.h>

#include "core/options.hpp"
#include "src/io/input_file.hpp"

namespace voxherd::perfusion {

namespace {

constexpr auto flow_unit = "ml/100g/min";

}  // namespace

const std::array<map_text, map_count> map_texts{{
    {map_kl, "kl", flow_unit, "rate at which blood leaves the voxel's compartment"},
    {map_ka, "ka", flow_unit, "arterial perfusion"},
    {map_kp, "kp", flow_unit, "portal perfusion"},
    {map_tau_a, "tau_a", "s", "delay of the arterial input"},
    {map_tau_p, "tau_p", "s", "delay of the portal input"},
    {sd_kl, "sd_kl", flow_unit, "standard deviation of kl from the Jacobian; 0: fixed or at a bound"},
    {sd_ka, "sd_ka", flow_unit, "standard deviation of ka"},
    {sd_kp, "sd_kp", flow_unit, "standard deviation of kp"},
    {sd_tau_a, "sd_tau_a", "s", "standard deviation of tau_a"},
    {sd_tau_p, "sd_tau_p", "s", "standard deviation of tau_p"},
    {arterial_fraction, "arterial_fraction", "1", "ka / (ka + kp)"},
    {total_perfusion, "total_perfusion", flow_unit, "ka + kp"},
    {distribution_volume, "distribution_volume", "1", "(ka + kp) / kl"},
    {mean_transit_time, "mean_transit_time", "s", "1 / kl"},
    {sum_of_squares, "sum_of_squares", "", "sum of squared residuals over the frames that are fitted"},
    {r_squared, "r_squared", "1", "part of the curve's variance that the model explains"},
    {t1_before, "t1_before", "s", "T1 before the agent"},
    {baseline_signal, "baseline_signal", "input", "mean signal of the baseline frames, S0"},
}};

bool is_flow(map m) { return m <= map_kp || (m >= sd_kl && m <= sd_kp) || m == total_perfusion; }

map_set parse_maps(const std::string& list) {
  map_set chosen;
  if (list == "all") return chosen.set();
  std::string names;
  for (const map_text& m : map_texts) names += std::string(names.empty() ? "" : ", ") + m.name;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    std::size_t m = 0;
    while (m < map_texts.size() && word != map_texts[m].name) ++m;
    if (m == map_texts.size())
      option::refuse(fmt::format("--maps {}: found \"{}\", expected all, or some of {} with commas between",
                                 printable(list), printable(word), names));
    chosen.set(m);
    at = end + 1;
  }
  return chosen;
}

map_set maps_written(const map_set& chosen, const conversion& convert) {
  map_set written = chosen;
  if (!convert.needs_t1()) written.reset(t1_before);
  if (convert.signal == signal_kind::concentration) written.reset(baseline_signal);
  return written;
}

}  // namespace voxherd::perfusion
