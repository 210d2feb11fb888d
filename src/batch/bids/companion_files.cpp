#include "src/batch/bids/companion_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "core/failure.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

bool is_equal(const companion_file& a, const companion_file& b) {
  return a.distance == b.distance && a.entities == b.entities;
}

[[noreturn]] void refuse_equals(const companion_file& a, const companion_file& b, const std::string& what) {
  refuse_data("{} and {} are equally {}; remove one, or name one more closely by the entities of the image", a.path,
              b.path, what);
}

std::string describe(const std::string& extension, const bids_name& image) {
  const std::string stem = image.stem();
  return fmt::format("the {} of {}{}{}", extension, stem, stem.empty() ? "" : "_", image.suffix);
}

}  // namespace

std::size_t count_common_entities(const bids_name& a, const bids_name& b) {
  return static_cast<std::size_t>(std::count_if(a.entities.begin(), a.entities.end(), [&](const auto& entity) {
    return b.value(entity.first) == entity.second;
  }));
}

std::vector<companion_file> prefer_nearest(std::vector<companion_file> files) {
  std::stable_sort(files.begin(), files.end(), [](const companion_file& a, const companion_file& b) {
    return std::tie(a.distance, b.entities) < std::tie(b.distance, a.entities);
  });
  const auto end =
      std::find_if(files.begin(), files.end(), [&](const companion_file& f) { return !is_equal(f, files.front()); });
  files.erase(end, files.end());
  return files;
}

std::string choose_companion(const std::vector<companion_file>& files, const std::string& what) {
  const std::vector<companion_file> best = prefer_nearest(files);
  if (best.size() > 1) refuse_equals(best[0], best[1], what);
  return best.empty() ? "" : best.front().path;
}

std::vector<companion_file> list_inherited(const fs::path& root, const fs::path& folder, const bids_name& image,
                                           const std::string& extension) {
  std::vector<companion_file> all;
  int distance = 0;
  for (fs::path at = folder;; at = at.parent_path(), ++distance) {
    std::vector<companion_file> here;
    for (const named_file& file : list_bids_files(at))
      if (file.name.suffix == image.suffix && file.name.extension == extension && has_entities(image, file.name))
        here.push_back({file.path, distance, file.name.entities.size()});
    std::stable_sort(here.begin(), here.end(),
                     [](const companion_file& a, const companion_file& b) { return a.entities > b.entities; });
    all.insert(all.end(), here.begin(), here.end());
    if (at == root || at == at.parent_path()) return all;
  }
}

std::string find_inherited(const fs::path& root, const fs::path& folder, const bids_name& image,
                           const std::string& extension) {
  return choose_companion(list_inherited(root, folder, image, extension), describe(extension, image));
}

std::vector<std::string> list_sidecars(const fs::path& root, const fs::path& folder, const bids_name& image) {
  std::vector<std::string> paths;
  const std::vector<companion_file> all = list_inherited(root, folder, image, ".json");
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && is_equal(all[i - 1], all[i])) refuse_equals(all[i - 1], all[i], describe(".json", image));
    paths.push_back(all[i].path);
  }
  return paths;
}

}  // namespace voxherd
