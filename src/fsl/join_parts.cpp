#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "core/text.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/rows.hpp"
#include "mpi/result/same_study.hpp"
#include "mpi/run/signals.hpp"
#include "src/analyses/ballstick/options.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/export/export_plan.hpp"
#include "src/fsl/bedpostx.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/mask.hpp"
#include "src/show/status_counts.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

const fsl_program& postproc_program() {
  static const std::vector<fsl_option> options = xfibres_options_of_fsl(fsl_answer::no_difference, "");
  static const fsl_program program{"join_parts", options, expected_number};
  return program;
}

std::vector<std::string> from_postproc(const std::vector<std::string>& words) {
  return translate_fsl_words(postproc_program(), words);
}

std::string list_postproc_flags() { return list_fsl_names(postproc_program()); }

struct postproc_request {
  dwi_request series;
  std::string folder;
  std::optional<std::uint32_t> voxels, parts;
  std::string subject, fsldir;             ///< not read
  std::vector<std::string> no_difference;  ///< options of FSL
  ballstick_model_request model;
  run_request run;
};

const option_table<postproc_request>& postproc_options() {
  using T = postproc_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .include(&T::series, dwi_options())
    .group("FSL's folder", {
      {"logdir", &T::folder, text_kind::any,
       {.text = "folder of the parts: data_part_0000, ...; the images are written into the folder that contains it",
        .value = "DIR", .required = true}},
      {"voxels", &T::voxels, range{1, 4e9}, {.text = "number of voxels in the mask; not used", .value = "VOXELS",
        .required = true, .place = 1}},
      {"parts", &T::parts, range{1, 10000}, {.text = "number of parts", .value = "PARTS", .required = true, .place = 2}},
      {"subject", &T::subject, text_kind::any, {.text = "the subject's folder; not read", .value = "SUBJECT", .place = 3}},
      {"fsldir", &T::fsldir, text_kind::any, {.text = "not read", .value = "FSLDIR", .place = 4}}})
    .group("Input", {
      {"no-difference", &T::no_difference, text_kind::any,
       {.text = "an option of FSL that has no effect here (--cnonlinear, --nospat, ...)", .value = "OPTION"}}})
    .include(&T::model, ballstick_model_options())
    .include_optional(&T::run, run_options());
  // clang-format on
  return table;
}

std::string part_path(const postproc_request& request, std::uint32_t part) {
  return fmt::format("{}/data_part_{:04}/voxherd.h5", request.folder, part);
}

/// The results of xfibres' parts, one item after another: of each item the bytes of all outputs.
class joined_rows final : public item_input {
 public:
  /// Throws failure (missing_input, bad_data).
  explicit joined_rows(const postproc_request& request) {
    for (std::uint32_t part = 0; part < *request.parts; ++part) {
      const auto& result = *parts_.emplace_back(std::make_unique<result_reader>(part_path(request, part)));
      require_complete(result);
      voxels_.insert(voxels_.end(), result.item_voxels().begin(), result.item_voxels().end());
    }
    for (const output_spec& o : first().outputs()) bytes_ += o.bytes_per_item();
  }

  const result_reader& first() const { return *parts_.front(); }
  const std::vector<std::unique_ptr<result_reader>>& parts() const { return parts_; }
  const std::vector<std::uint64_t>& voxels() const { return voxels_; }

  std::size_t bytes_per_item() const override { return bytes_; }
  void load(const batch& items, std::span<std::byte> rows) override {
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

 private:
  void load_part(const result_reader& part, const batch& items, std::span<std::byte> rows) const {
    std::size_t at = 0;  // of the output in a row
    for (const output_spec& o : part.outputs()) {
      const std::vector<std::byte> values = read_item_rows(part, o, items);
      const std::size_t size = o.bytes_per_item();
      for (std::uint64_t item = 0; item < items.item_count; ++item)
        std::memcpy(rows.data() + item * bytes_ + at, values.data() + item * size, size);
      at += size;
    }
  }

  std::vector<std::unique_ptr<result_reader>> parts_;
  std::vector<std::uint64_t> voxels_;
  std::size_t bytes_ = 0;
};

/// An analysis whose outputs are its input.
class joined_parts final : public analysis {
 public:
  explicit joined_parts(joined_rows& rows) : rows_(rows) {}

  std::string name() const override { return rows_.first().analysis_name(); }
  const image_grid& grid() const override { return rows_.first().grid(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return rows_.voxels(); }
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
};

/// Throws failure (usage, bad_data) unless the parts are all voxels of one mask, with these options.
void check_parts(const postproc_request& request, const joined_rows& joined) {
  ballstick_request asked;
  asked.model = request.model;
  nlohmann::json options = nlohmann::json::object();
  add_stored(ballstick_options(), asked, options);
  const auto& first = joined.first();
  for (const auto& part : joined.parts()) {
    nlohmann::json stored = nlohmann::json::object();  // without what the run adds, such as the device
    for (const auto& [name, value] : part->configuration().items())
      if (options.contains(name)) stored[name] = value;
    if (const auto difference = first_difference(stored, options, ""))
      throw failure(exit_status::usage, fmt::format("{}: was estimated with other options ({}); give the same options "
                                                    "as to xfibres",
                                                    printable(part->path()), *difference));
    for (const char* input : {"dwi", "bvals", "bvecs"}) {
      const std::string at = fmt::format("/inputs/{}/fingerprint", input);
      const nlohmann::json::json_pointer sum(at);
      if (part->provenance().value(sum, nlohmann::json()) != first.provenance().value(sum, nlohmann::json()))
        throw failure(exit_status::bad_data, fmt::format("{}: was estimated from another {} than {}",
                                                         printable(part->path()), input, printable(first.path())));
    }
  }
  const std::string mask = find_image(request.series.mask);
  const auto inside = voxels_inside(mask, read_nifti_header(find_image(request.series.dwi)), mask_rules::fsl);
  if (inside != joined.voxels())
    throw failure(exit_status::bad_data,
                  fmt::format("{}: {} parts have {} voxels together, expected the {} of {}", printable(request.folder),
                              joined.parts().size(), joined.voxels().size(), inside.size(), printable(mask)));
}

/// The parts are in the complete result now.
void remove_parts(const postproc_request& request) {
  for (std::uint32_t part = 0; part < *request.parts; ++part) {
    std::error_code code;
    fs::remove(part_path(request, part), code);
    fs::remove(fs::path(part_path(request, part)).parent_path(), code);  // if it is empty
  }
}

exit_status join_parts(session& s, const postproc_request& request, const std::string& out) {
  std::unique_ptr<joined_rows> joined;
  s.agree([&] {
    joined = std::make_unique<joined_rows>(request);
    check_parts(request, *joined);
  });
  run_request run_options = request.run;
  run_options.out = out;
  run_options.backend = backend_choice::cpu;
  const bool is_started = fs::exists(out) || fs::exists(unfinished_path(out));
  run_options.resume = is_started && !run_options.overwrite;
  const run_listener listener = listen_as_part(request.run);
  run_options.listener = &listener;
  run_settings how = make_run_settings(s, run_options);
  how.configuration = joined->first().configuration();
  nlohmann::json inputs = joined->first().provenance().value("inputs", nlohmann::json::object());
  inputs.at("mask").erase("part");
  how.provenance["inputs"] = std::move(inputs);
  const device d = choose_device(s, run_options);
  joined_parts all(*joined);
  return run(s, all, how, hooks_for(d));
}

exit_status run_postproc(session& s, const postproc_request& request) {
  log_no_difference(request.no_difference);
  fs::path parts = fs::absolute(request.folder).lexically_normal();
  if (parts.filename().empty()) parts = parts.parent_path();  // "diff_parts/" has an empty name
  const std::string out = parts.parent_path().string();
  const exit_status status = join_parts(s, request, out + "/voxherd.h5");
  stop_signals::release();  // the result is complete: a signal may end the export
  if (status != exit_status::complete || request.run.dry_run) return status;
  write_bedpostx_folder(s, {.path = out, .nodif = "", .has_inputs = true}, request.run);
  s.on_root([&] { remove_parts(request); });
  return status;
}

}  // namespace

constexpr command make_postproc_command() {
  command c = make_command<postproc_options, run_postproc>(
      {"join_parts", "FSL's bedpostx_postproc_gpu.sh: joins the parts of xfibres",
       "voxherd join_parts --data=data --mask=nodif_brain_mask -r bvecs \\\n"
       "  -b bvals --logdir=subject.bedpostX/diff_parts --nf=2 --model=1 9000 4"});
  c.translate = from_postproc;
  c.other_usage = "--data=DATA --mask=MASK --logdir=DIR VOXELS PARTS ...";
  c.notes = list_postproc_flags;
  c.other_names = "bedpostx_postproc_gpu.sh bedpostx_postproc.sh";
  return run_by_first_rank(c);
}

extern const command join_parts_command = make_postproc_command();

}  // namespace voxherd
