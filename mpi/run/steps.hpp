#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpi/run/known_result.hpp"
#include "mpi/run/run.hpp"

namespace voxherd {

/// The steps of an analysis that needs several runs, in their order. The run executes them, times each (NAME_seconds in
/// the summary), resumes, and removes intermediate files at the end.
class step_list {
 public:
  using json_values = nlohmann::json;  ///< an object; its keys go into the summary of the result

  /// Expected time of a step, from the estimate of an earlier one. Called on rank 0.
  using predictor = std::function<later_step(const run_estimate& earlier)>;

  /// A step that was added, to say more about it.
  class added_step {
   public:
    /// What its items are (in the singular), and its expected time. A step without `predict` only reads and writes what
    /// the others computed; a dry run names it.
    const added_step& describe(const std::string& item, predictor predict = nullptr) const;
    /// Later steps use what `receive` made of its batches, on all ranks, instead of its file (run_step()).
    /// `kept_bytes`: memory that this takes on each rank, unless it is taken before the step starts.
    const added_step& collect(batch_receiver receive, double kept_bytes = 0) const;

   private:
    friend class step_list;
    added_step(step_list& list, std::size_t number) : list_(list), number_(number) {}
    step_list& list_;
    std::size_t number_;
  };

  /// Work between runs, on all ranks.
  added_step work(const std::string& name, std::function<void(json_values& summary)> what);

  using maker = std::function<std::unique_ptr<analysis>()>;
  using reader = std::function<void(const std::string& file, json_values& summary)>;
  /// A run into OUT.NAME, which is removed at the end. `make` is called when the step starts, `after` with the complete
  /// file, while what `make` returned still exists.
  added_step run(const std::string& name, maker make, reader after = nullptr);
  /// A run into a file that the user named with `option`. `analysis`: the name of what `make` returns.
  added_step run_into(const std::string& option, const std::string& file, const std::string& analysis,
                      const std::string& name, maker make, reader after = nullptr);

  /// The last step: a run into OUT, or what rank 0 knows by then.
  added_step result(const std::string& name, maker make);
  void known_result(const std::string& name, std::function<voxherd::known_result()> what, known_size size = {});

 private:
  friend exit_status run_steps(const session&, const std::string&, const step_list&, const run_settings&,
                               const device_hooks&);
  struct step {
    std::string name;
    std::function<void(json_values&)> work;
    maker make;
    std::function<voxherd::known_result()> known;
    std::string option, kept_file, analysis;
    reader after;
    batch_receiver receive;
    predictor predict;
    std::string item = "voxel";
    double kept_bytes = 0;
    known_size size;  ///< of a known result
    bool is_last = false;

    bool is_kept() const { return !kept_file.empty(); }
    bool is_intermediate() const { return make && !is_last && !is_kept(); }
  };
  added_step add(step s);
  /// An estimate of one step, with what its numbers say about the steps that follow. On rank 0.
  run_estimate predict_after(const step& estimated, run_estimate found, const std::string& out) const;
  /// Throws failure (usage) if two of the command's files, or one of them and a temporary one, have the same name, or
  /// if a temporary one would replace a file of the user.
  void check_file_names(const run_settings& settings) const;

  std::vector<step> steps_;
};

/// Executes the steps; none of them if settings.out is complete already. `analysis`: the name of the last step's.
/// Collective. Returns and throws as run() does; a dry run ends with the first run that is not complete.
exit_status run_steps(const session& s, const std::string& analysis, const step_list& steps,
                      const run_settings& settings, const device_hooks& device);

}  // namespace voxherd
