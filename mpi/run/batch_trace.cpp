#include "mpi/run/batch_trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace voxherd {

void write_trace(const session& s, const named_output& output, std::vector<batch_times> own, double origin) {
  for (batch_times& t : own) {
    t.rank = static_cast<std::uint32_t>(s.rank());
    for (double* at :
         {&t.asked, &t.read_begin, &t.read_end, &t.compute_begin, &t.compute_end, &t.write_begin, &t.write_end}) {
      *at -= origin;
    }
  }
  std::vector<batch_times> all = s.gather_to_root(own);
  s.on_root([&] {
    std::sort(all.begin(), all.end(),
              [](const batch_times& a, const batch_times& b) { return a.compute_begin < b.compute_begin; });
    std::string text =
        "batch,items,rank,lane,asked,read_begin,read_end,compute_begin,compute_end,write_begin,write_end\n";
    for (const batch_times& t : all) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f}\n",
                     t.number, t.items, t.rank, t.lane, t.asked, t.read_begin, t.read_end, t.compute_begin,
                     t.compute_end, t.write_begin, t.write_end);
    }
    write_output(output, text);
  });
}

}  // namespace voxherd
