#include <fmt/core.h>

#include "core/command.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

namespace {

struct verify_request {
  std::string result;
};

const option_table<verify_request>& verify_options() {
  using T = verify_request;
  static const option_table<T> table =
      option_table<T>()
          .group("Input", {{"result", &T::result, text_kind::file, {"result file, complete or FILE.part"}}})
          .check([](const T& r, const given_options&) {
            if (r.result.empty()) option::refuse("verify: the result file is missing; usage: voxherd verify FILE");
          });
  return table;
}

/// One line for each batch of this rank's share whose checksum differs from the journal.
std::string bad_batches(const session& s, const result_reader& result) {
  std::string lines;
  for (const batch& b : result.batches()) {
    if (b.number % static_cast<std::uint64_t>(s.size()) != static_cast<std::uint64_t>(s.rank())) continue;
    const journal_entry& entry = result.journal()[b.number];
    if (entry.done != 1) continue;
    const std::uint64_t found = result.compute_checksum(b);
    if (found == entry.checksum) continue;
    lines += fmt::format("batch {} (items {} to {}): checksum {:016x}, expected {:016x} as in the journal\n", b.number,
                         b.first_item, b.first_item + b.item_count - 1, found, entry.checksum);
  }
  return lines;
}

exit_status run_verify(session& s, const verify_request& request) {
  const std::string& path = request.result;
  std::string lines;
  std::uint64_t done = 0, batches = 0;
  s.agree([&] {
    const result_reader result(path);
    lines = bad_batches(s, result);
    batches = result.batches().size();
    for (const journal_entry& e : result.journal()) done += e.done == 1 ? 1 : 0;
  });
  std::string all;
  for (const std::string& of_rank : s.gather(lines)) all += of_rank;
  s.broadcast(all);
  if (s.is_root()) {
    fmt::print("{}", all);
    fmt::print("{}: {} of {} batches done, {}\n", path, done, batches,
               all.empty() ? "all checksums correct" : "the data have CHANGED since they were written");
  }
  return all.empty() ? exit_status::complete : exit_status::bad_data;
}

}  // namespace

extern const command verify_command = make_command<verify_options, run_verify>(
    {"verify", "read a result again and check its checksums", "FILE", "result"});

}  // namespace voxherd
