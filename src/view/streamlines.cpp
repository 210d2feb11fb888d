#include "src/view/streamlines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/failure.hpp"
#include "src/export/fibres.hpp"
#include "src/io/temporary_folder.hpp"
#include "src/io/tracts/tracts.hpp"
#include "src/show/fibres.hpp"
#include "src/show/grid_view.hpp"
#include "src/view/answers.hpp"
#include "src/view/connection.hpp"

namespace voxherd::view {

namespace {

using nlohmann::json;

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

std::vector<float> read_positions(const fibre_source& fibres) {
  std::vector<float> mm(3 * fibres.points());
  fibres.read_positions(0, mm);
  return mm;
}

/// An output with one number per fibre or per point.
std::vector<float> read_measure(const fibre_source& fibres, const output_spec& o) {
  const fibre_array array{o.name, o.type, 1};
  const bool along = o.layout == output_layout::points;
  std::vector<std::byte> rows((along ? fibres.points() : fibres.fibres()) * array.row_bytes());
  along ? fibres.read_point_rows(array, 0, rows) : fibres.read_fibre_rows(array, 0, rows);
  return as_floats(o.type, rows);
}

std::string send_items(const result_reader& r, const page_grid& grid, const std::vector<std::uint64_t>& items,
                       std::uint64_t stored) {
  const result_fibres fibres(r, items);
  std::vector<std::uint32_t> starts;
  for (const std::uint64_t item : items)
    starts.push_back(static_cast<std::uint32_t>(grid.on_page(r.item_voxels()[item])));
  const auto measures = list_measures(r, output_layout::items), along = list_measures(r, output_layout::points);
  std::string block = begin_block({{"fibres", items.size()},
                                   {"points", fibres.points()},
                                   {"stored", stored},
                                   {"measures", as_json(measures)},
                                   {"along", as_json(along)}});
  append(block, std::vector<std::uint32_t>(fibres.offsets().begin(), fibres.offsets().end()));
  append(block, read_positions(fibres));
  append(block, starts);
  for (const output_spec& o : measures) append(block, read_measure(fibres, o));
  for (const output_spec& o : along) append(block, read_measure(fibres, o));
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
  const result_fibres chosen(r, thin_out(r, find_fibres(r), max_streamlines));
  const std::vector<float> mm = read_positions(chosen);
  std::vector<report::fibre> fibres(chosen.fibres());
  for (std::size_t f = 0; f < fibres.size(); ++f)
    for (std::uint64_t p = chosen.offsets()[f]; p < chosen.offsets()[f + 1]; ++p)
      fibres[f].mm.push_back(view.place_mm({mm[3 * p], mm[3 * p + 1], mm[3 * p + 2]}));
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

}  // namespace

std::string make_trx(const fibre_source& fibres) {
  const temporary_folder folder("view");
  const std::string path = folder.file("paths.trx");
  write_trx(fibres, path);
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || bytes.size() != std::filesystem::file_size(path)) fail_on_disk("{}: cannot be read", path);
  return bytes;
}

std::string make_trx(const fibre_set& fibres, const image_grid& grid) { return make_trx(solved_fibres(fibres, grid)); }

}  // namespace voxherd::view
