#include "src/fsl/joined_results.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/rows.hpp"
#include "mpi/result/same_study.hpp"
#include "mpi/run/study_question.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/export/export_plan.hpp"
#include "src/fsl/fsl_words.hpp"
#include "src/io/file_state.hpp"
#include "src/io/noted_inputs.hpp"
#include "src/show/status_counts.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// An analysis whose outputs are its input.
class joined_parts final : public analysis {
 public:
  joined_parts(joined_rows& rows, const image_grid& grid) : rows_(rows), grid_(grid) {}

  std::string name() const override { return rows_.first().analysis_name(); }
  const image_grid& grid() const override { return grid_; }
  const std::vector<std::uint64_t>& item_voxels() const override { return rows_.voxels(); }
  bool may_be_empty() const override { return true; }
  std::vector<output_spec> outputs() const override { return rows_.first().outputs(); }
  std::vector<constant> constants() const override { return rows_.first().constants(); }
  std::unique_ptr<item_counts> make_counts() const override { return std::make_unique<status_counts>(outputs()); }
  item_input* input() override { return &rows_; }
  std::size_t device_bytes_per_item() const override { return rows_.bytes_per_item(); }
  std::unique_ptr<batch_runner> make_runner() const override {
    return std::make_unique<runner>(outputs(), rows_.bytes_per_item());
  }

 private:
  class runner final : public batch_runner {
   public:
    runner(std::vector<output_spec> outputs, std::size_t bytes) : outputs_(std::move(outputs)), bytes_(bytes) {}
    void run(const batch& items, std::span<const std::byte> rows, std::span<const std::span<std::byte>> to) override {
      std::size_t at = 0;
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const std::size_t size = outputs_[i].bytes_per_item();
        for (std::uint64_t item = 0; item < items.item_count; ++item)
          std::memcpy(to[i].data() + item * size, rows.data() + item * bytes_ + at, size);
        at += size;
      }
    }

   private:
    std::vector<output_spec> outputs_;
    std::size_t bytes_;
  };

  joined_rows& rows_;
  image_grid grid_;
};

/// Rows of one can be stored as rows of the other.
bool same_outputs(const std::vector<output_spec>& a, const std::vector<output_spec>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const output_spec& x, const output_spec& y) {
    return x.name == y.name && x.type == y.type && x.shape == y.shape && x.layout == y.layout;
  });
}

}  // namespace

joined_rows::joined_rows(const std::vector<std::string>& paths, std::uint64_t voxels_apart) {
  std::uint64_t begin = 0;
  for (const std::string& path : paths) {
    const auto& result = *parts_.emplace_back(std::make_unique<result_reader>(path));
    require_complete(result);
    for (const std::uint64_t voxel : result.image_voxels()) voxels_.push_back(begin + voxel);
    begin += voxels_apart;
  }
  for (const output_spec& o : first().outputs()) bytes_ += o.bytes_per_item();
}

void joined_rows::load(const batch& items, std::span<std::byte> rows) {
  std::uint64_t begin = 0;  // of the part
  for (const auto& part : parts_) {
    const std::uint64_t end = begin + part->item_voxels().size();
    const std::uint64_t first = std::max(items.first_item, begin);
    const std::uint64_t last = std::min(items.first_item + items.item_count, end);
    if (first < last)
      load_part(*part, {0, first - begin, last - first}, rows.subspan((first - items.first_item) * bytes_));
    begin = end;
  }
}

void joined_rows::load_part(const result_reader& part, const batch& items, std::span<std::byte> rows) const {
  std::size_t at = 0;  // of the output in a row
  for (const output_spec& o : part.outputs()) {
    const std::vector<std::byte> values = read_item_rows(part, o, items);
    const std::size_t size = o.bytes_per_item();
    for (std::uint64_t item = 0; item < items.item_count; ++item)
      std::memcpy(rows.data() + item * bytes_ + at, values.data() + item * size, size);
    at += size;
  }
}

result_layout describe_fit(const nlohmann::json& configuration, const nlohmann::json& inputs) {
  result_layout wanted;
  wanted.version = version;
  wanted.analysis = "ballstick";
  wanted.configuration = configuration;
  wanted.provenance = {{"inputs", inputs}};
  for (nlohmann::json& input : wanted.provenance.at("inputs"))
    if (input.is_object()) input.erase(state_key);  // as a result stores them
  return wanted;
}

std::optional<std::string> find_other_fit(const result_reader& result, const result_layout& wanted) {
  result_layout own = wanted;
  // Parts may be fitted on different devices.
  if (result.configuration().contains("backend")) own.configuration["backend"] = result.configuration().at("backend");
  const nlohmann::json::json_pointer part("/inputs/mask/part");
  if (result.provenance().contains(part)) own.provenance[part] = result.provenance().at(part);
  return find_difference(result, own);
}

void check_fits(const joined_rows& joined, const result_layout& wanted, const std::vector<const char*>& own_inputs) {
  for (const auto& part : joined.parts()) {
    result_layout of_part = wanted;
    const nlohmann::json stored = part->provenance().value("inputs", nlohmann::json::object());
    nlohmann::json& inputs = of_part.provenance.at("inputs");
    for (const char* name : own_inputs)
      if (inputs.contains(name) && stored.contains(name)) inputs[name] = stored.at(name);
    if (const auto difference = find_other_fit(*part, of_part))
      refuse_data(
          "{}: was estimated with other options or inputs ({}); estimate it again, or give its options and inputs",
          part->path(), *difference);
    if (!same_outputs(part->outputs(), joined.first().outputs()))
      refuse_data("{}: has other outputs than {}; were both made by the same command and version?", part->path(),
                  joined.first().path());
  }
}

bool is_joined_already(const std::string& out, const result_layout& wanted, const run_request& request) {
  if (!fs::exists(out) || (request.overwrite && !is_asked())) return false;
  const result_reader result(out);
  if (const auto difference = find_other_fit(result, wanted)) answer_with_difference(out, *difference);
  require_complete(result);
  if (!is_asked()) spdlog::info("{} is already complete; nothing to join", out);
  return true;
}

exit_status run_joined(session& s, joined_rows& rows, const image_grid& grid, const run_request& request,
                       const std::string& out, nlohmann::json inputs) {
  run_request run_options = request;
  run_options.out = out;
  run_options.backend = backend_choice::cpu;
  const bool is_started = fs::exists(out) || fs::exists(unfinished_path(out));
  run_options.resume = is_started && !run_options.overwrite;
  const run_listener listener = listen_as_part(request);
  run_options.listener = &listener;
  run_settings how = make_run_settings(s, run_options);
  how.configuration = rows.first().configuration();
  how.provenance["inputs"] = std::move(inputs);
  const device d = choose_device(s, run_options);
  joined_parts all(rows, grid);
  return run(s, all, how, hooks_for(d));
}

}  // namespace voxherd
