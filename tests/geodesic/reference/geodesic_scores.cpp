#include "tests/geodesic/reference/geodesic_scores.hpp"

#include <algorithm>

#include "kernels/geodesic/place.hpp"
#include "tests/portable/reference/jacobi_eigen.hpp"

namespace voxherd::reference {

using namespace geodesic;

std::size_t reference_facts::voxel_number(const voxel_index& v) const {
  return std::size_t((v[2] * long(grid.size[1]) + v[1]) * long(grid.size[0]) + v[0]);
}

reference_facts reference_voxel_facts(const tensor_image& image, const std::vector<std::uint32_t>& regions) {
  reference_facts facts{make_grid(image), {}, {}, regions};
  for (std::size_t i = 0; i < image.inside.size(); ++i) {
    const float* t = &image.tensor[6 * i];
    square_matrix m(3);
    m.values = {t[0], t[1], t[2], t[1], t[3], t[4], t[2], t[4], t[5]};
    const auto l = jacobi_eigen(m).values;
    const double mean = (l[0] + l[1] + l[2]) / 3;
    double spread = 0, size = 0;
    for (const double x : l) spread += (x - mean) * (x - mean), size += x * x;
    facts.FA.push_back(std::sqrt(1.5 * spread / size));
    facts.speed.push_back(std::sqrt(l[0]));
  }
  if (regions.empty()) facts.regions.assign(image.inside.size(), region::inside);
  return facts;
}

namespace {

/// A fibre that is being integrated.
class fibre_scorer {
 public:
  fibre_scorer(const field_reader& field, const reference_facts& facts, const ray_settings& settings)
      : facts_(facts), rays_(settings), stepper_(field, {settings.form, settings.method, settings.step_mm, 0}) {}

  reference_fibre run(const vec3& seed_voxel, const vec3& u) {
    const vec3 x0 = facts_.grid.world(seed_voxel);
    for (int ray = 0; ray < (rays_.two_way ? 2 : 1); ++ray) {
      std::vector<vec3> places;
      fibre_.stops[ray] = follow(ray, x0, ray == 0 ? u : -1 * u, places);
      if (ray == 0) fibre_.places.push_back(x0);
      if (ray == 1) std::reverse(places.begin(), places.end());
      fibre_.places.insert(ray == 0 ? fibre_.places.end() : fibre_.places.begin(), places.begin(), places.end());
      if (excluded_) break;
    }
    finish();
    return fibre_;
  }

 private:
  stop_reason follow(int ray, const vec3& x0, const vec3& u, std::vector<vec3>& places) {
    const vec3 start = facts_.grid.voxel(x0);
    if (!within_volume(start)) return stop_reason::volume;
    std::size_t voxel = facts_.voxel_number(voxels_crossed(start, start).front());
    own_target_ = facts_.regions[voxel] >> region::target_shift;
    if (ray == 0) pass_includes(facts_.regions[voxel]);
    const stop_reason at_once = refused(facts_.regions[voxel], facts_.FA[voxel]);
    if (at_once != stop_reason::none) return at_once;
    ray_state s = stepper_.start(x0, u);
    double first_energy = 0;
    vec3 last_chord{};
    const double half = rays_.two_way ? 0.5 : 1;
    for (std::uint32_t step = 0;; ++step) {
      const double energy = stepper_.energy(s), dt = stepper_.dt(s);
      if (step == 0) first_energy = energy;
      const double drift = rays_.form == ray_form::streamline ? 0 : std::abs(energy / first_energy - 1);
      const ray_state to = stepper_.step(s);
      const vec3 chord = to.x - s.x;
      if (!(norm(chord) < 2 * rays_.step_mm)) return stop_reason::numbers;
      if (!within_volume(facts_.grid.voxel(to.x))) return stop_reason::volume;
      if (rays_.min_cosine >= -1 && step > 0 && too_sharp(last_chord, chord)) return stop_reason::curvature;
      if (rays_.max_drift > 0 && drift > rays_.max_drift) return stop_reason::drift;

      std::size_t entered = voxel;
      double part = 1;
      const stop_reason on_the_way = enter_voxels(ray, s.x, to.x, entered, part);
      if (on_the_way == stop_reason::mask || on_the_way == stop_reason::FA) return on_the_way;
      count(voxel, norm(chord), std::sqrt(energy) * dt, drift, part);
      places.push_back(s.x + part * chord);
      ++fibre_.steps[ray];
      voxel = entered, s = to, last_chord = chord;
      if (on_the_way != stop_reason::none) return on_the_way;
      const bool long_enough =
          rays_.max_length_mm > 0 && (step + 2) * rays_.step_mm > rays_.max_length_mm * half * 1.0001;
      if (step + 1 >= rays_.max_steps || long_enough) return stop_reason::length;
    }
  }

  bool within_volume(const vec3& voxel) const {
    for (std::size_t i = 0; i < 3; ++i)
      if (!(voxel[i] >= 0 && voxel[i] <= double(facts_.grid.size[i] - 1))) return false;
    return true;
  }

  bool too_sharp(const vec3& before, const vec3& now) const {
    return std::acos(std::clamp(dot(unit(before), unit(now)), -1.0, 1.0)) > std::acos(double(rays_.min_cosine));
  }

  stop_reason refused(std::uint32_t regions, double FA) {
    if ((regions & region::exclude) != 0) {
      excluded_ = true;
      return stop_reason::exclude;
    }
    if ((regions & region::inside) == 0) return stop_reason::mask;
    return FA < rays_.min_FA ? stop_reason::FA : stop_reason::none;
  }

  /// The longest part of the segment, of a thousand and then finer, whose end is not yet in the cube.
  static double part_before(const vec3& a, const vec3& b, const voxel_index& voxel, double half) {
    const auto is_inside = [&](double part) {
      bool inside = true;
      for (std::size_t d = 0; d < 3; ++d)
        inside = inside && std::abs(a[d] + part * (b[d] - a[d]) - double(voxel[d])) <= half;
      return inside;
    };
    double after = 0;
    for (int i = 0; i <= 1000 && after == 0; ++i)
      if (is_inside(i / 1000.0)) after = i / 1000.0;
    if (after == 0) return -1;
    double before = after - 1e-3;
    for (int i = 0; i < 40; ++i) (is_inside((before + after) / 2) ? after : before) = (before + after) / 2;
    return after;
  }

  /// Part of the step that belongs to a fibre that ends in the voxel: up to end_inside_face behind its face.
  double part_up_to(const vec3& from, const vec3& to, const voxel_index& voxel) const {
    const vec3 a = facts_.grid.voxel(from), b = facts_.grid.voxel(to);
    const double part = part_before(a, b, voxel, 0.5 - double(end_inside_face));
    return part >= 0 ? part : std::max(0.0, part_before(a, b, voxel, 0.5));
  }

  stop_reason enter_voxels(int ray, const vec3& from, const vec3& to, std::size_t& voxel, double& part) {
    const auto crossed = voxels_crossed(facts_.grid.voxel(from), facts_.grid.voxel(to));
    for (std::size_t i = 1; i < crossed.size(); ++i) {
      const std::size_t n = facts_.voxel_number(crossed[i]);
      const stop_reason why = refused(facts_.regions[n], facts_.FA[n]);
      if (why == stop_reason::exclude) return why;
      pass_includes(facts_.regions[n]);
      const std::uint32_t target = facts_.regions[n] >> region::target_shift;
      if (rays_.targets && target != 0 && target != own_target_) {
        reached_[ray] = target;
        part = part_up_to(from, to, crossed[i]);
        return stop_reason::target;
      }
      if (why != stop_reason::none) return why;
      voxel = n;
    }
    return stop_reason::none;
  }

  void pass_includes(std::uint32_t regions) {
    for (std::uint32_t i = 0; i < rays_.includes; ++i)
      if ((regions & (region::first_include << i)) != 0 && (!rays_.ordered || passed_.size() == i))
        passed_.push_back(i);
  }

  /// `part` of the step belongs to the fibre.
  void count(std::size_t voxel, double chord_mm, double metric_step, double drift, double part) {
    const double fastest = std::max(metric_step * facts_.speed[voxel], double(rays_.step_mm));
    fibre_.length_mm += part * chord_mm;
    fibre_.metric_length += part * metric_step;
    fastest_ += part * std::max(fastest, chord_mm);
    fibre_.weakest = std::min(fibre_.weakest, rays_.step_mm / fastest);
    fibre_.mean_FA += facts_.FA[voxel];
    fibre_.drift = std::max(fibre_.drift, drift);
  }

  void finish() {
    const auto steps = fibre_.steps[0] + fibre_.steps[1];
    fibre_.regions[0] = rays_.two_way ? reached_[1] : own_target_;
    fibre_.regions[1] = reached_[0];
    if (steps > 0) {
      fibre_.relative = fibre_.length_mm / fastest_;
      fibre_.mean_FA /= steps;
      const double ratio = fibre_.length_mm / fibre_.metric_length;
      fibre_.measure = rays_.measure == measure_kind::ratio      ? ratio
                       : rays_.measure == measure_kind::relative ? fibre_.relative
                                                                 : fibre_.weakest;
    } else {
      fibre_.weakest = 0;
    }
    bool all_included = true;
    for (std::uint32_t i = 0; i < rays_.includes; ++i)
      all_included = all_included && std::find(passed_.begin(), passed_.end(), i) != passed_.end();
    const bool reached_all = reached_[0] != 0 && (!rays_.two_way || reached_[1] != 0);
    if (excluded_)
      fibre_.verdict = verdict::excluded;
    else if (!all_included)
      fibre_.verdict = verdict::include_missed;
    else if (rays_.targets && !reached_all)
      fibre_.verdict = verdict::no_target;
    else if (steps == 0 || fibre_.length_mm < rays_.min_length_mm)
      fibre_.verdict = verdict::too_short;
    else if (fibre_.measure < rays_.min_measure)
      fibre_.verdict = verdict::below_measure;
  }

  const reference_facts& facts_;
  ray_settings rays_;
  stepper stepper_;
  reference_fibre fibre_;
  std::vector<std::uint32_t> passed_;
  std::uint32_t own_target_ = 0, reached_[2] = {0, 0};
  double fastest_ = 0;
  bool excluded_ = false;
};

}  // namespace

reference_fibre score_fibre(const field_reader& field, const reference_facts& facts, const vec3& seed_voxel,
                            const vec3& u, const ray_settings& settings) {
  return fibre_scorer(field, facts, settings).run(seed_voxel, u);
}

}  // namespace voxherd::reference
