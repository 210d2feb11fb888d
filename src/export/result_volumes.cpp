#include "src/export/export_plan.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/failure.hpp"

namespace voxherd {

namespace {

constexpr std::size_t rows_bytes = std::size_t{4} << 20;  // read at once while columns are extracted

}  // namespace

void require_complete(const result_reader& result) {
  const auto& journal = result.journal();
  const auto done = std::count_if(journal.begin(), journal.end(), [](const journal_entry& e) { return e.done == 1; });
  if (static_cast<std::size_t>(done) == journal.size()) {
    result.check_batches();
    return;
  }
  // bedpostx resumes by itself and has no such option.
  const bool of_bedpostx = result.path().find(".bedpostX/") != std::string::npos;
  refuse_data("{}: {} of {} batches are done, expected all; {} first", result.path(), done, journal.size(),
              of_bedpostx ? "repeat the command that started it" : "complete it with --resume");
}

result_volumes::result_volumes(const std::string& path, std::size_t chunk_bytes)
    : result_(path), chunk_bytes_(chunk_bytes) {
  require_complete(result_);
}

std::size_t result_volumes::components(const std::string& output) const {
  const output_spec& o = result_.output(output);
  return o.bytes_per_item() / element_bytes(o.type);
}

int result_volumes::count(const std::string& name) const {
  int n = 0;
  while (has(fmt::format("{}{}", name, n + 1))) ++n;
  return n;
}

std::vector<float> result_volumes::map(const std::string& name, std::uint64_t expected) const {
  const std::size_t width = components(name), voxels = grid().voxel_count();
  std::vector<float> values;
  {
    const std::lock_guard turn(reading_);
    values = result_.read_map(name, expected);
  }
  if (width == 1) return values;
  std::vector<float> planes(values.size());
  for (std::size_t c = 0; c < width; ++c)
    for (std::size_t v = 0; v < voxels; ++v) planes[c * voxels + v] = values[v * width + c];
  return planes;
}

std::vector<float> result_volumes::mask() const {
  std::vector<float> inside(grid().voxel_count(), 0.0f);
  for (const std::uint64_t voxel : result_.image_voxels()) inside[voxel] = 1;
  return inside;
}

/// Reads samples [first, first + columns.size() / items) of an output, sample by sample.
void result_volumes::read_columns(const std::string& output, std::size_t first, std::span<float> columns) const {
  const std::size_t items = result_.item_voxels().size(), width = components(output);
  if (items == 0) return;
  const std::size_t samples = columns.size() / items;
  const std::size_t rows = std::max(std::size_t{1}, rows_bytes / (width * sizeof(float)));
  for (std::size_t item = 0; item < items; item += rows) {
    const std::size_t n = std::min(rows, items - item);
    std::vector<float> values;
    {
      const std::lock_guard turn(reading_);
      values = result_.read_items(output, item, n);
    }
    for (std::size_t s = 0; s < samples; ++s)
      for (std::size_t i = 0; i < n; ++i) columns[s * items + item + i] = values[i * width + first + s];
  }
}

void result_volumes::samples(const std::vector<std::string>& outputs, const volume_sink& sink) const {
  const auto& voxels = result_.image_voxels();
  const std::size_t items = voxels.size(), width = components(outputs.front());
  for (const std::string& name : outputs)
    if (components(name) != width)
      refuse_data("{}: {} and {} have different numbers of samples; is it a complete copy of a voxherd result?",
                  result_.path(), outputs.front(), name);
  const std::size_t at_once = std::clamp(
      chunk_bytes_ / (std::max<std::size_t>(1, items) * outputs.size() * sizeof(float)), std::size_t{1}, width);
  std::vector<float> chunk(at_once * outputs.size() * items), volume(grid().voxel_count(), 0.0f);
  for (std::size_t first = 0; first < width; first += at_once) {
    const std::size_t n = std::min(at_once, width - first);
    for (std::size_t k = 0; k < outputs.size(); ++k)
      read_columns(outputs[k], first, std::span(chunk).subspan(k * at_once * items, n * items));
    for (std::size_t s = 0; s < n; ++s) {
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        const float* values = chunk.data() + (k * at_once + s) * items;
        for (std::size_t i = 0; i < items; ++i) volume[voxels[i]] = values[i];
        sink(volume);
      }
    }
  }
}

}  // namespace voxherd
