#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include "src/analyses/geodesic/options.hpp"
#include "src/analyses/geodesic/passes.hpp"
#include "src/io/fingerprint.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/chart.hpp"
#include "src/show/fibres.hpp"
#include "src/show/matrix.hpp"
#include "src/show/methods.hpp"
#include "src/show/panels.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

/// Counts that the run stored in the result's summary, under its own words.
void add_counts(result_draft& d, const char* name, const std::string& title, const std::string& explanation) {
  const auto& summary = d.result.summary();
  if (!summary.is_object() || !summary.contains(name) || !summary.at(name).is_object()) return;
  std::vector<bar> bars;
  for (const auto& [word, count] : summary.at(name).items())
    if (count.is_number() && count.get<double>() > 0) bars.push_back({word, count.get<double>()});
  if (bars.empty()) return;
  std::stable_sort(bars.begin(), bars.end(), [](const bar& a, const bar& b) { return a.value > b.value; });
  table numbers{title, {"outcome", "count"}, {}};
  for (const bar& b : bars) numbers.rows.push_back({b.name, fmt::format("{:.0f}", b.value)});
  d.out.sections.back().figures.push_back({title, draw_bars(bars, title + "."), explanation, {numbers}, false});
  d.out.numbers["counts"][name] = summary.at(name);
}

void warn_about_drift(result_draft& d) {
  constexpr double max_drift = 0.05;
  if (!d.result.has("drift")) return;
  const std::vector<float> drift = read_values(d, d.result.output("drift"));
  const auto above = std::count_if(drift.begin(), drift.end(), [](float v) { return !(v <= max_drift); });
  if (above > 0)
    d.warn(
        fmt::format("The energy, which a geodesic keeps, changes by more than {:.0f} % along {} of {} paths; use a "
                    "smaller --step, or --max-drift.",
                    100 * max_drift, above, drift.size()));
}

void write_geodesic_methods(methods_text& m) {
  const std::string form = m.state("form", "hamiltonian");
  const bool is_streamline = form == "streamline";
  m.text = fmt::format(
      "{} with {} (form {}, {} interpolation, integrator {}, step {} mm, metric {}, {} directions per seed; "
      "after "
      "van Aart et al. 2011).",
      is_streamline ? "Streamlines along the main eigenvector of the diffusion tensor were traced"
                    : "Geodesics of the metric that follows from the diffusion tensor were traced",
      writing_program(m.result), form, m.state("interpolation", "bspline"), m.state("integrator", "rk2"),
      m.state("step"), m.state("metric", "inverse"), m.state("directions"));
  m.cite(
      "van Aart E et al. CUDA-accelerated geodesic ray-tracing for fiber tracking. Int J Biomed Imaging 2011:698908.",
      "10.1155/2011/698908");
}

void write_geodesic_chapter(result_draft& d) {
  warn_about_drift(d);
  add_fibres(d, "measure");
  if (d.result.find_constant("connectome", "labels") != nullptr) {
    d.add_section("Connectome");
    add_matrix(d, "count", best::largest, names_shown::yes);
    add_matrix(d, "best_measure", best::largest);
    add_matrix(d, "mean_length_mm", best::largest);
  }
  d.add_section("Distributions");
  for (const char* name : {"length_mm", "measure", "mean_FA", "weakest", "drift"}) add_histogram(d, name);
  add_counts(d, "paths", "Outcome of paths",
             "What became of all paths that were traced. Only accepted ones, or the best of them, are in the result.");
  add_counts(d, "rays_ended_by", "Why rays ended",
             "Each ray has one reason. A path has one ray, or two from the same seed.");
}

}  // namespace

}  // namespace voxherd::report

namespace voxherd {

namespace {

using nlohmann::json;

json stored_inputs(const result_reader& r) { return r.provenance().value("inputs", json::object()); }

void check_stored_inputs(const json& inputs) {
  for (const auto& [name, input] : inputs.items()) {
    if (!input.is_object() || !input.contains("fingerprint") || name == "region-names") continue;
    if (const std::string change = describe_change(input); !change.empty())
      refuse_data("rays cannot be traced again: the input " + change);
  }
}

constexpr std::uint64_t max_rays = 5000;

geodesic_request stored_geodesic_request(const result_reader& r) {
  const json inputs = stored_inputs(r);
  geodesic_request q = geodesic_options().read_stored(r.configuration());
  geodesic_options().read_inputs(inputs, q);
  q.regions.region_names.clear();
  return q;
}

/// Every ray (fibre of one or two rays) of the seeds in a voxel, ranked: the accepted ones first, the best measure
/// first, as a run ranks them.
struct traced_rays {
  std::uint64_t seeds = 0;             ///< number of the run's seeds in the voxel
  std::vector<scored_fibre> rays;      ///< regions: numbers of targets, as in pass one
  std::vector<std::uint64_t> offsets;  ///< first point of each ray, then the number of points
  std::vector<float> position_mm;      ///< three numbers per point
  fibre_counts counts;
  double seconds = 0;  ///< without the preparation
  std::uint64_t accepted() const { return counts.verdicts.front(); }
};

/// The scores of fibres [first, first + count).
std::vector<scored_fibre> score_rays(geodesic::tracker& tracker, std::uint64_t first, std::uint64_t count,
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
void rank_rays(std::vector<scored_fibre>& rays) {
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

/// Numbers of all rays, with the names, units and meanings of the result's outputs.
class ray_measures {
 public:
  explicit ray_measures(const std::vector<scored_fibre>& rays) : rays_(rays) {}

  template <output_name Name>
  void add() {
    for (const output& o : geodesic::fibre_scores::table)
      if (std::string_view(o.name) == std::string_view(Name.text))
        names.push_back({{"name", o.name}, {"unit", o.unit}, {"meaning", o.meaning}});
    for (const scored_fibre& f : rays_) values.push_back(static_cast<float>(f.scores.get<Name>()));
  }

  json names = json::array();
  std::vector<float> values;  ///< one measure after the other

 private:
  const std::vector<scored_fibre>& rays_;
};

/// `voxel`: of the page.
std::string send_traced(const traced_rays& t, std::uint32_t voxel) {
  ray_measures measures(t.rays);
  measures.add<"verdict">();
  measures.add<"measure">();
  measures.add<"length_mm">();
  measures.add<"metric_length">();
  measures.add<"relative">();
  measures.add<"weakest">();
  measures.add<"mean_FA">();
  measures.add<"drift">();
  std::string block = view::begin_block({{"fibres", t.rays.size()},
                                         {"points", t.offsets.back()},
                                         {"stored", t.rays.size()},
                                         {"measures", measures.names},
                                         {"along", json::array()},
                                         {"seeds", t.seeds},
                                         {"accepted", t.accepted()},
                                         {"counts", counts_as_json(t.counts).at("paths")},
                                         {"seconds", t.seconds}});
  view::append(block, std::vector<std::uint32_t>(t.offsets.begin(), t.offsets.end()));
  view::append(block, t.position_mm);
  view::append(block, std::vector<std::uint32_t>(t.rays.size(), voxel));
  view::append(block, measures.values);
  return block;
}

/// Traces rays of a finished `voxherd geodesic` again, with its inputs, settings and functions. Reads the inputs at the
/// first request. By one process; for one thread.
class ray_tracer final : public view::ray_panel {
 public:
  ray_tracer(const session& s, const result_reader& r, const device& d) : session_(s), result_(r), device_(d) {}

  std::string trace(std::uint64_t voxel, std::uint32_t voxel_on_page) override {
    return send_traced(trace_all(voxel), voxel_on_page);
  }

 private:
  struct prepared {
    geodesic_inputs inputs;
    std::vector<std::uint64_t> seed_voxels;  ///< voxel of each seed, increasing
    std::unique_ptr<tensor_field::field> field;
    std::unique_ptr<geodesic::tracker> tracker;
  };
  prepared& prepare();
  traced_rays trace_all(std::uint64_t voxel);

  const session& session_;
  const result_reader& result_;
  device device_;
  std::unique_ptr<prepared> prepared_;
};

ray_tracer::prepared& ray_tracer::prepare() {
  if (prepared_) return *prepared_;
  check_stored_inputs(stored_inputs(result_));
  auto p = std::make_unique<prepared>();
  p->inputs = read_geodesic_inputs(session_, stored_geodesic_request(result_), [&] { return device_; });
  if (p->inputs.grid.size != result_.grid().size)
    refuse_data("rays cannot be traced again: the inputs have another size now");
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

traced_rays ray_tracer::trace_all(std::uint64_t voxel) {
  prepared& p = prepare();
  const auto start = std::chrono::steady_clock::now();
  const auto [first, last] = std::equal_range(p.seed_voxels.begin(), p.seed_voxels.end(), voxel);
  const std::uint64_t directions = p.inputs.rays.directions_per_seed;
  traced_rays t;
  t.seeds = static_cast<std::uint64_t>(last - first);
  const std::uint64_t count = t.seeds * directions;
  if (count > max_rays)
    refuse_data("{} rays start in this voxel, more than the {} that the page traces", count, max_rays);
  const auto first_ray = static_cast<std::uint64_t>(first - p.seed_voxels.begin()) * directions;
  t.rays = score_rays(*p.tracker, first_ray, count, t.counts);
  rank_rays(t.rays);
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

/// All must outlive the panel. `use_device(d)` has been called.
std::unique_ptr<view::ray_panel> make_ray_panel(const session& s, const result_reader& r, const device& d) {
  return std::make_unique<ray_tracer>(s, r, d);
}

}  // namespace

extern const analysis_views geodesic_views{
    .analysis = "geodesic",
    .chapter = {report::write_geodesic_chapter, report::write_geodesic_methods},
    .bids = {.method = {"geodesics", "geodesic streamlines in the metric of the diffusion tensor"}},
    .viewer = {.make_ray_panel = make_ray_panel}};

}  // namespace voxherd
