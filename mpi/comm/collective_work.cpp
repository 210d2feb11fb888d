#include "mpi/comm/collective_work.hpp"

#include <unistd.h>

#include <optional>

#include "core/error_output.hpp"

namespace voxherd {

void agree_or_end(const session& s, const std::function<void()>& work, const std::function<void()>& before_end) {
  constexpr double wait_seconds = 5;
  std::optional<failure> own;
  try {
    work();
  } catch (...) {
    own = current_failure();
  }
  if (own && s.size() == 1) throw failure(*own);
  const auto print = [&] {
    if (before_end) before_end();
    print_error_output("voxherd: error: {} (on rank {} of {}, host {})\n", own->what(), s.rank(), s.size(), s.host());
  };
  const session::common_ending all =
      s.agree_on_ending(own ? own->status : exit_status::complete, own.has_value(), wait_seconds, print);
  if (all.status == exit_status::complete) return;
  if (all.reports) {
    print();
    s.end_all_ranks(all.status);
  }
  while (true) pause();  // the rank that reports ends this one
}

}  // namespace voxherd
