#include "src/analyses/perfusion/series_rows.hpp"

#include <algorithm>
#include <iterator>

namespace voxherd {

namespace {

std::vector<std::uint64_t> places_in(const std::vector<std::uint64_t>& all, const std::vector<std::uint64_t>& some) {
  std::vector<std::uint64_t> places;
  if (some.size() == all.size()) return places;
  places.reserve(some.size());
  auto at = all.begin();
  for (const std::uint64_t voxel : some) {
    at = std::lower_bound(at, all.end(), voxel);
    places.push_back(static_cast<std::uint64_t>(at - all.begin()));
  }
  return places;
}

}  // namespace

series_rows::series_rows(const session& s, const image_list& images, const std::vector<std::uint64_t>& items,
                         const std::vector<std::uint64_t>& looked_at, std::uint64_t max_items)
    : volumes_(images.volumes()), looked_at_count_(looked_at.size()) {
  if (!is_compressed(images.files) || max_items < items.size()) {
    looked_at_ = start_rows(s, images.files, looked_at);
    items_ = start_rows(s, images.files, items, max_items);
    return;
  }
  std::set_union(items.begin(), items.end(), looked_at.begin(), looked_at.end(), std::back_inserter(all_));
  item_places_ = places_in(all_, items);
  look_places_ = places_in(all_, looked_at);
  items_ = start_rows(s, images.files, all_);
}

void series_rows::load_items(std::uint64_t first, std::uint64_t count, float* out, std::size_t stride) {
  load(*items_, item_places_, first, count, out, stride);
}

void series_rows::load_looked_at(float* out, std::size_t stride) {
  load(looked_at_ ? *looked_at_ : *items_, look_places_, 0, looked_at_count_, out, stride);
}

void series_rows::load(voxel_rows& rows, const places& where, std::uint64_t first, std::uint64_t count, float* out,
                       std::size_t stride) const {
  if (where.empty()) return rows.load(first, count, out, stride);
  for (const voxel_run& run : find_runs(where, first, first + count))
    rows.load(run.first_voxel, run.count, out + (run.first_item - first) * stride, stride);
}

}  // namespace voxherd
