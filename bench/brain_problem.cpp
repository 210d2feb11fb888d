#include "bench/brain_problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <tuple>

#include "bench/brain.hpp"
#include "bench/geodesic_problem.hpp"
#include "kernels/geodesic/trace_job.hpp"
#include "tests/geodesic/reference/geodesic_reference.hpp"

namespace voxherd::bench {

namespace {

using namespace geodesic;
using reference::vec3;

constexpr double checked_mm = 5;  // longer paths in a noisy field amplify small differences
constexpr std::size_t checked_fibres = 64;

/// Only one field at a time stays on the device.
std::shared_ptr<field> make_field(const device& d, ray_form form, bool spline) {
  static std::shared_ptr<field> kept;
  static std::tuple<backend, int, field_kind, bool> of;
  const std::tuple wanted{d.kind, d.threads, field_for(form), spline};
  if (!kept || of != wanted) {
    kept.reset();
    kept = make_field(d, philips_brain().image, {}, {}, field_for(form), spline);
    of = wanted;
  }
  return kept;
}

/// The reference's reading of a field stored for the CPU.
const reference::sampled_reader& slow_reader(ray_form form, bool spline) {
  static std::unique_ptr<reference::sampled_reader> kept;
  static std::pair<field_kind, bool> of;
  if (const std::pair wanted{field_for(form), spline}; !kept || of != wanted) {
    const device cpu{backend::cpu, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())), 0};
    kept.reset();
    kept = std::make_unique<reference::sampled_reader>(
        *make_field(cpu, philips_brain().image, {}, {}, wanted.first, wanted.second));
    of = wanted;
  }
  return *kept;
}

ray_settings make_settings(const brain_run& how) {
  ray_settings s;
  s.form = how.form;
  s.reading = how.reading;
  s.method = how.method;
  s.step_mm = 0.2f * 1.75f;
  s.max_steps = 1'000'000;
  s.max_length_mm = 250;
  s.directions = how.directions == 1 ? direction_kind::axis : direction_kind::sphere;
  s.directions_per_seed = how.directions;
  if (how.region == seed_region::callosum && how.directions == 1) s.directions = direction_kind::random;
  if (how.form == ray_form::streamline) s.two_way = true, s.min_FA = 0.15f, s.min_cosine = 0.5f;
  return s;
}

class brain_problem final : public problem {
 public:
  brain_problem(const device& d, const brain_run& how)
      : device_(d),
        how_(how),
        settings_(make_settings(how)),
        fibres_(how.seeds * how.directions),
        seeds_(how.region == seed_region::callosum ? seeds_in_callosum(philips_brain(), how.seeds)
                                                   : seeds_in_white_matter(philips_brain(), how.seeds)),
        scores_(d, fibres_) {
    use_device(d);
    field_ = make_field(d, how.form, how.reading == interpolation::bspline);
    tracker_ = make_tracker(*field_, seeds_, settings_);
  }

  void run() override {
    use_device(device_);
    if (how_.part != timed_part::scoring) tracker_ = make_tracker(*field_, seeds_, settings_);
    tracker_->score(0, fibres_, scores_.view());
    if (how_.part == timed_part::every_point) trace_all();
  }

  std::string find_error() const override {
    for (std::size_t f = 0; f < fibres_; ++f) {
      const auto stop = static_cast<stop_reason>(scores_.view().values<"stops">()[2 * f]);
      if (stop == stop_reason::none) return fmt::format("fibre {} has no ray", f);
    }
    if (const double mean = static_cast<double>(voxels()) / static_cast<double>(fibres_); !(mean > 20))
      return fmt::format("{:.1f} steps per fibre, expected more than 20", mean);
    // Texture units interpolate with weights in steps of 1/256.
    const double miss = median_miss_mm(), allowed = how_.reading == interpolation::texture ? 1e-2 : 1e-4;
    if (!(miss < allowed))
      return fmt::format("after {} mm the median distance from the reference is {:.1e} mm, expected below {}",
                         checked_mm, miss, allowed);
    return how_.part == timed_part::every_point ? check_points() : "";
  }

  std::size_t voxels() const override {
    const std::uint32_t* steps = scores_.view().values<"steps">();
    return std::accumulate(steps, steps + 2 * fibres_, std::size_t{0});
  }
  std::string unit() const override { return "step"; }

  std::vector<std::pair<std::string, double>> more() const override {
    std::size_t bad = 0;
    for (std::size_t i = 0; i < 2 * fibres_; ++i)
      bad += static_cast<stop_reason>(scores_.view().values<"stops">()[i]) == stop_reason::numbers;
    return {{"fibres", static_cast<double>(fibres_)},
            {"bytes_per_step", bytes_per_step(how_.form, how_.reading, how_.method)},
            {"ended_by_numbers", static_cast<double>(bad)}};
  }

 private:
  /// Copies all points of all fibres to page-locked host memory.
  void trace_all() {
    const std::uint32_t* steps = scores_.view().values<"steps">();
    all_.resize(fibres_);
    std::iota(all_.begin(), all_.end(), std::uint64_t{0});
    offsets_.assign(fibres_ + 1, 0);
    for (std::size_t f = 0; f < fibres_; ++f) offsets_[f + 1] = offsets_[f] + steps[2 * f] + steps[2 * f + 1] + 1;
    const std::size_t bytes = 3 * sizeof(float) * offsets_.back();
    if (points_.size() < bytes) points_ = host_buffer(device_, bytes);
    tracker_->trace(all_, steps, offsets_, {positions(), nullptr, nullptr});
  }
  float* positions() const { return reinterpret_cast<float*>(points_.data()); }

  /// The distances between the points add up to the length that was scored.
  std::string check_points() const {
    for (std::size_t f = 0; f < fibres_; ++f) {
      double length_mm = 0;
      for (std::uint64_t i = offsets_[f]; i + 1 < offsets_[f + 1]; ++i) {
        const float* p = positions() + 3 * i;
        length_mm += std::hypot(p[3] - p[0], p[4] - p[1], p[5] - p[2]);
      }
      const double scored = scores_.view().values<"length_mm">()[f];
      if (!(std::abs(length_mm - scored) < 1e-4 * scored + 1e-4))
        return fmt::format("fibre {}: {:.4f} mm along its points, {:.4f} mm scored", f, length_mm, scored);
    }
    return "";
  }

  /// Distance between a fibre and the reference's after some steps, over the checked fibres.
  double median_miss_mm() const {
    const std::uint32_t* steps = scores_.view().values<"steps">();
    const auto enough = static_cast<std::uint32_t>(checked_mm / settings_.step_mm);
    std::vector<double> misses;
    for (std::size_t i = 0; i < checked_fibres; ++i) {
      const std::uint64_t f = i * (fibres_ / checked_fibres);
      const std::uint32_t forth = steps[2 * f], back = steps[2 * f + 1], ahead = std::min(forth, enough);
      if (ahead == 0) continue;
      const std::uint64_t offsets[] = {0, std::uint64_t{forth} + back + 1};
      std::vector<float> points(3 * offsets[1]);
      tracker_->trace({&f, 1}, steps + 2 * f, offsets, {points.data(), nullptr, nullptr});
      const float* at = &points[3 * (back + ahead)];
      const vec3 expected = slow_place(f, ahead);
      misses.push_back(std::hypot(at[0] - expected[0], at[1] - expected[1], at[2] - expected[2]));
    }
    if (misses.size() < checked_fibres / 2) return INFINITY;
    std::nth_element(misses.begin(), misses.begin() + misses.size() / 2, misses.end());
    return misses[misses.size() / 2];
  }

  vec3 slow_place(std::uint64_t fibre, std::uint32_t steps) const {
    const seed& from = seeds_[fibre / how_.directions];
    float u[3];
    start_direction(settings_, from, fibre, static_cast<std::uint32_t>(fibre % how_.directions), u);
    const tensor_image& image = philips_brain().image;
    vec3 world;
    for (std::size_t i = 0; i < 3; ++i) {
      world[i] = image.origin_mm[i];
      for (std::size_t j = 0; j < 3; ++j) world[i] += image.axes_mm[3 * i + j] * from.voxel[j];
    }
    const auto& reader = slow_reader(how_.form, how_.reading == interpolation::bspline);
    return reference::walk(reader, world, {u[0], u[1], u[2]}, {how_.form, how_.method, settings_.step_mm, steps})
        .back()
        .place;
  }

  device device_;
  brain_run how_;
  ray_settings settings_;
  std::size_t fibres_;
  std::vector<seed> seeds_;
  score_memory scores_;
  std::shared_ptr<field> field_;
  std::unique_ptr<tracker> tracker_;
  std::vector<std::uint64_t> all_, offsets_;
  host_buffer points_;
};

}  // namespace

std::unique_ptr<problem> make_brain_problem(const device& d, const brain_run& how) {
  return std::make_unique<brain_problem>(d, how);
}

}  // namespace voxherd::bench
