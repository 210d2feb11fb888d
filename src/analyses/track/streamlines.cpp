#include "src/analyses/track/streamlines.hpp"

#include <omp.h>

#include <algorithm>

#include "kernels/track/path_recorder.hpp"
#include "src/analyses/track/matrix.hpp"

namespace voxherd {

namespace {

/// Every (all / wanted)th of `all` things, exactly and without overflow: wanted of them.
class even_choice {
 public:
  even_choice(std::uint64_t all, std::uint64_t wanted) : all_(all), wanted_(wanted) {}

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
  std::uint64_t all_, wanted_, place_ = 0, next_ = 0, rest_ = 0;
};

/// Calls use(number) for each accepted streamline, in their order.
template <class Use>
void for_each_accepted(const result_reader& groups, const track_inputs& in, const Use& use) {
  for (std::uint64_t g = 0; g < in.plan.groups(); ++g) {
    const auto words = groups.read_rows<std::uint32_t>("accepted_bits", g, 1);
    for (std::size_t i = 0; i < words.size(); ++i)
      for (std::uint32_t left = words[i]; left != 0; left &= left - 1)
        use(g * in.plan.per_group + 32 * i + static_cast<std::uint64_t>(__builtin_ctz(left)));
  }
}

/// Calls use(item of the batch, path) for each of its streamlines, with the threads of the device.
template <class Use>
void record_batch(const track_inputs& in, const kept_streamlines& kept, const batch& items, int threads,
                  const Use& use) {
#pragma omp parallel num_threads(threads)
  {
    track::path_recorder recorder(in.view());
    track::streamline_path path;
#pragma omp for schedule(dynamic, 16)
    for (std::uint64_t i = 0; i < items.item_count; ++i) {
      recorder.record(kept.numbers[items.first_item + i], path);
      use(i, path);
    }
  }
}

class size_runner final : public batch_runner {
 public:
  size_runner(const track_inputs& in, const kept_streamlines& kept, int threads)
      : in_(in), kept_(kept), threads_(threads) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    auto* sizes = output_array<std::uint32_t>(outputs, 0);
    record_batch(in_, kept_, items, threads_, [&](std::uint64_t i, const track::streamline_path& path) {
      sizes[i] = static_cast<std::uint32_t>(path.points.size());
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
      : in_(in), kept_(kept), threads_(threads), world_(in.space.grid) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    auto* position = output_array<float>(outputs, 0);
    record_batch(in_, kept_, items, threads_, [&](std::uint64_t i, const track::streamline_path& path) {
      const std::uint64_t item = items.first_item + i;
      write_values(kept_.numbers[item], path, i, outputs);
      write_points(path, position + 3 * (kept_.offsets[item] - kept_.offsets[items.first_item]));
    });
  }

 private:
  void write_values(std::uint64_t number, const track::streamline_path& path, std::uint64_t i,
                    std::span<const std::span<std::byte>> outputs) const {
    const std::uint64_t seed = number / in_.plan.per_seed;
    const auto mm = [&](std::int32_t steps) { return static_cast<float>(steps * in_.step_mm); };
    output_array<std::uint32_t>(outputs, 1)[i] = static_cast<std::uint32_t>(seed);
    output_array<float>(outputs, 2)[i] = mm(path.steps[0] + path.steps[1]);
    for (std::size_t h = 0; h < 2; ++h) output_array<float>(outputs, 3 + h)[i] = mm(path.steps[h]);
    if (in_.labels.empty()) return;
    const auto label = [&](std::uint32_t region) {
      return region == 0 ? 0 : static_cast<std::int32_t>(in_.labels[region - 1]);
    };
    output_array<std::int32_t>(outputs, 5)[i] = label(in_.seeds[seed].region);
    for (std::size_t h = 0; h < 2; ++h) output_array<std::int32_t>(outputs, 6 + h)[i] = label(path.regions[h]);
  }

  void write_points(const track::streamline_path& path, float* to) const {
    for (const auto& p : path.points) {
      const vector3 voxel = {static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2])};
      for (const double mm : world_.to_world(in_.space.to_seeds(voxel))) *to++ = static_cast<float>(mm);
    }
  }

  const track_inputs& in_;
  const kept_streamlines& kept_;
  int threads_;
  grid_space world_;
};

/// Items are the kept streamlines.
class kept_items : public analysis {
 public:
  kept_items(const track_inputs& in, const kept_streamlines& kept, const device& d)
      : in_(in), kept_(kept), threads_(d.threads) {
    for (const std::uint64_t number : kept.numbers) voxels_.push_back(in.seeds[number / in.plan.per_seed].index);
  }
  const image_grid& grid() const override { return in_.space.grid; }
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
  std::vector<output_spec> outputs() const override {
    return {{"entries", element_type::uint32, {}, output_layout::items, "1", "points of the streamline"}};
  }
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<size_runner>(in_, kept_, threads_);
  }
};

class kept_points final : public kept_items {
 public:
  using kept_items::kept_items;
  std::string name() const override { return "track-streamlines"; }
  std::vector<std::uint64_t> point_offsets() const override { return kept_.offsets; }
  std::vector<output_spec> outputs() const override;
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<point_runner>(in_, kept_, threads_);
  }
};

std::vector<output_spec> kept_points::outputs() const {
  const auto value = [](const char* name, element_type type, const char* unit, const char* meaning) {
    return output_spec{name, type, {}, output_layout::items, unit, meaning};
  };
  constexpr auto real = element_type::float32, label = element_type::int32;
  std::vector<output_spec> all = {
      {"position", real, {3}, output_layout::points, "mm", "place in the world, RAS+"},
      value("seed", element_type::uint32, "1", "number of the seed, from 0"),
      value("length", real, "mm", "length of the halves that count"),
      value("first_half", real, "mm", "length of the first half; 0 if it does not count"),
      value("second_half", real, "mm", "length of the second half; 0 if it does not count")};
  if (in_.labels.empty()) return all;
  all.push_back(value("region", label, "1", "label of the seed"));
  all.push_back(value("first_region", label, "1", "label of the last other region on the first half; 0: none"));
  all.push_back(value("second_region", label, "1", "label of the last other region on the second half; 0: none"));
  return all;
}

}  // namespace

std::vector<std::uint64_t> choose_streamlines(const session& s, const std::string& file, const track_inputs& in) {
  std::vector<std::uint64_t> numbers;
  s.on_root([&] {
    const result_reader groups(file, tables::walked_or_own);
    std::uint64_t accepted = 0;
    for_each_accepted(groups, in, [&](std::uint64_t) { ++accepted; });
    even_choice choice(accepted, std::min(accepted, in.max_kept));
    for_each_accepted(groups, in, [&](std::uint64_t number) {
      if (choice.take()) numbers.push_back(number);
    });
  });
  s.broadcast(numbers);
  return numbers;
}

void add_streamline_steps(const session& s, const std::string& file, const std::shared_ptr<kept_streamlines>& kept,
                          const track_inputs& in, const device& d, step_list& steps) {
  steps.run(
      "streamline-sizes", [&in, kept, d] { return std::make_unique<kept_sizes>(in, *kept, d); },
      [&s, kept](const std::string& sizes, nlohmann::json& summary) {
        kept->offsets = read_sizes<std::uint32_t>(s, sizes);
        summary["kept_streamlines"] = kept->numbers.size();
      });
  steps.describe("streamline");
  steps.run_into(file, "track-streamlines", "streamlines",
                 [&in, kept, d] { return std::make_unique<kept_points>(in, *kept, d); });
  steps.describe("streamline");
}

}  // namespace voxherd
