#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/device/each_cpu.hpp"
#include "kernels/perfusion/converter.hpp"
#include "kernels/perfusion/cpu_lanes.hpp"
#include "kernels/perfusion/finisher.hpp"
#include "kernels/perfusion/lane_fit.hpp"
#include "kernels/perfusion/linear_fitter.hpp"
#include "kernels/perfusion/paper/block_fft_fit.hpp"
#include "kernels/perfusion/paper/block_fft_plan.hpp"
#include "kernels/perfusion/perfusion.hpp"
#include "kernels/perfusion/start_list.hpp"
#include "kernels/perfusion/start_search.hpp"

namespace voxherd::perfusion {

/// Voxels that a thread processes in all stages at once: many more than one register's lanes, so that the last lanes to
/// end cost little, and few enough to stay in its cache.
inline constexpr std::size_t tile_voxels = 256;

/// One thread's memory.
template <int Count>
class tile {
 public:
  tile(int frames, int starts)
      : floats_(tile_voxels * fit_arrays::floats_per_voxel(frames)),
        doubles_(tile_voxels * fit_arrays::doubles_per_voxel(starts, Count)),
        iterations_(tile_voxels * static_cast<std::size_t>(starts)),
        bytes_(tile_voxels * static_cast<std::size_t>(starts + 1)) {
    arrays.frames = frames;
    arrays.starts = starts;
    arrays.parameters = Count;
  }

  void resize(std::size_t count) {
    const auto starts = static_cast<std::size_t>(arrays.starts);
    arrays.count = count;
    arrays.samples = floats_.data();
    arrays.t1_s = arrays.samples + tile_voxels * static_cast<std::size_t>(arrays.frames);
    arrays.S0 = arrays.t1_s + tile_voxels;
    arrays.p = doubles_.data();
    arrays.cost = arrays.p + Count * starts * count;
    arrays.iterations = iterations_.data();
    arrays.status = bytes_.data();
    arrays.exit_code = arrays.status + count;
  }

  fit_arrays arrays;

 private:
  std::vector<float> floats_;
  std::vector<double> doubles_;
  std::vector<std::uint32_t> iterations_;
  std::vector<std::uint8_t> bytes_;
};

/// The stages of a batch on the CPU, a tile of voxels at a time.
template <class Tissue, class Number>
class cpu_fitter final : public fitter {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;
  static constexpr int lanes = lane::lane_traits<Number>::count, count = parameter_count<Tissue>;

  cpu_fitter(const device& d, const time_course& t, const conversion& convert, const fit_settings& s)
      : settings_(s),
        table_(t),
        view_(table_.view()),
        start_list_(list_starts<Tissue>(s)),
        limits_(s),
        converter_(convert, view_.frames, table_.counts().data()),
        row_floats_(t.frames() + static_cast<std::size_t>(convert.extras())),
        threads_(d.threads) {
    if (s.convolution == convolution_kind::block_fft) plan_.emplace(block_fft_shape_of(view_.frames));
    if constexpr (is_washout<Tissue>)
      if (s.solver == solver_kind::linear) linear_.emplace(t, given_delays<Tissue>(s));
    if constexpr (has_papers_convolutions<Tissue>)
      if (s.starts > 0) dictionary_.emplace(t, s);
  }

  void fit(std::size_t voxels, const float* rows, std::span<void* const> arrays) override {
    output_arrays_of<Tissue> out;
    std::copy_n(arrays.begin(), out.count, out.array);
    out.limit_to(voxels);
    const std::size_t tiles = (voxels + tile_voxels - 1) / tile_voxels;
    each_team_on_cpu(threads_, tiles, 1, [&] {
      return [&, work = std::make_shared<tile<count>>(view_.frames, std::max(1, settings_.starts))](std::size_t n) {
        const std::size_t first = n * tile_voxels;
        work->resize(std::min(tile_voxels, voxels - first));
        prepare(rows + first * row_floats_, work->arrays);
        fit_items(work->arrays);
        with_model<Tissue, Number>(settings_, view_.spacing_s > 0,
                                   [&]<class Model>() { finish<Model>(work->arrays, first, out); });
      };
    });
  }

 private:
  void prepare(const float* rows, const fit_arrays& a) const {
    for (std::size_t v = 0; v < a.count; ++v) {
      float* samples = a.samples + v * static_cast<std::size_t>(a.frames);
      const converted c = converter_(signal_row{rows + v * row_floats_, 1}.limited_to(row_floats_), samples, 1);
      a.status[v] = static_cast<std::uint8_t>(c.status);
      a.t1_s[v] = static_cast<float>(c.t1_s);
      a.S0[v] = static_cast<float>(c.S0);
      for (int start = 0; start < a.starts; ++start)
        for (int i = 0; i < count; ++i)
          a.p[place_of_parameter(a, start, i, v)] = start_list_[static_cast<std::size_t>(start * count + i)];
    }
    if (dictionary_) search(a);
  }

  /// One voxel per lane.
  void search(const fit_arrays& a) const {
    constexpr int wide = lane::lane_traits<lane::float_lanes>::count;
    const start_table_view view = dictionary_->view();
    lane_columns<wide> columns(a.frames);
    double found[max_starts * start_tissue::count * wide];
    for (std::size_t v = 0; v < a.count; v += static_cast<std::size_t>(wide)) {
      columns.take(a, v);
      with_start_search<lane::float_lanes>(
          view, a.starts, [&](const auto& s) { s(columns.samples(), a.starts, found, std::size_t{wide}); });
      for (int n = 0; n < a.starts * start_tissue::count; ++n)
        for (int l = 0; l < columns.used(); ++l)
          a.p[static_cast<std::size_t>(n) * a.count + v + static_cast<std::size_t>(l)] = found[n * wide + l];
    }
  }

  void fit_items(const fit_arrays& a) const {
    if constexpr (is_washout<Tissue>)
      if (linear_) return fit_linearly(a);
    if constexpr (is_double<Number> && has_papers_convolutions<Tissue>)
      if (plan_) return fit_by_block_fft(view_, *plan_, limits_, a);
    with_machine_and_model<Tissue, Number>(settings_, view_.spacing_s > 0, [&]<class Machine, class Model>() {
      const Model model(view_);
      cpu_lanes<Number, count> own(a);
      fit_on_lanes(Machine(limits_), model, own);
    });
  }

  void fit_linearly(const fit_arrays& a) const {
    using lane::double_lanes;
    constexpr int wide = lane::lane_traits<double_lanes>::count;
    const linear_fitter<Tissue, double_lanes> fit_row(linear_->view(), settings_);
    lane_columns<wide> columns(a.frames);
    for (std::size_t v = 0; v < a.count; v += static_cast<std::size_t>(wide)) {
      columns.take(a, v);
      const auto fits = fit_row(columns.samples());
      for (int l = 0; l < columns.used(); ++l) keep_linear_fit(fits, l, a, v + static_cast<std::size_t>(l));
    }
  }

  template <class Model>
  void finish(const fit_arrays& a, std::size_t first, const output_arrays_of<Tissue>& out) const {
    const Model model(view_);
    const judge<Tissue, Model, Number> judged(model, view_, limits_);
    lane_columns<lanes> columns(a.frames);
    for (std::size_t v = 0; v < a.count; v += static_cast<std::size_t>(lanes)) {
      columns.take(a, v);
      Number p[count] = {};
      for (int l = 0; l < columns.used(); ++l) {
        const std::size_t voxel = v + static_cast<std::size_t>(l);
        const int best = best_start(a, voxel);
        for (int i = 0; i < count; ++i)
          lane::put(p[i], l, static_cast<scalar>(a.p[place_of_parameter(a, best, i, voxel)]));
      }
      const judgement<Tissue, Number> j = judged(p, columns.samples());
      for (int l = 0; l < columns.used(); ++l) store(a, v + static_cast<std::size_t>(l), p, j, l, first, out);
    }
  }

  void store(const fit_arrays& a, std::size_t voxel, const Number (&p)[count], const judgement<Tissue, Number>& j,
             int l, std::size_t first, const output_arrays_of<Tissue>& out) const {
    if (a.status[voxel] != 0) return store_nothing<Tissue>(out, first + voxel, a.status[voxel]);
    if (lane::get(j.singular, l))
      return store_nothing<Tissue>(out, first + voxel, static_cast<std::uint8_t>(voxel_status::singular));
    store_fit<Tissue>(p, j, l, out, first + voxel);
    store_facts<Tissue>(a, voxel, out, first + voxel);
  }

  fit_settings settings_;
  curves_table<scalar> table_;
  curves_view<scalar> view_;
  std::vector<double> start_list_;  ///< [start][parameter]
  fit_limits<scalar, count> limits_;
  voxel_converter converter_;
  std::size_t row_floats_;
  int threads_;
  std::optional<block_fft_plan> plan_;  ///< for that convolution
  std::optional<linear_table> linear_;  ///< for that solver
  std::optional<start_table> dictionary_;
};

}  // namespace voxherd::perfusion
