#include "src/analyses/common/status_summary.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <map>

#include "kernels/portable/voxel_status.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

namespace {

std::string_view meaning_of(int code) {
  for (const auto& text : voxel_status_texts)
    if (static_cast<int>(text.status) == code) return text.meaning;
  return "unknown code";
}

}  // namespace

void log_status_summary(const session& s, const std::string& result) {
  s.on_root([&] {
    const result_reader reader(result);
    const auto map = reader.read_map("status");
    std::map<int, std::size_t> counts;
    for (const std::uint64_t voxel : reader.item_voxels()) ++counts[static_cast<int>(map[voxel])];
    for (const auto& [code, count] : counts) {
      if (code == 0) continue;
      spdlog::warn("{} of {} voxels not fitted: {} (status {}); their outputs are 0", count,
                   reader.item_voxels().size(), meaning_of(code), code);
    }
    spdlog::info("{} of {} voxels fitted", counts[0], reader.item_voxels().size());
  });
}

}  // namespace voxherd
