#include "mpi/result/result_identity.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "core/checksum.hpp"
#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "mpi/result/table_checksum.hpp"

namespace voxherd {

namespace {

void add_text(checksum& sum, std::string_view text) {
  const std::uint64_t size = text.size();
  sum.add(std::as_bytes(std::span(&size, 1)));
  sum.add(std::as_bytes(std::span(text)));
}

template <class T>
void add_values(checksum& sum, const std::vector<T>& values) {
  const std::uint64_t size = values.size();
  sum.add(std::as_bytes(std::span(&size, 1)));
  sum.add(std::as_bytes(std::span(values)));
}

/// Inputs that were moved are the same.
void remove_paths(nlohmann::json& value) {
  if (value.is_object()) {
    value.erase("path");
    value.erase("paths");
  }
  if (value.is_structured())
    for (nlohmann::json& one : value) remove_paths(one);
}

}  // namespace

std::string result_identity(const result_reader& result) {
  checksum sum;
  const nlohmann::json& provenance = result.provenance();
  nlohmann::json inputs = provenance.value("inputs", nlohmann::json::object());
  remove_paths(inputs);
  for (const std::string& text : {result.version(), provenance.value("build", ""), result.analysis_name(),
                                  dump_json(result.configuration()), dump_json(inputs)})
    add_text(sum, text);
  for (const output_spec& o : result.outputs()) add_text(sum, o.name);
  for (const constant& c : result.constants()) {
    add_text(sum, c.group + "/" + c.name);
    add_values(sum, c.values);
  }
  add_values(sum, result.item_voxels());
  add_values(sum, result.point_offsets());
  std::vector<std::uint64_t> batches;
  for (const batch& b : result.batches())
    batches.insert(batches.end(), {b.first_item, b.item_count, result.journal()[b.number].checksum});
  add_values(sum, batches);
  return fmt::format("{:016x}", sum.value());
}

std::string file_identity_of_result(const std::string& path) {
  try {
    return fmt::format("{:016x}", block_checksum(path));
  } catch (const failure&) {
    return "";
  }
}

}  // namespace voxherd
