#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/track/field.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/dealer.hpp"

namespace voxherd {

/// One row of a sparse matrix. `steps` is empty if no lengths are wanted.
struct matrix_row {
  std::vector<std::uint32_t> column, count;
  std::vector<std::uint64_t> steps;
  std::vector<std::uint32_t> fibre1, fibre2;  ///< of the count, along these fibres; empty if they are not wanted
};
/// The pairs of a group of streamlines, in the order of their keys.
using pair_list = std::vector<track::pair_entry>;

/// Number of entries of an item's list.
struct item_size {
  std::uint64_t item, entries;
};

/// Lists that this rank drew in one step and needs again in a later one, by item. Those that do not fit in memory are
/// not kept, only their sizes, and are drawn again.
template <class List>
class kept_lists {
 public:
  /// `max_bytes`: of all lists.
  explicit kept_lists(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  using pointer = std::shared_ptr<const List>;

  pointer keep(std::uint64_t item, List list) {
    auto kept = std::make_shared<const List>(std::move(list));
    const std::lock_guard lock(mutex_);
    if (sizes_.emplace(item, list_size(*kept)).second) not_shared_.push_back(item);
    const std::uint64_t bytes = list_bytes(*kept);
    if (bytes_ + bytes <= max_bytes_ && lists_.emplace(item, kept).second) bytes_ += bytes;
    return kept;
  }

  /// Null if it was not kept.
  pointer find(std::uint64_t item) const {
    const std::lock_guard lock(mutex_);
    const auto found = lists_.find(item);
    return found == lists_.end() ? nullptr : found->second;
  }

  /// As find(), for the last time: the list is not kept any longer.
  pointer take(std::uint64_t item) {
    const std::lock_guard lock(mutex_);
    const auto found = lists_.extract(item);
    if (found.empty()) return nullptr;
    bytes_ -= list_bytes(*found.mapped());
    return std::move(found.mapped());
  }

  /// Number of entries of a list that was drawn; none if that is not known.
  std::optional<std::uint64_t> size(std::uint64_t item) const {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(item);
    return found == sizes_.end() ? std::nullopt : std::optional(found->second);
  }

  /// All ranks know the sizes of the lists that any of them drew, and which rank keeps them. Collective.
  void share(const session& s) {
    std::vector<drawn_list> own;
    for (const std::uint64_t item : not_shared_)
      own.push_back({item, sizes_.at(item), lists_.contains(item) ? s.rank() : no_rank});
    not_shared_.clear();
    for (const drawn_list& one : s.all_gather(own)) {
      sizes_.emplace(one.item, one.entries);
      if (one.holder != no_rank) holders_.emplace(one.item, one.holder);
    }
  }

  /// The rank that keeps the list of each of the items, as share() found.
  std::vector<int> holders(std::size_t items) const {
    std::vector<int> ranks(items, no_rank);
    for (const auto& [item, rank] : holders_) ranks[item] = rank;
    return ranks;
  }

 private:
  struct drawn_list {
    std::uint64_t item, entries;
    int holder;
  };

  static std::uint64_t list_size(const matrix_row& row) { return row.column.size(); }
  static std::uint64_t list_size(const pair_list& pairs) { return pairs.size(); }
  static std::uint64_t list_bytes(const matrix_row& row) {
    return sizeof row + (row.column.size() + row.fibre1.size()) * 2 * sizeof(std::uint32_t) +
           row.steps.size() * sizeof(std::uint64_t);
  }
  static std::uint64_t list_bytes(const pair_list& pairs) { return pairs.size() * sizeof(track::pair_entry); }

  std::uint64_t max_bytes_, bytes_ = 0;
  std::unordered_map<std::uint64_t, pointer> lists_;
  std::unordered_map<std::uint64_t, std::uint64_t> sizes_;
  std::vector<std::uint64_t> not_shared_;  ///< items that this rank drew since share()
  std::unordered_map<std::uint64_t, int> holders_;
  mutable std::mutex mutex_;
};

using kept_rows = kept_lists<matrix_row>;
using kept_pairs = kept_lists<pair_list>;

/// Memory for the lists that this rank keeps of one matrix, in bytes: a share of what its node has free.
std::uint64_t kept_list_bytes(const session& s);

}  // namespace voxherd
