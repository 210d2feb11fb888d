#include "mpi/run/study_question.hpp"

#include <spdlog/spdlog.h>

#include "core/failure.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/same_study.hpp"
#include "mpi/run/study.hpp"

namespace voxherd {

namespace {

/// The answer to the question that is being asked; null: none is.
study_answer* current_answer = nullptr;

/// Asks while it exists, and silences the log.
class asking {
 public:
  asking() : outer_(current_answer), level_(spdlog::get_level()) {
    current_answer = &found;
    spdlog::set_level(spdlog::level::off);
  }
  ~asking() {
    current_answer = outer_;
    spdlog::set_level(level_);
  }
  asking(const asking&) = delete;
  asking& operator=(const asking&) = delete;

  study_answer found;

 private:
  study_answer* outer_;
  spdlog::level::level_enum level_;
};

/// The kind of device that the user asked for; "" if the command chooses it.
const char* kind_asked_for(backend_choice choice) {
  switch (choice) {
    case backend_choice::automatic:
      return "";
    case backend_choice::cpu:
      return kind_name(device_kind::cpu);
    case backend_choice::cuda:
      return kind_name(device_kind::cuda);
    case backend_choice::mixed:
      return kind_name(device_kind::mixed);
  }
  return "";
}

void set_backend(backend_choice choice, const nlohmann::json& stored, nlohmann::json& configuration) {
  const std::string kind = kind_asked_for(choice);
  configuration.erase("backend");
  if (!kind.empty()) {
    configuration["backend"] = kind;
  } else if (stored.contains("backend")) {
    configuration["backend"] = stored.at("backend");
  }
}

}  // namespace

study_answer ask_command(const std::function<exit_status(session& alone)>& command) {
  session alone(nullptr, nullptr, needed_ranks::first);
  asking asked;
  try {
    (void)command(alone);
  } catch (const failure&) {
    if (asked.found.difference.empty()) throw;
  }
  return asked.found;
}

study_answer ask_command(prepared_command& command) {
  run_request& run = *command.run_options();
  const run_request as_given = run;
  run.resume = run.dry_run = true;
  run.overwrite = run.quiet = run.verbose = false;
  const auto run_command = [&](session& alone) { return command.run(alone); };
  try {
    const study_answer found = ask_command(run_command);
    run = as_given;
    return found;
  } catch (...) {
    run = as_given;
    throw;
  }
}

bool is_asked() { return current_answer != nullptr; }

void answer_question(const session& s, const std::string& analysis, const run_settings& settings) {
  s.on_root([&] {
    const result_reader stored(settings.out);
    if (!stored.complete()) refuse_data("{} is incomplete although it has its final name; remove it", settings.out);
    result_layout wanted = begin_layout(analysis, settings, {});
    set_backend(settings.backend, stored.configuration(), wanted.configuration);
    if (const auto difference = find_difference(stored, wanted)) answer_with_difference(settings.out, *difference);
  });
}

void answer_with_difference(const std::string& path, const std::string& difference) {
  if (current_answer != nullptr) current_answer->difference = difference;
  refuse_usage(
      "{} belongs to a different study ({}); choose another result file, or remove this one to compute it again", path,
      difference);
}

void answer_unfinished(const std::string& what) {
  if (current_answer != nullptr) current_answer->unfinished += (current_answer->unfinished.empty() ? "" : "; ") + what;
}

}  // namespace voxherd
