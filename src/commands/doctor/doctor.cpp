#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "core/command.hpp"
#include "core/text.hpp"
#include "mpi/comm/session.hpp"
#include "src/commands/doctor/checks.hpp"
#include "src/commands/doctor/self_test.hpp"

namespace voxherd {

std::string finding_line(const finding& f, const std::string& host) {
  constexpr const char* words[] = {"fine", "advice", "PROBLEM"};
  return fmt::format("{:<8} {:<9} {}{}{}\n", words[static_cast<int>(f.how)], f.subject, host, host.empty() ? "" : ": ",
                     one_line(f.text));
}

namespace {

struct doctor_request {
  std::string folder = ".";
  bool self_test = false;
};

const option_table<doctor_request>& doctor_options() {
  using T = doctor_request;
  static const option_table<T> table =
      option_table<T>()
          .group("Input", {{"folder",
                            &T::folder,
                            text_kind::file,
                            {.text = "folder where results will be written", .value = "FOLDER", .place = 1}}})
          .group("Self-test", {{"self-test",
                                &T::self_test,
                                {"instead, run all analyses on small phantoms on the CPU and each GPU, and compare "
                                 "with stored numbers"}}})
          .at_most_one_of({"folder", "self-test"});
  return table;
}

/// The findings of each node, from the first rank of each, as lines in rank order. Collective.
std::string node_lines(const session& s, const findings& own) {
  const int nodes = s.all_reduce(reduction::sum, s.node_rank() == 0 ? 1 : 0);
  std::string text;
  if (s.node_rank() == 0)
    for (const finding& f : own) text += finding_line(f, nodes > 1 ? s.host() : "");
  std::string all;
  for (const std::string& part : s.gather(text)) all += part;
  return all;
}

exit_status run_doctor(session& s, const doctor_request& request) {
  if (request.self_test) return run_self_test(s, self_test_cases());
  findings own, common = check_ranks(s);
  if (s.node_rank() == 0) {
    own = check_gpus();
    for (finding& f : check_memory()) own.push_back(std::move(f));
  }
  for (finding& f : check_slurm(s)) common.push_back(std::move(f));
  for (finding& f : check_folder(s, request.folder)) common.push_back(std::move(f));
  const std::string of_nodes = node_lines(s, own);
  if (s.is_root()) {
    for (const finding& f : common) fmt::print("{}", finding_line(f));
    fmt::print("{}", of_nodes);
  } else {
    common.clear();
  }
  const auto is_problem = [](const finding& f) { return f.how == verdict::problem; };
  const auto problems =
      std::count_if(own.begin(), own.end(), is_problem) + std::count_if(common.begin(), common.end(), is_problem);
  const int all_problems = s.all_reduce(reduction::sum, static_cast<int>(problems));
  if (s.is_root() && all_problems == 0) fmt::print("no problem found\n");
  return all_problems == 0 ? exit_status::complete : exit_status::different;
}

constexpr command make_doctor_command() {
  command c =
      make_command<doctor_options, run_doctor>({"doctor", "check GPUs, MPI, disk, memory and limits before a first run",
                                                "voxherd doctor\n"
                                                "voxherd doctor --self-test\n"
                                                "srun -N 2 --ntasks-per-node=4 voxherd doctor /scratch"});
  c.ranks = [](const std::vector<std::string>&) { return needed_ranks::connected; };
  return c;
}

}  // namespace

extern const command doctor_command = make_doctor_command();

}  // namespace voxherd
