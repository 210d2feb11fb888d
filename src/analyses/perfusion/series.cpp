#include "src/analyses/perfusion/series.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "core/failure.hpp"
#include "kernels/perfusion/t1_fitter.hpp"
#include "src/analyses/common/median.hpp"
#include "src/io/input_file.hpp"
#include "src/io/text_file.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/mask.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

namespace {

/// Every file stays open; most systems allow 1024 open files per process.
constexpr std::size_t max_files = 900;

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  const auto folder = std::filesystem::path(list).parent_path();
  for (std::string line : read_text_lines(list, "names of images, one per line in the order of time", 1 << 20)) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (!line.empty()) names.push_back((folder / line).string());
  }
  if (names.empty()) refuse_data("{}: has no names, expected images, one per line in the order of time", list);
  return names;
}

/// Whether a is before b if runs of digits are compared as numbers.
bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t from = at;
      while (at < text.size() && digit(text[at])) ++at;
      return text.substr(from, at - from);
    };
    const std::string x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() - i < b.size() - j;
}

void check_order(const std::vector<std::string>& names, const char* option) {
  if (!std::is_sorted(names.begin(), names.end())) return;
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (!natural_less(names[i], names[i - 1])) continue;
    refuse_usage(
        "--{}: {} is before {}, as a shell sorts names; give them in the order of time (as ls -v "
        "sorts), or in a .txt with one name per line",
        option, names[i - 1], names[i]);
  }
}

}  // namespace

std::uint64_t image_list::volumes() const { return total_volumes(files); }

std::string image_list::name() const {
  return files.front().path + (files.size() > 1 ? fmt::format(" and {} more files", files.size() - 1) : std::string());
}

std::vector<std::string> image_list::paths() const {
  std::vector<std::string> all;
  for (const nifti_header& h : files) all.push_back(h.path);
  return all;
}

image_list read_image_list(const std::vector<std::string>& names, const char* option) {
  const bool is_list = names.size() == 1 && names[0].size() > 4 && names[0].ends_with(".txt");
  if (!is_list) check_order(names, option);
  const std::vector<std::string> paths = is_list ? names_in(names[0]) : names;
  if (paths.size() > max_files)
    refuse_usage("--{}: {} files, expected at most {}; join them into one 4-D image", option, paths.size(), max_files);
  image_list images;
  for (const std::string& path : paths) {
    images.files.push_back(read_nifti_header(path));
    log_warnings(images.files.back());
    if (images.files.size() > 1) bring_to_grid(images.files.back(), images.files.front());
  }
  return images;
}

void check_same_images(const session& s, const std::vector<std::string>& paths, image_list& images) {
  images.files.resize(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) check_same_file(s, paths[i], images.files[i]);
}

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
  const value_places to = value_places::in_rows(out, stride);
  if (where.empty()) return rows.load(first, count, to);
  for (const voxel_run& run : find_runs(where, first, first + count))
    rows.load(run.first_voxel, run.count, to.from(run.first_item - first, 0));
}

void check_t1_map(const nifti_header& map, double unit_s, const std::vector<std::uint64_t>& mask) {
  const std::vector<float> values = read_volume(map);
  std::vector<double> t1_s;
  std::size_t usable = 0;
  for (const std::uint64_t voxel : mask) {
    const double value = static_cast<double>(values[voxel]) * unit_s;
    if (std::isfinite(value) && value > 0) t1_s.push_back(value);
    usable += perfusion::is_usable_t1(value) ? 1 : 0;
  }
  const std::string& name = map.path;
  if (t1_s.empty())
    refuse_data("{}: T1 is above 0 in none of the mask's {} voxels, expected a map of T1 in s or ms", name,
                mask.size());
  const auto median_s = upper_median(t1_s);
  if (!perfusion::is_usable_t1(median_s))
    refuse_data("{}: the mask's median T1 is {:.4g} s, expected 0.01 to 10 s; {}", name, median_s,
                unit_s == 1 ? "if the map is in ms, give --t1-map-unit ms" : "is the map in s?");
  if (usable < mask.size())
    spdlog::warn("{}: {} of the mask's {} voxels have no T1 from {:g} to {:g} s; they cannot be fitted", name,
                 mask.size() - usable, mask.size(), perfusion::min_t1_s, perfusion::max_t1_s);
}

}  // namespace voxherd
