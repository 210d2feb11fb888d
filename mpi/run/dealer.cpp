#include "mpi/run/dealer.hpp"

#include <algorithm>
#include <map>

namespace voxherd {

namespace {

constexpr std::size_t max_ends = 12;  // speed is that of the last dozen batches: a GPU may be throttled midway

// A rank may finish a batch this late, as a part of the time the others need for everything that remains. Speeds are
// known to about 10 %; for a slow rank this error is as long as many of the others' batches.
constexpr double latest = 0.9, latest_if_slow = 0.5, usual_if_slow = 0.25;
constexpr double slow_compared_with_mean = 0.5;
constexpr double as_early = 1.05;  // compared with the rank that would finish first

// Before it is measured, a rank might be eight times slower than expected: it gets at most two batches, each a third of
// what it could do in the remaining time. If batches are large compared with a rank's share, a rank has to start with
// them.
constexpr double unmeasured_share = 1.0 / 24, large_share = 1.0 / 4;
constexpr std::size_t max_unmeasured = 2;

constexpr int max_refusals = 8;  // in one pass, earliest to finish first: if these may not have a batch, no rank may

}  // namespace

std::vector<int> holders_of_batches(std::span<const batch> plan, const std::vector<int>& holders) {
  if (holders.empty()) return {};
  std::vector<int> ranks;
  for (const batch& b : plan) {
    std::map<int, std::uint64_t> items;
    for (std::uint64_t i = 0; i < b.item_count; ++i) ++items[holders[b.first_item + i]];
    const auto most =
        std::max_element(items.begin(), items.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
    ranks.push_back(most == items.end() ? no_rank : most->first);
  }
  return ranks;
}

dealer::dealer(std::vector<double> believed, std::span<const batch> plan, const std::vector<std::uint64_t>& pending,
               const std::vector<int>& holders)
    : plan_(plan.begin(), plan.end()), holders_(holders), workers_(believed.size()) {
  for (std::size_t r = 0; r < believed.size(); ++r) workers_[r].believed = believed[r];
  for (const std::uint64_t number : pending) {
    const int holder = holder_of(number);
    if (holder == no_rank) {
      pending_.push_back(number);
      continue;
    }
    worker& w = workers_[static_cast<std::size_t>(holder)];
    w.held.push_back(number);
    w.items_held += static_cast<double>(plan_[number].item_count);
  }
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    items_pending_ += items_of(i);
    if (i > 0 && items_of(i) > items_of(i - 1)) falling_ = false;
  }
}

void dealer::stop() {
  pending_.clear();
  for (worker& w : workers_) w.held.clear(), w.items_held = 0;
}

void dealer::ask(int rank) { waiting_.push_back(rank); }

void dealer::done(int rank, std::uint64_t number, double now) {
  worker& w = workers_[static_cast<std::size_t>(rank)];
  const auto place = std::find(w.unfinished.begin(), w.unfinished.end(), number);
  if (place == w.unfinished.end()) return;
  w.unfinished.erase(place);
  const auto items = static_cast<double>(plan_[number].item_count);
  w.items_unfinished -= items;
  w.changed_at = now;
  if (holder_of(number) != no_rank) return;  // copied, not computed: this tells nothing about its speed
  w.ends.push_back({now, items});
  if (w.ends.size() <= max_ends) return;
  w.measured_from = w.ends.front().at;
  w.ends.pop_front();
}

void dealer::grant(worker& w, std::uint64_t number, double now) {
  if (w.unfinished.empty()) {
    // Idle time does not count for its speed.
    const double idle = w.measured() ? now - w.changed_at : now;
    w.measured_from += idle;
    for (worker::end& e : w.ends) e.at += idle;
    w.changed_at = now;
  }
  w.unfinished.push_back(number);
  w.items_unfinished += static_cast<double>(plan_[number].item_count);
}

dealer::outlook dealer::look(double now) const {
  outlook o;
  double measured = 0, believed = 0;
  for (const worker& w : workers_) {
    double speed = 0;
    if (w.measured()) {
      double items = 0;
      for (const worker::end& e : w.ends) items += e.items;
      speed = items / std::max(1e-9, w.ends.back().at - w.measured_from);
      measured += speed;
      believed += w.believed;
    }
    o.speed.push_back(speed);
  }
  const double unit = believed > 0 ? measured / believed : 1;
  for (std::size_t r = 0; r < workers_.size(); ++r) {
    const worker& w = workers_[r];
    if (!w.measured()) o.speed[r] = unit * w.believed;
    double rest = w.items_unfinished;
    if (!w.unfinished.empty() && believed > 0) {
      // If it were faster than this, it would have finished.
      const double since = std::max(1e-9, now - w.changed_at);
      o.speed[r] = std::min(o.speed[r], w.items_unfinished / since);
      rest = std::max(0.0, rest - o.speed[r] * since);
    }
    rest += w.items_held;
    o.rest.push_back(rest);
    o.all_speed += o.speed[r];
    o.all_rest += rest;
  }
  return o;
}

/// The first pending batch of at most so many items: the largest of these.
std::size_t dealer::first_within(double items) const {
  if (!falling_) return items_of(0) <= items ? 0 : pending_.size();
  const auto place = std::partition_point(pending_.begin(), pending_.end(), [&](std::uint64_t number) {
    return static_cast<double>(plan_[number].item_count) > items;
  });
  return static_cast<std::size_t>(place - pending_.begin());
}

bool dealer::slow(int rank, const outlook& o) const {
  return o.speed[static_cast<std::size_t>(rank)] <
         slow_compared_with_mean * o.all_speed / static_cast<double>(workers_.size());
}

bool dealer::first_to_end(int rank, double items, const outlook& o) const {
  const auto own = static_cast<std::size_t>(rank);
  const double own_end = (o.rest[own] + items) / o.speed[own];
  for (std::size_t r = 0; r < workers_.size(); ++r) {
    if (r != own && own_end > as_early * (o.rest[r] + items) / o.speed[r]) return false;
  }
  return true;
}

std::optional<std::size_t> dealer::choose_unmeasured(int rank, const outlook& o) const {
  const auto own = static_cast<std::size_t>(rank);
  const double speed = o.speed[own], share = items_pending_ * speed / o.all_speed;
  if (slow(rank, o)) {
    if (!workers_[own].unfinished.empty()) return std::nullopt;
    const double others_end = (items_pending_ + o.all_rest) / (o.all_speed - speed);
    const bool fits = items_of(smallest()) <= latest_if_slow * others_end * speed;
    return fits || first_to_end(rank, items_of(smallest()), o) ? std::optional(smallest()) : std::nullopt;
  }
  if (workers_[own].unfinished.size() >= max_unmeasured) return std::nullopt;
  if (items_of(0) >= large_share * share) return 0;
  const std::size_t place = first_within(unmeasured_share * share);
  if (place < pending_.size()) return place;
  return smallest();
}

std::optional<std::size_t> dealer::choose(int rank, const outlook& o) const {
  if (workers_.size() == 1) return 0;
  const auto own = static_cast<std::size_t>(rank);
  if (!workers_[own].measured()) return choose_unmeasured(rank, o);
  const double speed = o.speed[own], rest = o.rest[own];
  const bool is_slow = slow(rank, o);
  // A slow rank holds a batch that it takes in advance for long: almost nothing is lost if it asks when it has
  // finished.
  if (is_slow && rest > items_of(smallest())) return std::nullopt;
  const double others_end = (items_pending_ + o.all_rest - rest) / (o.all_speed - speed);
  const std::size_t place = first_within((is_slow ? usual_if_slow : latest) * others_end * speed - rest);
  if (place == 0) return 0;
  // A batch that takes longer than everything else decides when the run ends: start it at once, on the rank that would
  // finish it first.
  if (first_to_end(rank, items_of(0), o)) return 0;
  if (place < pending_.size()) return place;
  const double smallest_items = items_of(smallest());
  if (is_slow && rest + smallest_items <= latest_if_slow * others_end * speed) return smallest();
  if (first_to_end(rank, smallest_items, o)) return smallest();
  return std::nullopt;
}

void dealer::answer_holders(double now, std::vector<answer>& list) {
  std::erase_if(waiting_, [&](int rank) {
    worker& w = workers_[static_cast<std::size_t>(rank)];
    if (w.held.empty()) return false;
    list.push_back({rank, w.held.front()});
    w.items_held -= static_cast<double>(plan_[w.held.front()].item_count);
    grant(w, w.held.front(), now);
    w.held.pop_front();
    return true;
  });
}

std::vector<dealer::answer> dealer::answers(double now) {
  std::vector<answer> list;
  answer_holders(now, list);
  bool granted = !waiting_.empty();
  while (granted && !pending_.empty() && !waiting_.empty()) {
    granted = false;
    const outlook o = look(now);
    const double items = items_of(smallest());
    const auto end = [&](int r) {
      return (o.rest[static_cast<std::size_t>(r)] + items) / o.speed[static_cast<std::size_t>(r)];
    };
    std::stable_sort(waiting_.begin(), waiting_.end(), [&](int a, int b) { return end(a) < end(b); });
    int refusals = 0;
    for (std::size_t i = 0; i < waiting_.size() && refusals < max_refusals && !granted; ++i) {
      worker& w = workers_[static_cast<std::size_t>(waiting_[i])];
      const auto place = choose(waiting_[i], o);
      if (!place) {
        refusals += w.measured() ? 1 : 0;
        continue;
      }
      const std::uint64_t number = pending_[*place];
      items_pending_ -= items_of(*place);
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(*place));
      grant(w, number, now);
      list.push_back({waiting_[i], number});
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      granted = true;
    }
  }
  if (!pending_.empty()) return list;
  for (const int rank : waiting_) list.push_back({rank, std::nullopt});
  waiting_.clear();
  return list;
}

}  // namespace voxherd
