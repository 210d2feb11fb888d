#include "src/tools/report/fibre_density.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "src/tools/report/image_draft.hpp"
#include "src/tools/report/pictures.hpp"

namespace voxherd::report {

namespace {

/// Counts fibres, each once per voxel.
class fibre_counter {
 public:
  explicit fibre_counter(const grid_view& view)
      : view_(view), counts(view.size(0) * view.size(1) * view.size(2)), last_(counts.size()) {}

  void add(const fibre& f) {
    ++number_;
    for (std::size_t k = 0; k < f.mm.size(); ++k) {
      const auto &a = f.mm[k > 0 ? k - 1 : 0], &b = f.mm[k];
      double length = 0;  // in voxels
      for (int i = 0; i < 3; ++i) length = std::max(length, std::fabs(b[at(i)] - a[at(i)]) / view_.spacing_mm(i));
      const int pieces = static_cast<int>(std::clamp(std::ceil(8 * length), 1.0, 1000.0));
      for (int p = 1; p <= pieces; ++p) visit(a, b, static_cast<double>(p) / pieces);
    }
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void visit(const std::array<double, 3>& a, const std::array<double, 3>& b, double t) {
    std::array<std::uint64_t, 3> place{};
    for (int i = 0; i < 3; ++i) {
      const double voxel = std::round(std::lerp(a[at(i)], b[at(i)], t) / view_.spacing_mm(i));
      if (!(voxel >= 0 && voxel < static_cast<double>(view_.size(i)))) return;
      place[at(i)] = static_cast<std::uint64_t>(voxel);
    }
    const std::uint64_t v = view_.voxel(place);
    if (last_[v] == number_) return;
    last_[v] = number_;
    ++counts[v];
  }

  const grid_view& view_;

 public:
  std::vector<float> counts;

 private:
  std::vector<std::uint32_t> last_;  ///< number of the last fibre in the voxel
  std::uint32_t number_ = 0;
};

}  // namespace

std::vector<float> count_fibres(const grid_view& view, const std::vector<fibre>& fibres) {
  fibre_counter counter(view);
  for (const fibre& f : fibres) counter.add(f);
  return std::move(counter.counts);
}

void add_fibre_density(draft& d, const std::vector<fibre>& fibres, const std::string& what) {
  std::vector<float> counts = count_fibres(d.view, fibres);
  std::vector<std::uint64_t> visited;
  for (std::uint64_t v = 0; v < counts.size(); ++v)
    if (counts[v] > 0) visited.push_back(v);
  if (visited.empty()) return;
  d.out.numbers["voxels_with_fibres"] = visited.size();
  d.out.numbers["max_fibres_in_voxel"] = *std::max_element(counts.begin(), counts.end());
  image_draft maps(d.grid);
  maps.add("fibres", 1, "", "number of fibres in the voxel, each counted once", std::move(counts));
  maps.show(std::move(visited));
  maps.add_section("");
  const map_look look{
      .map = colour_map::viridis, .note = what + ". Bright voxels are in dense bundles.", .is_count = true};
  add_map(maps, "fibres", look);
  add_maximum_views(maps, "fibres", look);
  auto& figures = d.out.sections.back().figures;
  for (figure& f : maps.out.sections.back().figures) {
    f.title = "Density: number of " + f.title;
    figures.push_back(std::move(f));
  }
  d.out.numbers["fibre_mosaic"] = maps.out.numbers.value("mosaic", nlohmann::json());
}

}  // namespace voxherd::report
