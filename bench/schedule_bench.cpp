// Predicts how evenly the program's own dealer spreads a study over ranks of given speeds, on simulated time.
#include <fmt/core.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <fstream>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "tests/run/reference/simulated_ranks.hpp"

namespace {

namespace po = boost::program_options;
using namespace voxherd;
using toy::simulated_rank;

struct study {
  std::uint64_t items = 0;
  std::vector<batch> plan;
  double seconds_per_batch = 0;
};

struct prediction {
  std::size_t ranks = 0, batches = 0;
  double ideal_s = 0;      ///< all work divided by all speeds
  double predicted_s = 0;  ///< until the last batch ends
  double first_idle_s = 0, mean_busy_s = 0;

  double efficiency() const { return ideal_s / predicted_s; }
  double balance() const { return mean_busy_s / predicted_s; }
};

std::vector<batch> plan_for(std::uint64_t items, const batch_sizes& sizes) {
  std::vector<std::uint64_t> voxels(items);
  std::iota(voxels.begin(), voxels.end(), 0);
  image_grid grid;
  grid.size = {items, 1, 1};
  return make_plan(partition_kind::voxels, voxels, grid, sizes);
}

double batch_seconds(const study& s, const simulated_rank& r, std::uint64_t number) {
  return s.seconds_per_batch + static_cast<double>(s.plan[number].item_count) / r.items_per_second;
}

/// The least time in which ranks of these speeds can do the study's batches: they share all of it without a gap, and
/// the fastest rank does the largest batch.
double lower_bound(const study& s, const std::vector<simulated_rank>& ranks) {
  double batches_per_second = 0, items_per_second = 0, largest_s = 1e300;
  const auto largest = std::max_element(s.plan.begin(), s.plan.end(),
                                        [](const batch& a, const batch& b) { return a.item_count < b.item_count; });
  for (const simulated_rank& r : ranks) {
    items_per_second += r.items_per_second;
    largest_s = std::min(largest_s, batch_seconds(s, r, static_cast<std::uint64_t>(largest - s.plan.begin())));
    batches_per_second += 1 / std::max(s.seconds_per_batch, 1e-300);
  }
  const double shared = static_cast<double>(s.items) / items_per_second;
  const double overhead = static_cast<double>(s.plan.size()) / batches_per_second;
  return std::max({shared, overhead, largest_s});
}

/// Throws unless each batch was done once, no rank was busy longer than the run took, and the run is not faster than
/// possible.
void verify(const study& s, const std::vector<simulated_rank>& ranks, const toy::simulated_run& run) {
  constexpr double rounding = 1e-9;
  for (std::size_t i = 0; i < run.times_done.size(); ++i)
    if (run.times_done[i] != 1)
      throw std::logic_error(fmt::format("batch {} was done {} times, expected once", i, run.times_done[i]));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    double busy = 0;
    for (const std::uint64_t number : ranks[i].batches) busy += batch_seconds(s, ranks[i], number);
    if (busy > ranks[i].last_end * (1 + rounding))
      throw std::logic_error(
          fmt::format("rank {} was busy for {} s, but ended after {} s", i, busy, ranks[i].last_end));
  }
  const double bound = lower_bound(s, ranks);
  if (run.seconds < bound * (1 - rounding))
    throw std::logic_error(fmt::format("the run took {} s, less than the bound of {} s", run.seconds, bound));
}

prediction predict(const study& s, std::vector<simulated_rank> ranks) {
  std::vector<std::uint64_t> all(s.plan.size());
  std::iota(all.begin(), all.end(), 0);
  const toy::simulated_run run = toy::deal_to(ranks, s.plan, all);
  verify(s, ranks, run);
  prediction p;
  p.ranks = ranks.size(), p.batches = s.plan.size(), p.predicted_s = p.first_idle_s = run.seconds;
  double speed = 0;
  for (const simulated_rank& r : ranks) {
    speed += r.items_per_second;
    p.first_idle_s = std::min(p.first_idle_s, r.last_end);
    for (const std::uint64_t number : r.batches)
      p.mean_busy_s += batch_seconds(s, r, number) / static_cast<double>(ranks.size());
  }
  p.ideal_s = static_cast<double>(s.items) / speed;
  return p;
}

std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t used = 0;
    numbers.push_back(std::stod(text.substr(at), &used));
    if (!(numbers.back() > 0)) throw std::invalid_argument("expected numbers above 0, separated by commas: " + text);
    at += used;
    if (at < text.size() && text[at++] != ',')
      throw std::invalid_argument("expected numbers separated by commas: " + text);
  }
  return numbers;
}

void print(const std::vector<prediction>& all, std::ostream& csv) {
  fmt::print("{:>6} {:>8} {:>10} {:>12} {:>13} {:>11} {:>8}\n", "ranks", "batches", "ideal s", "predicted s",
             "first idle s", "efficiency", "balance");
  csv << "ranks,batches,ideal_s,predicted_s,first_idle_s,efficiency,balance\n";
  for (const prediction& p : all) {
    fmt::print("{:>6} {:>8} {:>10.3f} {:>12.3f} {:>13.3f} {:>11.4f} {:>8.4f}\n", p.ranks, p.batches, p.ideal_s,
               p.predicted_s, p.first_idle_s, p.efficiency(), p.balance());
    csv << fmt::format("{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f}\n", p.ranks, p.batches, p.ideal_s, p.predicted_s,
                       p.first_idle_s, p.efficiency(), p.balance());
  }
}

int run(int argc, char** argv) {
  std::uint64_t items = 0, largest = 0, last = 0, most = 0;
  double speed = 0, per_batch = 0;
  std::string ranks, speeds, csv;
  po::options_description options(
      "Predicts time, efficiency and balance of a run from the program's own dealer on simulated time");
  // clang-format off
  options.add_options()
    ("help,h", "print this text")
    ("items", po::value(&items)->default_value(900416), "voxels in the mask")
    ("largest", po::value(&largest)->default_value(14336), "items in the largest batch")
    ("last", po::value(&last)->default_value(2048), "items in the last batches")
    ("max", po::value(&most)->default_value(32768), "limit of a batch's items (of the analysis)")
    ("ranks", po::value(&ranks)->default_value("1,2,4,8,16,32,64"), "numbers of equal ranks to predict")
    ("items-per-second", po::value(&speed)->default_value(60000), "speed of each of them")
    ("speeds", po::value(&speeds), "one run on ranks of these speeds (items/s) instead of --ranks")
    ("seconds-per-batch", po::value(&per_batch)->default_value(0), "what a batch takes beyond its items")
    ("csv", po::value(&csv), "also write the table to this file");
  // clang-format on
  po::variables_map given;
  po::store(po::parse_command_line(argc, argv, options), given);
  po::notify(given);
  if (given.count("help")) {
    std::cout << options;
    return 0;
  }
  if (items == 0 || largest == 0 || !(speed > 0) || !(per_batch >= 0))
    throw std::invalid_argument(
        "--items, --largest and --items-per-second must be above 0, --seconds-per-batch at least 0");
  const study s{items, plan_for(items, falling_sizes(largest, last, most)), per_batch};
  std::vector<std::vector<simulated_rank>> teams;
  const auto rank_with = [&](double items_per_second) {
    simulated_rank r;
    r.seconds_per_batch = per_batch;
    r.items_per_second = items_per_second;
    return r;
  };
  if (given.count("speeds")) {
    teams.emplace_back();
    for (const double own : numbers_in(speeds)) teams.back().push_back(rank_with(own));
  } else {
    for (const double count : numbers_in(ranks)) teams.emplace_back(static_cast<std::size_t>(count), rank_with(speed));
  }
  std::vector<prediction> all;
  for (const auto& team : teams) all.push_back(predict(s, team));
  std::ofstream file;
  if (!csv.empty()) {
    file.open(csv);
    if (!file) throw std::runtime_error("cannot write " + csv);
  }
  print(all, file);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "schedule_bench: error: " << e.what() << "\n";
    return 1;
  }
}
