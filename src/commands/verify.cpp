#include <fmt/core.h>

#include <memory>

#include "core/command.hpp"
#include "core/text.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_check.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

namespace {

struct verify_request {
  std::string result;
  bool accept = false;
};

const option_table<verify_request>& verify_options() {
  using T = verify_request;
  static const option_table<T> table = option_table<T>().group(
      "Input",
      {{"result",
        &T::result,
        text_kind::file,
        {.text = "result file, complete or FILE.part", .required = true, .place = 1}},
       {"accept",
        &T::accept,
        {"accept that another program (h5repack, h5py) has rewritten the file: store a new checksum of its HDF5 "
         "tables first"}}});
  return table;
}

exit_status run_verify(session& s, const verify_request& request) {
  const std::string& path = request.result;
  if (request.accept) s.on_root([&] { accept_tables(path); });
  std::unique_ptr<result_reader> result;
  s.agree([&] { result = std::make_unique<result_reader>(path, result_reader::checksums::ignored); });
  const result_damage damage = check_result(s, path, layout_of(*result), checked_part::everything);
  s.on_root([&] {
    std::uint64_t done = 0;
    for (const journal_entry& e : result->journal()) done += e.done == 1 ? 1 : 0;
    fmt::print("{}{}", damage.batches, damage.tables);
    fmt::print("{}: {} of {} batches done, {}\n", one_line(path), done, result->batches().size(),
               damage.found() ? "the data have CHANGED since they were written" : "all checksums correct");
  });
  return damage.found() ? exit_status::bad_data : exit_status::complete;
}

}  // namespace

extern const command verify_command = run_by_first_rank(make_command<verify_options, run_verify>(
    {"verify", "read a result again and check its checksums", "voxherd verify tensor.h5"}));

}  // namespace voxherd
