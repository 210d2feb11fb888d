#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "kernels/perfusion/conversion.hpp"
#include "kernels/phantom/phantom_signals.hpp"
#include "mpi/comm/session.hpp"
#include "src/phantom/liver_phantom.hpp"
#include "src/phantom/network_score.hpp"

namespace voxherd {

using phantom_size = std::array<std::uint64_t, 3>;

/// Signals of a geometry phantom: those of phantomas, or with restricted water and the grey matter of a brain.
enum class tissue_kind { challenge, restricted };

/// `voxherd phantom`: options of all kinds. Nothing where the preset decides.
struct phantom_request {
  std::string kind, result;
  std::string preset = "toy", out;
  std::optional<phantom_size> size;
  std::optional<double> voxel_size_mm;
  std::optional<noise_kind> noise;  ///< read with its default
  std::uint64_t seed = 1;
  bool gz = false, overwrite = false;
  int threads = 0;

  std::vector<double> b_values, crossing_degrees;
  std::vector<std::uint64_t> directions;
  std::optional<std::size_t> b0_volumes, fibres;
  double snr = 30;

  std::string geometry, bvals, bvecs;
  tissue_kind tissue = tissue_kind::challenge;
  std::optional<double> axial_mm2_per_s, radial_mm2_per_s, grey_mm2_per_s, concentration;

  std::optional<std::uint64_t> frames;
  std::optional<double> spacing_s;
  perfusion::signal_kind signal = perfusion::signal_kind::spoiled_echo;
  std::optional<double> repetition_ms, flip_degrees;
  double relaxivity = 4.5, cnr = 50;
  std::vector<double> vfa_flip_degrees{2, 5, 10, 15};
  inputs_between_frames inputs = inputs_between_frames::continuous;
  stored_type type = stored_type::float32;

  std::string truth, json, matrix;
  double max_angle_degrees = 25, min_fraction = 0.05;
  std::optional<best_value> best;
};

const option_table<phantom_request>& phantom_options();

/// What the kinds of phantom share. All throw failure (usage).
namespace phantom_option {

/// Numbers separated by `separator`.
template <class T>
std::vector<T> numbers(const char* option, const std::string& text, char separator, const std::string& expected) {
  std::vector<T> values;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    T value{};
    const auto [next, code] = std::from_chars(at, end, value);
    if (code != std::errc()) refuse_usage("--{} {}: expected {}", option, text, expected);
    values.push_back(value);
    if (next == end) return values;
    if (*next != separator) refuse_usage("--{} {}: expected {}", option, text, expected);
    at = next + 1;
  }
}

/// The preset of that name.
template <class Settings>
const Settings& find_preset(const std::string& name, const std::vector<Settings>& presets) {
  std::string names;
  for (const Settings& p : presets) {
    if (p.name == name) return p;
    names += (names.empty() ? "" : ", ") + p.name;
  }
  refuse_usage("--preset {}: expected one of {}", name, names);
}

/// Cores are shared by the ranks of a node.
int threads(const session& s, const phantom_request& request);
/// Makes room in --out: refuses existing files of the phantom. With --overwrite it removes NAME.nii and NAME.nii.gz of
/// each series, and the phantom replaces the other files. To be called on one rank.
void clear_folder(const phantom_request& request, std::initializer_list<const char*> series,
                  std::initializer_list<const char*> others);

}  // namespace phantom_option

/// The first word after `voxherd phantom`: a kind of phantom to make, or `score`.
struct phantom_kind {
  const char* name;
  std::initializer_list<const char*> options;  ///< that only this kind has
  exit_status (*run)(session&, const phantom_request&);
};

extern const phantom_kind dwi_phantom_kind;
extern const phantom_kind liver_phantom_kind;
extern const phantom_kind score_phantom_kind;

}  // namespace voxherd
