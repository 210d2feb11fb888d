#include "core/device_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

namespace voxherd {

namespace {

/// None unless the complete text is a number without a sign.
std::optional<int> as_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::vector<std::string> parts(const std::string& listed) {
  std::vector<std::string> found;
  for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
    to = listed.find(',', from);
    found.push_back(listed.substr(from, to - from));
  }
  return found;
}

/// Whether CUDA accepts every entry: it ignores those after a wrong one, and all if one is repeated.
bool names_gpus(const std::vector<std::string>& entries, int accessible) {
  if (std::set<std::string>(entries.begin(), entries.end()).size() < entries.size()) return false;
  const auto is_uuid = [](const std::string& entry) { return entry.starts_with("GPU-"); };
  const auto is_known = [&](const std::string& entry) {
    const auto number = as_number(entry);
    return number && *number < accessible;
  };
  return std::all_of(entries.begin(), entries.end(), is_uuid) || std::all_of(entries.begin(), entries.end(), is_known);
}

}  // namespace

std::optional<int> launched_node_rank(const variable_reader& variable) {
  // SLURM_LOCALID is the last: under mpirun it is that of mpirun's daemon, 0 for every rank.
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
                                 "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID", "SLURM_LOCALID"}) {
    if (const auto value = variable(name)) return as_number(*value);
  }
  for (const char* const name : {"PMIX_RANK", "PMI_RANK"}) {
    if (variable(name)) return std::nullopt;
  }
  return 0;
}

std::optional<std::string> only_own_gpu(const offered_gpus& offered, int node_rank) {
  if (offered.renumbered) return std::nullopt;
  if (!offered.listed) {
    if (offered.accessible < 2) return std::nullopt;
    return std::to_string(node_rank % offered.accessible);
  }
  const std::vector<std::string> entries = parts(*offered.listed);
  if (entries.size() < 2 || !names_gpus(entries, offered.accessible)) return std::nullopt;
  return entries[static_cast<std::size_t>(node_rank) % entries.size()];
}

std::string describe(const device_record& d) {
  if (d.kind == "cuda") return fmt::format("{}, {}", d.name, d.uuid);
  return fmt::format("{} CPU thread{}", d.threads, d.threads == 1 ? "" : "s");
}

nlohmann::json as_json(const device_record& d) {
  if (d.kind == "cuda") return {{"kind", d.kind}, {"name", d.name}, {"uuid", d.uuid}};
  return {{"kind", d.kind}, {"threads", d.threads}};
}

device_record device_from_json(const nlohmann::json& j) {
  return {j.value("kind", std::string("cpu")), j.value("threads", 0), j.value("name", std::string()),
          j.value("uuid", std::string())};
}

}  // namespace voxherd
