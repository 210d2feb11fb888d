#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mpi/result_reader.hpp"
#include "src/command.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t items_at_once = 65536;

struct tolerance {
  double absolute = 0, relative = 0;
  bool bitwise() const { return absolute == 0 && relative == 0; }
};

/// How one output of the two files differs.
struct difference {
  std::uint64_t values = 0, beyond = 0;
  double largest = 0;
  std::uint64_t where = 0;  ///< value number of the largest one
};

double value_at(const std::byte* at, element_type type) {
  const auto as = [at](auto value) {
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
    case element_type::uint8:
      return as(std::uint8_t{});
    case element_type::int32:
      return as(std::int32_t{});
    case element_type::uint32:
      return as(std::uint32_t{});
    case element_type::uint64:
      return as(std::uint64_t{});
    case element_type::float32:
      return as(float{});
    case element_type::float64:
      return as(double{});
  }
  return 0;
}

void count_difference(const std::byte* a, const std::byte* b, element_type type, const tolerance& t, difference& d) {
  const std::uint64_t number = d.values++;
  if (std::memcmp(a, b, size_of(type)) == 0) return;
  const double x = value_at(a, type), y = value_at(b, type);
  if (std::isnan(x) && std::isnan(y) && !t.bitwise()) return;
  const double apart = x == y ? 0 : std::abs(x - y);
  // Written so that a NaN or an infinity on one side is beyond every tolerance.
  const bool within = apart <= std::max(t.absolute, t.relative * std::max(std::abs(x), std::abs(y)));
  if (t.bitwise() || !within) ++d.beyond;
  if (std::isnan(d.largest) || (apart <= d.largest && d.largest > 0)) return;
  d.largest = apart;
  d.where = number;
}

difference compare_output(const result_reader& a, const result_reader& b, const output_spec& o, const tolerance& t) {
  difference d;
  const std::uint64_t items = a.item_voxels().size();
  for (std::uint64_t first = 0; first < items; first += items_at_once) {
    const batch part{0, first, std::min(items_at_once, items - first)};
    const auto x = a.read_batch(o.name, part), y = b.read_batch(o.name, part);
    for (std::size_t at = 0; at < x.size(); at += size_of(o.type)) count_difference(&x[at], &y[at], o.type, t, d);
  }
  return d;
}

std::string place(const result_reader& r, const output_spec& o, std::uint64_t value) {
  const std::uint64_t components = o.bytes_per_item() / size_of(o.type);
  std::uint64_t voxel = value / components;
  std::string text;
  if (o.layout == output_layout::items) {
    text = fmt::format("item {}, ", voxel);
    voxel = r.item_voxels()[voxel];
  }
  const auto& n = r.grid().size;
  text += fmt::format("voxel {},{},{}", voxel % n[0], voxel / n[0] % n[1], voxel / (n[0] * n[1]));
  return components > 1 ? fmt::format("{}, component {}", text, value % components) : text;
}

/// What makes a value-by-value comparison impossible; empty for nothing.
std::string unlike(const result_reader& a, const result_reader& b) {
  for (const result_reader* r : {&a, &b}) {
    if (!r->complete()) return fmt::format("{} is not whole", r->path());
  }
  if (a.grid().size != b.grid().size) {
    return fmt::format("the images have {} and {} voxels", fmt::join(a.grid().size, "x"),
                       fmt::join(b.grid().size, "x"));
  }
  if (a.item_voxels() != b.item_voxels()) return "the masks differ";
  if (a.grid().voxel_to_world != b.grid().voxel_to_world) return "the images lie differently in space (voxel_to_world)";
  return "";
}

bool compare_outputs(const result_reader& a, const result_reader& b, const tolerance& t) {
  bool same = true;
  fmt::print("{:<24} {:>8} {:>14} {:>12} {:>14}  {}\n", "output", "type", "values", "different", "largest", "where");
  for (const output_spec& o : a.outputs()) {
    if (!b.has(o.name) || b.output(o.name).shape != o.shape || b.output(o.name).type != o.type ||
        b.output(o.name).layout != o.layout) {
      fmt::print("{:<24} only in {}, or of another type or shape in {}\n", o.name, a.path(), b.path());
      same = false;
      continue;
    }
    const difference d = compare_output(a, b, o, t);
    same = same && d.beyond == 0;
    fmt::print("{:<24} {:>8} {:>14} {:>12} {:>14.6g}  {}\n", o.name, name_of(o.type), d.values, d.beyond, d.largest,
               d.beyond == 0 ? "" : place(a, o, d.where));
  }
  for (const output_spec& o : b.outputs()) {
    if (a.has(o.name)) continue;
    fmt::print("{:<24} only in {}\n", o.name, b.path());
    same = false;
  }
  return same;
}

void compare_options(po::options_description& options) {
  options.add_options()("first", po::value<std::string>()->value_name("FILE"), "result file")(
      "second", po::value<std::string>()->value_name("FILE"), "result file")(
      "tolerance", po::value<double>()->value_name("X")->default_value(0),
      "largest absolute difference, in each output's unit, from 0; 0 with --relative 0: bit by bit")(
      "relative", po::value<double>()->value_name("X")->default_value(0),
      "largest difference relative to the larger value, from 0; the wider of the two limits counts");
}

exit_status compare(session& s, const arguments& args) {
  if (!args.has("first") || !args.has("second")) {
    throw failure(exit_status::usage, "compare: two results are wanted; usage: voxherd compare FILE FILE");
  }
  const tolerance t{args.get<double>("tolerance"), args.get<double>("relative")};
  if (!(t.absolute >= 0) || !(t.relative >= 0)) {
    throw failure(exit_status::usage, "--tolerance, --relative: expected a number from 0");
  }
  int same = 1;
  s.on_root([&] {
    const result_reader a(args.get<std::string>("first")), b(args.get<std::string>("second"));
    const std::string why = unlike(a, b);
    if (!why.empty()) fmt::print("{}\n", why);
    same = why.empty() && compare_outputs(a, b, t) ? 1 : 0;
    fmt::print("{}\n", same == 0 ? "different" : t.bitwise() ? "the same bytes" : "the same within the tolerance");
  });
  s.broadcast_bytes(&same, sizeof same);
  return same == 1 ? exit_status::whole : exit_status::different;
}

}  // namespace

extern const command compare_command;
const command compare_command{"compare",       "compare two results, bit by bit or to a tolerance",
                              "FILE FILE",     "first,second",
                              compare_options, compare};

}  // namespace voxherd
