#include "src/analyses/track/streamlines.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "kernels/track/path_recorder.hpp"
#include "src/analyses/track/matrix_steps.hpp"

namespace voxherd {

namespace {

/// Every (all / wanted)th of `all` things, exactly and without overflow: wanted of them. Those from number `first` on.
class even_choice {
 public:
  even_choice(std::uint64_t all, std::uint64_t wanted, std::uint64_t first)
      : all_(all), wanted_(wanted), place_(first) {
    using wide = unsigned __int128;
    const wide chosen_before = (wide{first} * wanted + all - 1) / all;
    next_ = static_cast<std::uint64_t>(chosen_before * all / wanted);
    rest_ = static_cast<std::uint64_t>(chosen_before * all % wanted);
  }

  /// Whether the next thing is chosen.
  bool take() {
    if (place_++ != next_) return false;
    next_ += all_ / wanted_;
    rest_ += all_ % wanted_;
    if (rest_ >= wanted_) {
      rest_ -= wanted_;
      ++next_;
    }
    return true;
  }

 private:
  std::uint64_t all_, wanted_, place_, next_ = 0, rest_ = 0;
};

/// How many streamlines were accepted before each group and, last, at all. Collective.
std::vector<std::uint64_t> count_accepted(const session& s, const std::vector<group_bits>& own, std::uint64_t groups) {
  std::vector<std::uint64_t> before(groups + 1);
  for (const auto& [group, words] : own)
    for (const std::uint32_t word : words) before[group + 1] += static_cast<std::uint64_t>(std::popcount(word));
  s.all_reduce(reduction::sum, std::span<std::uint64_t>(before));
  std::partial_sum(before.begin(), before.end(), before.begin());
  return before;
}

/// Whether a point, in voxels, is in the image: at most half a voxel from the centre of one of its voxels. Points
/// within a thousandth of a voxel of the border are not, so that no rounding of world coordinates puts them outside.
bool is_in_image(const std::array<float, 3>& point, const std::array<std::uint64_t, 3>& size) {
  constexpr double margin = 1e-3;
  for (std::size_t d = 0; d < 3; ++d) {
    const double x = static_cast<double>(point[d]);
    if (!(x > margin - 0.5 && x < static_cast<double>(size[d]) - 0.5 - margin)) return false;
  }
  return true;
}

/// Ends both halves with their last point before the first one outside the image, as readers of tractograms demand. A
/// region that is reached behind it is noted at the nearest free point of its half. What is counted does not change.
void keep_inside_image(const std::array<std::uint64_t, 3>& size, track::streamline_path& path) {
  const std::size_t points = path.points.size();
  if (points == 0) return;
  std::vector<bool> inside(points);
  for (std::size_t i = 0; i < points; ++i) inside[i] = is_in_image(path.points[i], size);
  for (std::size_t away = 0; !inside[path.start]; ++away) {  // a seed at the border may be moved out of the image
    if (away == points) {
      const auto regions = path.regions;
      path = {};
      path.regions = regions;
      return;
    }
    if (away <= path.start && inside[path.start - away])
      path.start -= away;
    else if (path.start + away < points && inside[path.start + away])
      path.start += away;
  }
  std::size_t first = path.start, last = path.start;
  while (first > 0 && inside[first - 1]) --first;
  while (last + 1 < points && inside[last + 1]) ++last;
  if (first == 0 && last + 1 == points) return;
  if (!path.reached.empty()) {
    std::size_t free = first;
    for (std::size_t i = first; i-- > 0;) {
      if (path.reached[i] == 0) continue;
      while (free < path.start && path.reached[free] != 0) ++free;
      if (free < path.start) path.reached[free] = path.reached[i];
    }
    free = last;
    for (std::size_t i = last + 1; i < points; ++i) {
      if (path.reached[i] == 0) continue;
      while (free > path.start && path.reached[free] != 0) --free;
      if (free > path.start) path.reached[free] = path.reached[i];
    }
    path.reached = {path.reached.begin() + static_cast<std::ptrdiff_t>(first),
                    path.reached.begin() + static_cast<std::ptrdiff_t>(last) + 1};
  }
  path.points = {path.points.begin() + static_cast<std::ptrdiff_t>(first),
                 path.points.begin() + static_cast<std::ptrdiff_t>(last) + 1};
  path.start -= first;
}

/// Finds the regions at the ends of streamlines.
class end_regions {
 public:
  explicit end_regions(const track_inputs& in) : matrix_(make_region_matrix(in)), columns_(matrix_.view(in)) {}

  /// Sets path.regions. The path has both ends, also outside the image.
  void find(track::streamline_path& path) const {
    if (path.points.empty()) return;
    path.regions = {find(path.points.front()), find(path.points.back())};
  }

 private:
  std::uint32_t find(const std::array<float, 3>& end) const {
    const float point[3] = {end[0], end[1], end[2]};
    return static_cast<std::uint32_t>(columns_.find_nearest(point) + 1);
  }

  seed_matrix matrix_;
  track::column_grid columns_;
};

/// The seed of a streamline.
std::uint64_t find_seed(std::uint64_t streamline, const track_inputs& in) {
  const track_draw& draw = in.draw_with_streamline(streamline);
  return draw.first_seed + (streamline - draw.first_streamline) / draw.plan.per_seed;
}

/// Calls use(item of the batch, path) for each of its streamlines, with the threads of the device. `ends`: finds the
/// regions of the paths; null: they have none, or those that the recorder finds.
template <class Use>
void record_batch(const track_inputs& in, const kept_streamlines& kept, const batch& items, int threads,
                  const end_regions* ends, const Use& use) {
  draw_masks masks(in);
  const auto* const numbers = &kept.numbers[items.first_item];
  for (std::uint64_t first = 0; first < items.item_count;) {
    const track_draw& draw = in.draw_with_streamline(numbers[first]);
    const auto* const last =
        std::lower_bound(numbers + first, numbers + items.item_count, draw.first_streamline + draw.plan.streamlines());
    const auto end = static_cast<std::uint64_t>(last - numbers);
    const track::track_input view = masks.view(draw);
#pragma omp parallel num_threads(threads)
    {
      track::path_recorder recorder(view);
      track::streamline_path path;
#pragma omp for schedule(dynamic, 16)
      for (std::uint64_t i = first; i < end; ++i) {
        recorder.record(numbers[i] - draw.first_streamline, path);
        if (ends != nullptr) ends->find(path);
        keep_inside_image(in.space.grid.size, path);
        use(i, path);
      }
    }
    first = end;
  }
}

struct streamline_outputs {
  using inputs = track_inputs;
  static bool has_labels(const inputs& in) { return !in.labels.empty(); }
  static bool has_tracts(const inputs& in) { return in.has_tracts(); }
  static bool joins_ends(const inputs& in) { return in.regions.at_ends; }

  static constexpr step_output<inputs> table[] = {
      {"position", element_type::float32, 3, "mm", "position in the world, RAS+", {.layout = output_layout::points}},
      {"reached",
       element_type::int32,
       1,
       "1",
       "label of the other region that the half first reaches at this point; 0: none",
       {.layout = output_layout::points, .when = has_labels}},
      {"seed", element_type::uint32, 1, "1", "number of the seed, from 0"},
      {"start", element_type::uint32, 1, "1", "number of the point, from 0, at which the streamline starts"},
      {"length", element_type::float32, 1, "mm", "length of the halves that count"},
      {"first_half", element_type::float32, 1, "mm", "length of the first half; 0 if it does not count"},
      {"second_half", element_type::float32, 1, "mm", "length of the second half; 0 if it does not count"},
      {"region", element_type::int32, 1, "1", "label of the region in which the seed is", {.when = has_labels}},
      {"first_region",
       element_type::int32,
       1,
       "1",
       "label of the last other region on the first half; 0: none",
       {.when = has_labels}},
      {"second_region",
       element_type::int32,
       1,
       "1",
       "label of the last other region on the second half; 0: none",
       {.when = has_labels}},
      {"regions",
       element_type::int32,
       2,
       "1",
       "labels of the regions at the end of the first half and of the second; 0: none",
       {.when = joins_ends}},
      {"tract",
       element_type::uint32,
       1,
       "1",
       "number of its tract, from 0, in the order of the maps",
       {.when = has_tracts}},
  };
};

class streamline_size_runner final : public batch_runner {
 public:
  streamline_size_runner(const track_inputs& in, const kept_streamlines& kept, int threads)
      : in_(in), kept_(kept), threads_(threads) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const auto out = arrays_in<size_outputs>(outputs);
    record_batch(in_, kept_, items, threads_, nullptr, [&](std::uint64_t i, const track::streamline_path& path) {
      out.put<"entries">(i, path.points.size());
    });
  }

 private:
  const track_inputs& in_;
  const kept_streamlines& kept_;
  int threads_;
};

class point_runner final : public batch_runner {
 public:
  point_runner(const track_inputs& in, const kept_streamlines& kept, int threads)
      : in_(in),
        kept_(kept),
        threads_(threads),
        world_(in.space.grid),
        chosen_(chosen_outputs<streamline_outputs>(in)) {
    if (in.regions.at_ends) ends_.emplace(in);
  }

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const auto out = arrays_in<streamline_outputs>(outputs, chosen_);
    const end_regions* const ends = ends_ ? &*ends_ : nullptr;
    record_batch(in_, kept_, items, threads_, ends, [&](std::uint64_t i, const track::streamline_path& path) {
      const std::uint64_t item = items.first_item + i;
      write_values(kept_.numbers[item], path, i, out);
      const std::uint64_t first = kept_.offsets[item] - kept_.offsets[items.first_item];
      write_points(path, out.values<"position">() + 3 * first);
      if (out.values<"reached">() != nullptr)
        std::transform(path.reached.begin(), path.reached.end(), out.values<"reached">() + first,
                       [&](std::uint32_t region) { return label_of(region); });
    });
  }

 private:
  void write_values(std::uint64_t number, const track::streamline_path& path, std::uint64_t i,
                    const output_arrays<streamline_outputs>& out) const {
    const std::uint64_t seed = find_seed(number, in_);
    const auto mm = [&](std::int32_t steps) { return static_cast<float>(steps * in_.step_mm); };
    out.put<"seed">(i, seed);
    out.put<"start">(i, path.start);
    out.put<"length">(i, mm(path.steps[0] + path.steps[1]));
    out.put<"first_half">(i, mm(path.steps[0]));
    out.put<"second_half">(i, mm(path.steps[1]));
    if (in_.has_tracts()) out.put<"tract">(i, in_.draw_with_streamline(number).tract);
    if (in_.regions.at_ends)
      for (std::size_t end = 0; end < 2; ++end) out.values<"regions">()[2 * i + end] = label_of(path.regions[end]);
    if (in_.labels.empty()) return;
    out.put<"region">(i, label_of(in_.seed(seed).region));
    out.put<"first_region">(i, label_of(path.regions[0]));
    out.put<"second_region">(i, label_of(path.regions[1]));
  }

  /// 0 for no region.
  std::int32_t label_of(std::uint32_t region) const {
    return region == 0 ? 0 : static_cast<std::int32_t>(in_.region_labels()[region - 1]);
  }

  void write_points(const track::streamline_path& path, float* to) const {
    for (const auto& p : path.points) {
      const vector3 voxel = {static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2])};
      for (const double mm : world_.to_world(voxel)) *to++ = static_cast<float>(mm);
    }
  }

  const track_inputs& in_;
  const kept_streamlines& kept_;
  int threads_;
  grid_space world_;
  output_choice<streamline_outputs> chosen_;
  std::optional<end_regions> ends_;
};

/// Items are the kept streamlines.
class kept_items : public analysis {
 public:
  kept_items(const track_inputs& in, const kept_streamlines& kept, const device& d)
      : in_(in), kept_(kept), threads_(d.threads) {
    for (const std::uint64_t number : kept.numbers) voxels_.push_back(in.seed_voxel(find_seed(number, in)));
  }
  const image_grid& grid() const override { return in_.space.grid.in_file(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::size_t device_bytes_per_item() const override { return 64; }
  std::uint64_t max_items_per_batch() const override { return 4096; }
  bool may_be_empty() const override { return true; }

 protected:
  const track_inputs& in_;
  const kept_streamlines& kept_;
  int threads_;

 private:
  std::vector<std::uint64_t> voxels_;
};

class kept_sizes final : public kept_items {
 public:
  using kept_items::kept_items;
  std::string name() const override { return "track-streamline-sizes"; }
  std::vector<output_spec> outputs() const override { return output_specs<size_outputs>(); }
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<streamline_size_runner>(in_, kept_, threads_);
  }
};

class kept_points final : public kept_items {
 public:
  using kept_items::kept_items;
  std::string name() const override { return "track-streamlines"; }
  std::vector<constant> constants() const override {
    if (in_.labels.empty() && !in_.regions.at_ends) return {};
    const std::vector<std::int64_t>& labels = in_.region_labels();
    return {{"labels",
             {labels.size()},
             {labels.begin(), labels.end()},
             "1",
             "labels of all regions, also of those without streamlines",
             "regions"}};
  }
  std::vector<std::uint64_t> point_offsets() const override { return kept_.offsets; }
  std::vector<output_spec> outputs() const override { return output_specs<streamline_outputs>(in_); }
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<point_runner>(in_, kept_, threads_);
  }
};

}  // namespace

std::vector<std::uint64_t> choose_streamlines(const session& s, const std::vector<group_bits>& own,
                                              const track_inputs& in) {
  const std::vector<std::uint64_t> before = count_accepted(s, own, in.groups());
  const std::uint64_t accepted = before.back();
  std::vector<std::uint64_t> numbers;
  for (const auto& [group, words] : own) {
    if (before[group] == before[group + 1]) continue;
    even_choice choice(accepted, std::min(accepted, in.max_kept), before[group]);
    const track_draw& draw = in.draw_with_group(group);
    const std::uint64_t first = draw.first_streamline + (group - draw.first_group) * draw.plan.per_group;
    for (std::size_t i = 0; i < words.size(); ++i)
      for (std::uint32_t left = words[i]; left != 0; left &= left - 1)
        if (choice.take()) numbers.push_back(first + 32 * i + static_cast<std::uint64_t>(std::countr_zero(left)));
  }
  numbers = s.all_gather(numbers);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void add_streamline_steps(const session& s, const std::string& file, const std::shared_ptr<kept_streamlines>& kept,
                          const track_inputs& in, const device& d, step_list& steps) {
  add_size_step(
      s, "streamline-sizes", "streamline", [&in, kept, d] { return std::make_unique<kept_sizes>(in, *kept, d); },
      [kept](std::vector<std::uint64_t> offsets, nlohmann::json& summary) {
        kept->offsets = std::move(offsets);
        summary["kept_streamlines"] = kept->numbers.size();
      },
      steps);
  steps
      .run_into("--paths", file, "track-streamlines", "streamlines",
                [&in, kept, d] { return std::make_unique<kept_points>(in, *kept, d); })
      .describe("streamline");
}

}  // namespace voxherd
