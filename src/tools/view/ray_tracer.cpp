#include "src/tools/view/ray_tracer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "src/analyses/geodesic/passes.hpp"
#include "src/analyses/geodesic/winners.hpp"
#include "src/io/fingerprint.hpp"
#include "src/tools/view/stored_request.hpp"

namespace voxherd::view {

namespace {

using nlohmann::json;

json stored_inputs(const result_reader& r) { return r.provenance().value("inputs", json::object()); }

std::string path_of(const json& inputs, const std::string& name) {
  return inputs.contains(name) ? inputs.at(name).value("path", "") : "";
}

/// "include 1", "include 2", ...
std::vector<std::string> numbered_paths(const json& inputs, const char* name) {
  std::vector<std::string> paths;
  for (int n = 1;; ++n) {
    const std::string path = path_of(inputs, fmt::format("{} {}", name, n));
    if (path.empty()) return paths;
    paths.push_back(path);
  }
}

void check_inputs(const json& inputs) {
  for (const auto& [name, input] : inputs.items()) {
    if (!input.is_object() || !input.contains("fingerprint") || name == "region-names") continue;
    if (const std::string change = describe_change(input); !change.empty())
      throw failure(exit_status::bad_data, "rays cannot be traced again: the input " + change);
  }
}

geodesic_request find_request(const result_reader& r) {
  const json inputs = stored_inputs(r);
  geodesic_request q = read_stored_request(geodesic_options(), r.configuration());
  q.tensors.series = {path_of(inputs, "dwi"), path_of(inputs, "bvals"), path_of(inputs, "bvecs"),
                      path_of(inputs, "mask"), path_of(inputs, "grad_dev")};
  q.tensors.tensor = path_of(inputs, "tensor");
  q.seeding.points = path_of(inputs, "seed-points");
  q.seeding.image = path_of(inputs, "seed-image");
  q.regions.excludes = numbered_paths(inputs, "exclude");
  q.regions.includes = numbered_paths(inputs, "include");
  q.regions.targets = path_of(inputs, "targets");
  q.regions.connectome = path_of(inputs, "connectome");
  return q;
}

/// The scores of fibres [first, first + count).
std::vector<scored_fibre> score(geodesic::tracker& tracker, std::uint64_t first, std::uint64_t count,
                                fibre_counts& counts) {
  const output_memory<geodesic::fibre_scores> memory(count);
  tracker.score(first, count, memory.arrays());
  counts.verdicts.assign(geodesic::verdicts, 0);
  counts.stops.assign(geodesic::stop_reasons, 0);
  std::vector<scored_fibre> rays;
  for (std::uint64_t i = 0; i < count; ++i) {
    scored_fibre f{first + i, {}};
    f.scores.read(memory.arrays(), i);
    ++counts.verdicts.at(f.scores.get<"verdict">());
    for (std::size_t ray = 0; ray < 2; ++ray) ++counts.stops.at(f.scores.get<"stops">(ray));
    if (f.steps(0) + f.steps(1) > 0) rays.push_back(f);
  }
  return rays;
}

/// Not a number comes last.
void rank(std::vector<scored_fibre>& rays) {
  const auto is_rejected = [](const scored_fibre& f) { return f.scores.get<"verdict">() != 0; };
  const auto value = [](const scored_fibre& f) {
    const float m = f.scores.get<"measure">();
    return std::isnan(m) ? -HUGE_VALF : m;
  };
  std::stable_sort(rays.begin(), rays.end(), [&](const scored_fibre& a, const scored_fibre& b) {
    if (is_rejected(a) != is_rejected(b)) return is_rejected(b);
    return value(a) > value(b);
  });
}

}  // namespace

struct ray_tracer::prepared {
  geodesic_inputs inputs;
  std::vector<std::uint64_t> seed_voxels;  ///< of each seed, increasing
  std::unique_ptr<tensor_field::field> field;
  std::unique_ptr<geodesic::tracker> tracker;
};

ray_tracer::ray_tracer(const session& s, const result_reader& r, const device& d)
    : session_(s), result_(r), device_(d) {}
ray_tracer::~ray_tracer() = default;

ray_tracer::prepared& ray_tracer::prepare() {
  if (prepared_) return *prepared_;
  check_inputs(stored_inputs(result_));
  auto p = std::make_unique<prepared>();
  p->inputs = read_geodesic_inputs(session_, find_request(result_), [&] { return device_; });
  if (p->inputs.grid.size != result_.grid().size)
    throw failure(exit_status::bad_data, "rays cannot be traced again: the inputs have another size now");
  const auto& n = p->inputs.grid.size;
  for (const geodesic::seed& s : p->inputs.seeds) {
    const auto at = [&](int axis) { return static_cast<std::uint64_t>(std::lround(s.voxel[axis])); };
    p->seed_voxels.push_back(at(0) + n[0] * (at(1) + n[1] * at(2)));
  }
  p->field = prepare_field(session_, p->inputs, device_);
  p->tracker = geodesic::make_tracker(*p->field, p->inputs.seeds, p->inputs.rays);
  prepared_ = std::move(p);
  return *prepared_;
}

traced_rays ray_tracer::trace(std::uint64_t voxel) {
  prepared& p = prepare();
  const auto start = std::chrono::steady_clock::now();
  const auto [first, last] = std::equal_range(p.seed_voxels.begin(), p.seed_voxels.end(), voxel);
  const std::uint64_t directions = p.inputs.rays.directions_per_seed;
  traced_rays t;
  t.seeds = static_cast<std::uint64_t>(last - first);
  const std::uint64_t count = t.seeds * directions;
  if (count > max_rays)
    throw failure(exit_status::bad_data,
                  fmt::format("{} rays start in this voxel, more than the {} that the page traces", count, max_rays));
  const auto first_ray = static_cast<std::uint64_t>(first - p.seed_voxels.begin()) * directions;
  t.rays = score(*p.tracker, first_ray, count, t.counts);
  rank(t.rays);
  std::vector<std::uint64_t> numbers;
  std::vector<std::uint32_t> steps;
  t.offsets = {0};
  for (const scored_fibre& f : t.rays) {
    numbers.push_back(f.fibre);
    steps.insert(steps.end(), {f.steps(0), f.steps(1)});
    t.offsets.push_back(t.offsets.back() + count_points(f, p.inputs.selection.output_step_mm));
  }
  t.position_mm.resize(3 * t.offsets.back());
  if (!numbers.empty()) p.tracker->trace(numbers, steps.data(), t.offsets, {t.position_mm.data(), {}, {}});
  t.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return t;
}

}  // namespace voxherd::view
