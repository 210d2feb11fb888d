#include "src/analyses/perfusion/voxel_curves.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/failure.hpp"
#include "kernels/perfusion/host_curves.hpp"
#include "src/analyses/perfusion/inputs.hpp"
#include "src/analyses/perfusion/model_forms.hpp"
#include "src/analyses/perfusion/options.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/nifti/companion.hpp"
#include "src/scan/single_voxels.hpp"

namespace voxherd {

namespace {

using namespace perfusion;
using nlohmann::json;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The images that a result was computed from, in the order of its maps.
std::vector<nifti_header> find_series(const json& inputs, const image_grid& grid) {
  const json image = inputs.value("dynamic", json::object());
  if (const std::string change = describe_change(image); !change.empty()) refuse_data("the series " + change);
  std::vector<nifti_header> files;
  for (const std::string& path : list_input_files(image)) {
    files.push_back(read_nifti_header(path));
    if (!bring_unchecked(files.back(), grid, inputs.value("image", json())))
      refuse_data(path + " has another size than when the result was computed");
  }
  return files;
}

/// The conversion with the baseline that was found. T1 is that of the result's map, so that its source is not needed.
conversion read_conversion(const perfusion_request& stored, const json& configuration) {
  conversion convert = make_conversion(stored);
  if (configuration.contains("baseline")) {
    convert.baseline_begin = configuration.at("baseline").at(0).get<int>();
    convert.baseline_end = configuration.at("baseline").at(1).get<int>() + 1;
  }
  return convert;
}

time_course read_time_course(const result_reader& r) {
  const constant* time = r.find_constant("curves", "time");
  const auto read = [&](const char* name) {
    return r.constant_values("curves", name, time == nullptr ? 0 : time->values.size());
  };
  time_course frames{read("time"), read("arterial"), read("portal"), {}};
  for (const double n : read("counted")) frames.counts.push_back(n != 0 ? 1 : 0);
  return frames;
}

}  // namespace

struct voxel_curves::state {
  explicit state(const result_reader& r)
      : files(find_series(r.provenance().value("inputs", json::object()), r.grid())),
        frames(read_time_course(r)),
        stored(perfusion_options().read_stored(r.configuration())),
        model(*stored_form(r.configuration()).model),
        convert(read_conversion(stored, r.configuration())),
        unit(concentration_unit(convert)),
        series(files, r.item_voxels()) {
    if (series.volumes() != frames.frames())
      refuse_data("{} has another size than when the result was computed", files.front().path);
    const auto last = static_cast<std::int64_t>(frames.frames());
    if (convert.baseline_begin < 0 || convert.baseline_end < convert.baseline_begin || convert.baseline_end > last)
      refuse_data("{}: its baseline is frames {} to {} of {}; is it a complete copy of a voxherd result?", r.path(),
                  convert.baseline_begin, convert.baseline_end - 1, last);
    how.discretisation = stored.discretisation.value_or(discretisation_kind::exact);
    if (r.has("t1_before")) {
      t1 = r.read_map("t1_before", 1);
    } else if (convert.needs_t1() && convert.t1_s == 0) {
      refuse_data("curves of voxels need the map t1_before, which is not in this result");
    }
    read_parameters(r);
  }

  /// From the maps; one that was fixed is known without.
  void read_parameters(const result_reader& r) {
    const json fixed = r.configuration().value("fixed", json::object()),
               start = r.configuration().value("start", json::object());
    maps.resize(model.parameters.size());
    constants.resize(model.parameters.size());
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const std::string name = model.parameters[i].name;
      if (r.has(name)) {
        maps[i] = r.read_map(name, 1);
      } else if (fixed.value(name, false)) {
        constants[i] = start.value(name, 0.0);
      } else {
        has_fit = false;
      }
    }
  }

  voxel_curve make_curve(std::uint64_t voxel, const float* row) const {
    const std::size_t n = frames.frames();
    conversion own = convert;
    if (!t1.empty()) own.t1_s = static_cast<double>(t1.at(voxel));
    const std::vector<float> c = convert_row(own, frames, row);
    if (c.empty()) return {};
    voxel_curve curve;
    for (std::size_t i = 0; i < n; ++i)
      curve.concentration.push_back(frames.counts[i] != 0 ? static_cast<double>(c[i]) : not_a_number);
    if (has_fit) add_fit(voxel, curve);
    return curve;
  }

  void add_fit(std::uint64_t voxel, voxel_curve& curve) const {
    std::vector<double> p;
    for (std::size_t i = 0; i < maps.size(); ++i)
      p.push_back((maps[i].empty() ? constants[i] : static_cast<double>(maps[i].at(voxel))) *
                  kernel_unit(model.parameters[i], stored.density_g_per_ml));
    curve.fit = model_curve(frames, how, p);
    for (std::size_t i = 0; i < frames.frames(); ++i)
      if (frames.counts[i] != 0) curve.sum_of_squares += std::pow(curve.concentration[i] - curve.fit[i], 2);
  }

  std::vector<nifti_header> files;
  time_course frames;
  perfusion_request stored;
  const model_info& model;
  conversion convert;
  std::string unit;
  single_voxels series;
  fit_settings how{model};
  bool has_fit = true;
  std::vector<float> t1;                 ///< empty: the same everywhere
  std::vector<std::vector<float>> maps;  ///< of the parameters; empty: the constant
  std::vector<double> constants;
};

voxel_curves::voxel_curves(const result_reader& r) : state_(std::make_unique<state>(r)) {}
voxel_curves::~voxel_curves() = default;

const time_course& voxel_curves::frames() const { return state_->frames; }
const std::string& voxel_curves::unit() const { return state_->unit; }

std::vector<voxel_curve> voxel_curves::read(const std::vector<std::uint64_t>& voxels) {
  std::vector<std::uint64_t> sorted = voxels;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const std::vector<float> rows = read_single_voxels(state_->files, sorted);
  std::vector<voxel_curve> curves;
  for (const std::uint64_t v : voxels) {
    const auto place = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), v) - sorted.begin());
    curves.push_back(state_->make_curve(v, rows.data() + place * state_->frames.frames()));
  }
  return curves;
}

voxel_curve voxel_curves::look_at(std::uint64_t voxel) {
  return state_->make_curve(voxel, state_->series.read(voxel).data());
}

}  // namespace voxherd
