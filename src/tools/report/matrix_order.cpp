#include "src/tools/report/matrix_order.hpp"

#include <algorithm>
#include <utility>

namespace voxherd::report {

namespace {

/// Clusters that are merged pair by pair; each keeps the number of its first item.
class clusters {
 public:
  clusters(std::size_t n, const std::function<double(std::size_t, std::size_t)>& distance)
      : n_(n), between_(n * n), leaves_(n), distance_(distance) {
    for (std::size_t i = 0; i < n; ++i) {
      leaves_[i] = {i};
      for (std::size_t k = 0; k < n; ++k) between_[i * n + k] = distance(i, k);
    }
  }

  bool exists(std::size_t i) const { return !leaves_[i].empty(); }
  double between(std::size_t i, std::size_t k) const { return between_[i * n_ + k]; }

  /// The closest other cluster; `preferred` if none is closer than that.
  std::size_t nearest(std::size_t i, std::size_t preferred) const {
    std::size_t best = preferred;
    for (std::size_t k = 0; k < n_; ++k)
      if (k != i && exists(k) && (best == n_ || between(i, k) < between(i, best))) best = k;
    return best;
  }

  void merge(std::size_t i, std::size_t k) {
    const auto a = static_cast<double>(leaves_[i].size()), b = static_cast<double>(leaves_[k].size());
    for (std::size_t m = 0; m < n_; ++m)
      between_[i * n_ + m] = between_[m * n_ + i] = (a * between(i, m) + b * between(k, m)) / (a + b);
    join(leaves_[i], leaves_[k]);
  }

  std::vector<std::size_t>& leaves(std::size_t i) { return leaves_[i]; }

 private:
  /// Turns both lists so that their closest ends meet.
  void join(std::vector<std::size_t>& one, std::vector<std::size_t>& other) {
    const double ends[] = {distance_(one.back(), other.front()), distance_(one.back(), other.back()),
                           distance_(one.front(), other.front()), distance_(one.front(), other.back())};
    const auto best = std::min_element(ends, ends + 4) - ends;
    if (best >= 2) std::reverse(one.begin(), one.end());
    if (best % 2 == 1) std::reverse(other.begin(), other.end());
    one.insert(one.end(), other.begin(), other.end());
    other.clear();
  }

  std::size_t n_;
  std::vector<double> between_;
  std::vector<std::vector<std::size_t>> leaves_;
  const std::function<double(std::size_t, std::size_t)>& distance_;
};

}  // namespace

// Follows chains of nearest neighbours until two clusters are each other's nearest (Murtagh 1983): n^2 steps.
std::vector<std::size_t> cluster_order(std::size_t n, const std::function<double(std::size_t, std::size_t)>& distance) {
  if (n == 0) return {};
  clusters all(n, distance);
  std::vector<std::size_t> chain;
  std::size_t last = 0;
  for (std::size_t left = n; left > 1;) {
    if (chain.empty())
      for (std::size_t i = 0; chain.empty(); ++i)
        if (all.exists(i)) chain.push_back(i);
    const std::size_t top = chain.back(), before = chain.size() > 1 ? chain[chain.size() - 2] : n;
    const std::size_t next = all.nearest(top, before);
    if (next != before) {
      chain.push_back(next);
      continue;
    }
    chain.resize(chain.size() - 2);
    last = std::min(top, next);
    all.merge(last, std::max(top, next));
    --left;
  }
  return all.leaves(last);
}

}  // namespace voxherd::report
