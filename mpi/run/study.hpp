#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "core/clock.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/output_place.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/result_writer.hpp"
#include "mpi/run/run_types.hpp"
#include "mpi/run/summary.hpp"

namespace voxherd {

/// The part of the layout that is known before the items.
result_layout begin_layout(const std::string& analysis, const run_settings& settings, const device_hooks& device);

/// Everything except the batches; the same on every rank. Collective. Throws failure if an analysis is inconsistent or
/// has no items.
result_layout make_layout(const session& s, const analysis& a, const run_settings& settings,
                          const device_hooks& device);

/// Adds the devices of all ranks and makes configuration and provenance the same on every rank. Collective.
void share_descriptions(const session& s, const device_hooks& device, result_layout& layout);

/// The batches of a new run, the same on every rank: from the input and the smallest device memory of all ranks.
/// Collective.
std::vector<batch> new_plan(const session& s, analysis& a, const run_settings& settings, const device_hooks& device,
                            const result_layout& layout);

/// Expected relative speeds of ranks with and without a GPU, used only for the first batches, until speeds are
/// measured. Empty if all ranks are of one kind. Collective.
std::vector<double> believed_speeds(const session& s, const device_hooks& device);

/// OUT.part under a temporary name until it is complete enough to be resumed, so that every OUT.part can be read.
/// Removed if the run fails before that.
class new_file {
 public:
  new_file(const session& s, const std::string& part) : s_(s), part_(part), temporary_(part + ".new") {}
  ~new_file();
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;

  result_writer create(const result_layout& layout) const;
  void rename(result_writer& writer);  ///< to OUT.part. Collective

 private:
  const session& s_;
  std::string part_, temporary_;
  bool renamed_ = false;
};

/// Renames OUT.part.new, which is created completely, to OUT.part.
void rename_created(const std::string& part);

/// One result file, from the decision to start or resume to its final name. Shared by runs that compute and runs that
/// write known arrays. All functions are collective.
class study {
 public:
  study(const session& s, const run_settings& settings, const step_context& step, result_layout layout)
      : s_(s), settings_(settings), step_(step), layout_(std::move(layout)) {}

  /// Locks the file. Throws failure as decide_beginning() does.
  beginning begin();
  /// The unfinished batches of the resumed file, whose plan replaces the layout's. `receive` is called with the
  /// finished ones, each on one rank; it may be empty.
  std::vector<std::uint64_t> pending(const batch_receiver& receive);
  /// The same for all batches of the complete file.
  void read_complete(const batch_receiver& receive) const;
  bool resumes() const { return found_ == beginning::resumed; }
  /// Opens the resumed file, or creates one, which keeps its temporary name until the caller renames it.
  result_writer open(std::optional<new_file>& created) const;

  /// What the ranks did. `counts`: of all ranks; or null.
  nlohmann::json summarise(rank_account account, const device_hooks& device, std::size_t batches_before,
                           const item_counts* counts = nullptr) const;
  /// Marks the file as complete, and gives it its final name.
  void finish(result_writer& writer, const nlohmann::json& summary);
  /// The same of an OUT.part that is marked as complete.
  void finish_written();
  /// Prints the summary, and writes --json.
  void report(nlohmann::json summary) const;

  void note_stage(const char* name) const;
  const result_layout& layout() const { return layout_; }
  result_layout& layout() { return layout_; }

 private:
  const session& s_;
  const run_settings& settings_;
  const step_context& step_;
  result_layout layout_;
  std::unique_ptr<output_lock> lock_;
  beginning found_ = beginning::fresh;
  double start_ = steady_seconds();
};

/// Says that the result is complete already.
void log_nothing_to_do(const run_settings& settings, const step_context& step = {});

output_request requested_output(const run_settings& settings, const step_context& step = {});

}  // namespace voxherd
