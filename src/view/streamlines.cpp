#include "src/view/streamlines.hpp"

#include <fmt/core.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/failure.hpp"
#include "src/export/fibres.hpp"
#include "src/io/tracts/tracts.hpp"
#include "src/show/fibres.hpp"
#include "src/show/grid_view.hpp"
#include "src/view/answers.hpp"
#include "src/view/connection.hpp"

namespace voxherd::view {

namespace {

using nlohmann::json;

constexpr auto position = "position";

/// Outputs with one number per fibre or, `along`, per point.
std::vector<output_spec> list_measures(const result_reader& r, output_layout layout) {
  constexpr std::size_t max_measures = 12;
  std::vector<output_spec> measures;
  for (const output_spec& o : r.outputs())
    if (o.layout == layout && o.shape.empty() && measures.size() < max_measures) measures.push_back(o);
  return measures;
}

json as_json(const std::vector<output_spec>& measures) {
  json list = json::array();
  for (const output_spec& o : measures) list.push_back({{"name", o.name}, {"unit", o.unit}, {"meaning", o.meaning}});
  return list;
}

bool is_batch_finished(const result_reader& r, std::size_t batch) {
  return r.complete() || (batch < r.journal().size() && r.journal()[batch].done == 1);
}

std::uint64_t point_count(const result_reader& r, std::uint64_t item) {
  return r.point_offsets()[item + 1] - r.point_offsets()[item];
}

/// Every k-th one, so that neither fibres nor points are too many.
std::vector<std::uint64_t> thin_out(const result_reader& r, const std::vector<std::uint64_t>& items,
                                    std::uint64_t count) {
  std::uint64_t points = 0;
  for (const std::uint64_t item : items) points += point_count(r, item);
  count = std::clamp<std::uint64_t>(count, 1, max_streamlines);
  const std::uint64_t step = std::max<std::uint64_t>(
      {1, (items.size() + count - 1) / count, (points + max_streamline_points - 1) / max_streamline_points});
  std::vector<std::uint64_t> chosen;
  std::uint64_t sent = 0;
  for (std::uint64_t i = 0; i < items.size(); i += step) {
    sent += point_count(r, items[i]);
    if (sent > max_streamline_points) break;
    chosen.push_back(items[i]);
  }
  return chosen;
}

/// Values of some items: all rows at once if most of them are wanted, since each reading takes time.
std::vector<float> read_measure(const result_reader& r, const std::string& name,
                                const std::vector<std::uint64_t>& items) {
  constexpr std::uint64_t max_rows = std::uint64_t{1} << 22;
  const std::uint64_t stored = r.item_voxels().size();
  std::vector<float> values, all;
  if (stored <= max_rows) all = r.read_items(name, 0, stored);
  for (const std::uint64_t item : items)
    values.push_back(all.empty() ? r.read_items(name, item, 1).front() : all[item]);
  return values;
}

std::vector<float> read_points(const result_reader& r, const std::string& name,
                               const std::vector<std::uint64_t>& items) {
  std::vector<float> values;
  for (const std::uint64_t item : items) {
    const std::vector<float> one = r.read_points(name, r.point_offsets()[item], point_count(r, item));
    values.insert(values.end(), one.begin(), one.end());
  }
  return values;
}

std::string send_items(const result_reader& r, const page_grid& grid, const std::vector<std::uint64_t>& items,
                       std::uint64_t stored) {
  std::vector<std::uint32_t> offsets{0}, starts;
  for (const std::uint64_t item : items) {
    offsets.push_back(offsets.back() + static_cast<std::uint32_t>(point_count(r, item)));
    starts.push_back(static_cast<std::uint32_t>(grid.on_page(r.item_voxels()[item])));
  }
  const auto measures = list_measures(r, output_layout::items), along = list_measures(r, output_layout::points);
  std::string block = begin_block({{"fibres", items.size()},
                                   {"points", offsets.back()},
                                   {"stored", stored},
                                   {"measures", as_json(measures)},
                                   {"along", as_json(along)}});
  append(block, offsets);
  append(block, read_points(r, position, items));
  append(block, starts);
  for (const output_spec& o : measures) append(block, read_measure(r, o.name, items));
  for (const output_spec& o : along) append(block, read_points(r, o.name, items));
  return block;
}

}  // namespace

std::vector<std::uint64_t> find_fibres(const result_reader& r) {
  std::vector<std::uint64_t> items;
  for (std::size_t b = 0; b < r.batches().size(); ++b)
    for (std::uint64_t i = 0; is_batch_finished(r, b) && i < r.batches()[b].item_count; ++i) {
      const std::uint64_t item = r.batches()[b].first_item + i, points = point_count(r, item);
      if (points >= 2 && points <= max_streamline_points) items.push_back(item);
    }
  return items;
}

bool is_measure(const result_reader& r, const std::string& name) {
  const auto measures = list_measures(r, output_layout::items);
  return std::any_of(measures.begin(), measures.end(), [&](const output_spec& o) { return o.name == name; });
}

bool has_streamlines(const result_reader& r) { return has_fibres(r) && r.point_count() > 0; }

json describe_streamlines(const result_reader& r) {
  if (!has_streamlines(r)) return nullptr;
  return {{"stored", r.item_voxels().size()}, {"measures", as_json(list_measures(r, output_layout::items))}};
}

std::string send_streamlines(const result_reader& r, const page_grid& grid, const std::vector<std::uint64_t>& items,
                             std::uint64_t count) {
  return send_items(r, grid, thin_out(r, items, count), items.size());
}

std::string send_rays(const result_reader& r, const page_grid& grid, std::uint64_t voxel) {
  std::vector<std::uint64_t> items = find_fibres(r);
  std::erase_if(items, [&](std::uint64_t item) { return r.item_voxels()[item] != voxel; });
  return send_items(r, grid, thin_out(r, items, max_streamlines), items.size());
}

std::vector<float> count_streamlines(const result_reader& r) {
  const report::grid_view view(r.grid());
  std::vector<report::fibre> fibres;
  for (const std::uint64_t item : thin_out(r, find_fibres(r), max_streamlines)) {
    const std::vector<float> mm = r.read_points(position, r.point_offsets()[item], point_count(r, item));
    report::fibre f;
    for (std::size_t k = 0; k + 2 < mm.size(); k += 3) f.mm.push_back(view.place_mm({mm[k], mm[k + 1], mm[k + 2]}));
    fibres.push_back(std::move(f));
  }
  return report::count_fibres(view, fibres);
}

namespace {

namespace fs = std::filesystem;

class solved_fibres final : public fibre_source {
 public:
  solved_fibres(const fibre_set& fibres, const image_grid& grid) : fibres_(fibres), grid_(grid) {}

  const image_grid& grid() const override { return grid_; }
  std::span<const std::uint64_t> offsets() const override { return fibres_.offsets; }
  const std::vector<fibre_array>& fibre_arrays() const override { return costs_; }
  const std::vector<fibre_array>& point_arrays() const override { return none_; }
  void read_positions(std::uint64_t first_point, std::span<float> mm) const override {
    std::copy_n(fibres_.position_mm.data() + 3 * first_point, mm.size(), mm.data());
  }
  void read_fibre_rows(const fibre_array&, std::uint64_t first, std::span<std::byte> rows) const override {
    std::memcpy(rows.data(), fibres_.cost.data() + first, rows.size());
  }
  void read_point_rows(const fibre_array&, std::uint64_t, std::span<std::byte>) const override {}

 private:
  const fibre_set& fibres_;
  const image_grid& grid_;
  std::vector<fibre_array> costs_{{"cost", element_type::float32, 1}}, none_;
};

/// A folder that only this user can read; removed with what is in it.
class temporary_folder {
 public:
  temporary_folder() {
    path_ = (fs::temp_directory_path() / "voxherd-view-XXXXXX").string();
    if (!mkdtemp(path_.data())) throw failure(exit_status::disk, fmt::format("{}: cannot be created", path_));
  }
  ~temporary_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace

std::string make_trx(const fibre_source& fibres) {
  const temporary_folder folder;
  const std::string path = folder.file("paths.trx");
  write_trx(fibres, path);
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || bytes.size() != fs::file_size(path))
    throw failure(exit_status::disk, fmt::format("{}: cannot be read", path));
  return bytes;
}

std::string make_trx(const fibre_set& fibres, const image_grid& grid) { return make_trx(solved_fibres(fibres, grid)); }

}  // namespace voxherd::view
