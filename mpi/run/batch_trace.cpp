#include "mpi/run/batch_trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/failure.hpp"

namespace voxherd {

void write_trace(const session& s, const std::string& path, std::vector<batch_times> own, double origin) {
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
    std::ofstream file(path);
    file << "batch,items,rank,lane,asked,read_begin,read_end,compute_begin,compute_end,write_begin,write_end\n";
    for (const batch_times& t : all) {
      file << fmt::format("{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f}\n", t.number, t.items, t.rank,
                          t.lane, t.asked, t.read_begin, t.read_end, t.compute_begin, t.compute_end, t.write_begin,
                          t.write_end);
    }
    file.close();
    if (!file) throw failure(exit_status::disk, fmt::format("--trace {}: {}", path, std::strerror(errno)));
  });
}

}  // namespace voxherd
