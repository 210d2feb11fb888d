#include <fmt/core.h>

#include "core/command.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

namespace {

void verify_options(po::options_description& options) {
  options.add_options()("result", po::value<std::string>()->value_name("FILE"), "result file, whole or FILE.part");
}

/// One line for each batch of this rank's share whose checksum differs from the journal.
std::string bad_batches(const session& s, const result_reader& result) {
  std::string lines;
  for (const batch& b : result.batches()) {
    if (b.number % static_cast<std::uint64_t>(s.size()) != static_cast<std::uint64_t>(s.rank())) continue;
    const journal_entry& entry = result.journal()[b.number];
    if (entry.done != 1) continue;
    const std::uint64_t found = result.checksum_of(b);
    if (found == entry.checksum) continue;
    lines += fmt::format("batch {} (items {} to {}): checksum {:016x}, expected {:016x} as in the journal\n", b.number,
                         b.first_item, b.first_item + b.item_count - 1, found, entry.checksum);
  }
  return lines;
}

exit_status verify(session& s, const arguments& args) {
  if (!args.has("result")) throw failure(exit_status::usage, "verify: expected a result; usage: voxherd verify FILE");
  const auto& path = args.get<std::string>("result");
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
  return all.empty() ? exit_status::whole : exit_status::bad_data;
}

}  // namespace

extern const command verify_command;
const command verify_command{"verify", "read a result again and check its checksums", "FILE", "result", verify_options,
                             verify};

}  // namespace voxherd
