#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "kernels/track/field.hpp"
#include "mpi/comm/session.hpp"

namespace voxherd {

/// Adds up lists of pairs as they come, in any order. The rows of the matrix are cut into parts, which threads add up
/// at the same time. Memory: the sums, and less than half as much again for pairs that are not added up yet.
class pair_sums {
 public:
  pair_sums(std::size_t rows, int threads);

  /// Adds lists, one after another, each of which is in the order of its keys.
  void add(std::span<const track::pair_entry> lists);
  /// The sums in the order of their keys, cut into so many lists. There are none left then.
  std::vector<std::vector<track::pair_entry>> take(std::size_t lists);
  /// The sums of all ranks, on every rank; those of this rank are taken. Collective.
  std::vector<track::pair_entry> gather(const session& s);

 private:
  /// Pairs of some rows: sums, then others.
  struct part {
    std::vector<track::pair_entry> entries;
    std::size_t sums = 0;

    void add(std::span<const track::pair_entry> more);
    void add_up();
  };

  /// Calls work(p) for each part p, on all threads.
  void for_each_part(const std::function<void(std::size_t p)>& work);

  std::vector<part> parts_;
  int threads_;
};

}  // namespace voxherd
