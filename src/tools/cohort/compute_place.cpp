#include "src/tools/cohort/compute_place.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace voxherd {

namespace {

constexpr int cores_per_place = 8;

bool names_gpu(std::string_view entry) {
  const bool is_number =
      !entry.empty() && std::all_of(entry.begin(), entry.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number || entry.starts_with("GPU-") || entry.starts_with("MIG-");
}

int share_of_cores(int cores, std::size_t places) {
  return std::max(1, cores / static_cast<int>(std::max<std::size_t>(1, places)));
}

}  // namespace

std::vector<std::string> name_gpus(const std::optional<std::string>& listed, int count) {
  std::vector<std::string> gpus;
  if (!listed) {
    for (int g = 0; g < count; ++g) gpus.push_back(std::to_string(g));
    return gpus;
  }
  std::istringstream entries(*listed);
  for (std::string entry; std::getline(entries, entry, ',') && names_gpu(entry);) gpus.push_back(entry);
  return gpus;
}

std::vector<compute_place> make_gpu_places(std::size_t gpus, std::size_t per_gpu, int cores) {
  std::vector<compute_place> places;
  for (std::size_t i = 0; i < gpus * per_gpu; ++i) places.push_back({i % gpus, share_of_cores(cores, gpus * per_gpu)});
  return places;
}

std::vector<compute_place> make_cpu_places(std::size_t count, int cores) {
  if (count == 0) count = static_cast<std::size_t>(std::max(1, cores / cores_per_place));
  return std::vector<compute_place>(count, {std::nullopt, share_of_cores(cores, count)});
}

std::vector<double> opening_fractions(const std::vector<compute_place>& places) {
  std::vector<double> fractions;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto shares_gpu = [&](const compute_place& other) { return other.gpu && other.gpu == places[i].gpu; };
    const auto here = places.begin() + static_cast<std::ptrdiff_t>(i);
    const auto before = static_cast<double>(std::count_if(places.begin(), here, shares_gpu));
    const auto all = static_cast<double>(std::count_if(places.begin(), places.end(), shares_gpu));
    fractions.push_back(all > 0 ? before / all : 0);
  }
  return fractions;
}

std::optional<std::size_t> choose_place(const std::vector<compute_place>& places, const std::vector<bool>& taken) {
  const auto users = [&](std::size_t place) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < places.size(); ++i) count += taken[i] && places[i].gpu == places[place].gpu ? 1 : 0;
    return count;
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!taken[i] && (!best || users(i) < users(*best))) best = i;
  return best;
}

}  // namespace voxherd
