#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/failure.hpp"
#include "core/needed_ranks.hpp"
#include "core/options.hpp"
#include "core/outputs.hpp"
#include "core/run_request.hpp"

namespace voxherd {

class session;

/// A command whose options have been read into its request.
class prepared_command {
 public:
  virtual ~prepared_command() = default;
  /// The part of the request that all analyses share, to be changed before run(); null for other commands.
  virtual run_request* run_options() = 0;
  virtual exit_status run(session& s) = 0;
  /// Adds the options that change the results, as the configuration of a result has them.
  virtual void add_stored(nlohmann::json& configuration) const = 0;
};

/// A subcommand: its option table and the function that runs it.
struct command {
  const char* name;
  const char* summary;  ///< one line for `voxherd --help`
  const option_list& (*table)();
  std::unique_ptr<prepared_command> (*prepare)(const given_options&);  ///< throws failure (usage)
  /// Translates the command line of another program that this command replaces; null for none.
  std::vector<std::string> (*translate)(const std::vector<std::string>&) = nullptr;
  /// A message in the words of that other program, as the user has typed them; null: unchanged.
  std::string (*retell)(const std::string& message, const std::vector<std::string>& typed) = nullptr;
  std::vector<output_spec> (*outputs)() = nullptr;  ///< outputs of a result with default options; null: not listed
  const char* example = "";                         ///< command lines for the help, each below 78 columns
  std::string (*notes)() = nullptr;                 ///< a section of the help, with its heading; null: none
  const char* other_usage = "";                     ///< usage in the words of the program that it replaces
  /// Names of the programs that it replaces, separated by blanks: a link with one of them to this program is this
  /// command. A version may follow each, as in probtrackx2_gpu10.2.
  const char* other_names = "";
  /// The ranks that these words after its name need; null: all.
  needed_ranks (*ranks)(const std::vector<std::string>& words) = nullptr;
  /// The result of a program that chooses its name itself, from its options; null: --out names it.
  std::string (*own_result)(const given_options&) = nullptr;

  const std::vector<option_spec>& options() const { return table().specs(); }
};

struct command_words {
  const char *name, *summary, *example = "";
};

/// Table: a function that returns the option_table of a request. Run: what runs the request. `outputs`: for help.
template <auto Table, auto Run>
constexpr command make_command(const command_words& words, std::vector<output_spec> (*outputs)() = nullptr) {
  using request = decltype(Table().read({}));
  class prepared final : public prepared_command {
   public:
    explicit prepared(const given_options& given) : request_(Table().read(given)) {
      if constexpr (requires { request_.run.command_line; }) request_.run.command_line = given.command_line;
    }
    run_request* run_options() override {
      if constexpr (requires { request_.run.command_line; }) {
        return &request_.run;
      } else {
        return nullptr;
      }
    }
    exit_status run(session& s) override { return Run(s, request_); }
    void add_stored(nlohmann::json& configuration) const override { Table().add_stored(request_, configuration); }

   private:
    request request_;
  };
  return {
      words.name,
      words.summary,
      []() -> const option_list& { return Table(); },
      [](const given_options& given) -> std::unique_ptr<prepared_command> { return std::make_unique<prepared>(given); },
      nullptr,
      nullptr,
      outputs,
      words.example};
}

/// A command of which rank 0 does everything, without MPI.
constexpr command run_by_first_rank(command c) {
  c.ranks = [](const std::vector<std::string>&) { return needed_ranks::first; };
  return c;
}

/// All commands, in the order of the help text: generated from the CMake list.
std::span<const command* const> all_commands();

}  // namespace voxherd
