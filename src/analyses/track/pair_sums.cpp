#include "src/analyses/track/pair_sums.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

namespace voxherd {

namespace {

using track::pair_entry;
using pair_span = std::span<const pair_entry>;

constexpr std::size_t rows_per_part = 64;

std::vector<pair_span> split_lists(pair_span lists) {
  std::vector<pair_span> all;
  while (!lists.empty()) {
    const auto end = std::ranges::is_sorted_until(lists, {}, &pair_entry::key);
    const auto size = static_cast<std::size_t>(end - lists.begin());
    all.push_back(lists.first(size));
    lists = lists.subspan(size);
  }
  return all;
}

/// The pairs of rows [first, end) of a list.
pair_span rows_of(pair_span list, std::uint64_t first, std::uint64_t end) {
  const auto begin_of = [&](std::uint64_t row) {
    return std::ranges::lower_bound(list, row << 32, {}, &pair_entry::key);
  };
  return {begin_of(first), begin_of(end)};
}

}  // namespace

pair_sums::pair_sums(std::size_t rows, int threads)
    : parts_((rows + rows_per_part - 1) / rows_per_part), threads_(threads) {}

void pair_sums::part::add(pair_span more) {
  if (entries.size() + more.size() > entries.capacity()) {
    add_up();
    entries.reserve(sums + std::max(sums / 2, more.size()));
  }
  entries.insert(entries.end(), more.begin(), more.end());
}

void pair_sums::part::add_up() {
  track::reduce_pairs(entries, sums);
  sums = entries.size();
}

void pair_sums::for_each_part(const std::function<void(std::size_t)>& work) {
  std::exception_ptr error;
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    try {
      work(p);
    } catch (...) {
#pragma omp critical(voxherd_add_pairs)
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

void pair_sums::add(pair_span lists) {
  const std::vector<pair_span> all = split_lists(lists);
  for_each_part([&](std::size_t p) {
    for (const pair_span list : all) parts_[p].add(rows_of(list, p * rows_per_part, (p + 1) * rows_per_part));
  });
}

std::vector<std::vector<pair_entry>> pair_sums::take(std::size_t lists) {
  for_each_part([&](std::size_t p) { parts_[p].add_up(); });
  std::vector<std::vector<pair_entry>> taken(lists);
  const auto list_with = [&](std::size_t p) { return p * lists / parts_.size(); };
  std::vector<std::size_t> sizes(lists);
  for (std::size_t p = 0; p < parts_.size(); ++p) sizes[list_with(p)] += parts_[p].sums;
  for (std::size_t i = 0; i < lists; ++i) taken[i].reserve(sizes[i]);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const part own = std::exchange(parts_[p], {});
    taken[list_with(p)].insert(taken[list_with(p)].end(), own.entries.begin(), own.entries.end());
  }
  return taken;
}

std::vector<pair_entry> pair_sums::gather(const session& s) {
  std::vector<std::vector<pair_entry>> own;
  if (s.size() > 1) {
    // Each rank adds up the same rows of all ranks.
    s.agree([&] { own = take(static_cast<std::size_t>(s.size())); });
    const std::vector<pair_entry> of_all = s.exchange(std::exchange(own, {}));
    s.agree([&] { add(of_all); });
  }
  s.agree([&] { own = take(1); });
  return s.size() > 1 ? s.all_gather(own.front()) : std::move(own.front());
}

}  // namespace voxherd
