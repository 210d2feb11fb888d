#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "core/command.hpp"
#include "core/step_outputs.hpp"
#include "core/text.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/result/result_layout.hpp"
#include "mpi/result/result_reader.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t items_at_once = 65536, points_at_once = 1 << 20;

struct tolerance {
  double absolute = 0, relative = 0;
  bool bitwise() const { return absolute == 0 && relative == 0; }
};

/// The differences of one output.
struct difference {
  std::uint64_t values = 0, beyond = 0;
  double largest = 0;
  std::uint64_t where = 0;  ///< index of the value with the largest difference
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
  if (std::memcmp(a, b, element_bytes(type)) == 0) return;
  const double x = value_at(a, type), y = value_at(b, type);
  if (std::isnan(x) && std::isnan(y) && !t.bitwise()) return;
  const double apart = x == y ? 0 : std::abs(x - y);
  // Written so that a NaN or an infinity on only one side exceeds every tolerance.
  const bool within = apart <= std::max(t.absolute, t.relative * std::max(std::abs(x), std::abs(y)));
  if (t.bitwise() || !within) ++d.beyond;
  if (std::isnan(d.largest) || (apart <= d.largest && d.largest > 0)) return;
  d.largest = apart;
  d.where = number;
}

difference compare_output(const result_reader& a, const result_reader& b, const output_spec& o, const tolerance& t) {
  difference d;
  const auto count = [&](const std::vector<std::byte>& x, const std::vector<std::byte>& y) {
    for (std::size_t at = 0; at < x.size(); at += element_bytes(o.type)) count_difference(&x[at], &y[at], o.type, t, d);
  };
  for (std::uint64_t first = 0; o.layout == output_layout::points && first < a.point_count(); first += points_at_once) {
    const std::uint64_t points = std::min(points_at_once, a.point_count() - first);
    count(a.read_row_bytes(o.name, first, points), b.read_row_bytes(o.name, first, points));
  }
  if (o.layout == output_layout::points) return d;
  const std::uint64_t items = a.item_voxels().size();
  for (std::uint64_t first = 0; first < items; first += items_at_once) {
    const batch part{0, first, std::min(items_at_once, items - first)};
    count(a.read_batch(o.name, part), b.read_batch(o.name, part));
  }
  return d;
}

difference compare_constant(const constant& a, const constant& b, const tolerance& t) {
  difference d;
  const auto x = std::as_bytes(std::span(a.values)), y = std::as_bytes(std::span(b.values));
  for (std::size_t at = 0; at < x.size(); at += sizeof(double)) {
    count_difference(&x[at], &y[at], element_type::float64, t, d);
  }
  return d;
}

/// Item and point of a value with layout `points`.
std::string describe_point(const result_reader& r, std::uint64_t point) {
  const auto& offsets = r.point_offsets();
  const auto next = std::upper_bound(offsets.begin(), offsets.end(), point);
  return fmt::format("item {}, point {}", next - offsets.begin() - 1, point - *(next - 1));
}

std::string place(const result_reader& r, const output_spec& o, std::uint64_t value) {
  const std::uint64_t components = o.bytes_per_item() / element_bytes(o.type);
  std::uint64_t voxel = value / components;
  std::string text;
  if (o.layout == output_layout::points) {
    text = describe_point(r, voxel);
    return components > 1 ? fmt::format("{}, component {}", text, value % components) : text;
  }
  if (o.layout == output_layout::items) {
    text = fmt::format("item {}", voxel);
    voxel = r.item_voxels()[voxel];
  }
  const auto& n = r.grid().size;
  if (voxel != no_voxel)
    text += fmt::format("{}voxel {},{},{}", text.empty() ? "" : ", ", voxel % n[0], voxel / n[0] % n[1],
                        voxel / (n[0] * n[1]));
  return components > 1 ? fmt::format("{}, component {}", text, value % components) : text;
}

std::string shown_path(const result_reader& r) { return one_line(r.path()); }

/// The reason why the values cannot be compared; empty if they can.
std::string unlike(const result_reader& a, const result_reader& b) {
  for (const result_reader* r : {&a, &b}) {
    if (!r->complete()) return fmt::format("{} is incomplete", shown_path(*r));
  }
  if (a.grid().size != b.grid().size) {
    return fmt::format("the images have {} and {} voxels", fmt::join(a.grid().size, "x"),
                       fmt::join(b.grid().size, "x"));
  }
  if (a.item_voxels() != b.item_voxels()) return "the items' voxels (the masks) differ";
  if (a.point_offsets() != b.point_offsets()) return "the items have different numbers of points";
  if (a.grid().voxel_to_world != b.grid().voxel_to_world)
    return "the images have different positions in space (voxel_to_world)";
  return "";
}

void print_row(const std::string& name, element_type type, const difference& d, const std::string& where) {
  fmt::print("{:<24} {:>8} {:>14} {:>12} {:>14.6g}  {}\n", name, type_name(type), d.values, d.beyond, d.largest, where);
}

/// Compares constants that are results (a connectome), not inputs.
bool compare_constants(const result_reader& a, const result_reader& b, const tolerance& t) {
  bool same = true;
  const auto in = [](const result_reader& r, const constant& wanted) -> const constant* {
    for (const constant& c : r.constants()) {
      if (dataset_path(c) == dataset_path(wanted) && c.shape == wanted.shape) return &c;
    }
    return nullptr;
  };
  for (const constant& c : a.constants()) {
    if (c.group == "inputs") continue;
    const std::string name = c.group + "/" + c.name;
    const constant* other = in(b, c);
    if (other == nullptr) {
      fmt::print("{:<24} only in {}, or with another shape in {}\n", name, shown_path(a), shown_path(b));
      same = false;
      continue;
    }
    const difference d = compare_constant(c, *other, t);
    same = same && d.beyond == 0;
    print_row(name, element_type::float64, d, d.beyond == 0 ? "" : fmt::format("value {}", d.where));
  }
  for (const constant& c : b.constants()) {
    if (c.group == "inputs" || in(a, c) != nullptr) continue;
    fmt::print("{:<24} only in {}, or with another shape in {}\n", c.group + "/" + c.name, shown_path(b),
               shown_path(a));
    same = false;
  }
  return same;
}

bool compare_outputs(const result_reader& a, const result_reader& b, const tolerance& t) {
  bool same = true;
  fmt::print("{:<24} {:>8} {:>14} {:>12} {:>14}  {}\n", "output", "type", "values", "different", "largest", "where");
  for (const output_spec& o : a.outputs()) {
    if (!b.has(o.name) || b.output(o.name).shape != o.shape || b.output(o.name).type != o.type ||
        b.output(o.name).layout != o.layout) {
      fmt::print("{:<24} only in {}, or with another type or shape in {}\n", o.name, shown_path(a), shown_path(b));
      same = false;
      continue;
    }
    const difference d = compare_output(a, b, o, t);
    same = same && d.beyond == 0;
    print_row(o.name, o.type, d, d.beyond == 0 ? "" : place(a, o, d.where));
  }
  for (const output_spec& o : b.outputs()) {
    if (a.has(o.name)) continue;
    fmt::print("{:<24} only in {}\n", o.name, shown_path(b));
    same = false;
  }
  return same;
}

struct compare_request {
  std::string first, second;
  double absolute = 0, relative = 0;
};

const option_table<compare_request>& compare_options() {
  using T = compare_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"first", &T::first, text_kind::file, {.text = "result file", .required = true, .place = 1}},
      {"second", &T::second, text_kind::file, {.text = "result file", .required = true, .place = 2}}})
    .group("Tolerance", {
      {"tolerance", &T::absolute, at_least(0),
       {"largest absolute difference, in each output's unit; 0 with --relative 0: compare bit by bit"}},
      {"relative", &T::relative, at_least(0),
       {"largest difference relative to the larger value; the wider of the two limits counts"}}});
  // clang-format on
  return table;
}

/// Prints what differs. Throws failure (bad_data).
bool are_same(const result_reader& a, const result_reader& b, const tolerance& t) {
  if (const std::string why = unlike(a, b); !why.empty()) {
    fmt::print("{}\n", why);
    return false;
  }
  a.check_batches();
  b.check_batches();
  const bool outputs = compare_outputs(a, b, t), constants = compare_constants(a, b, t);
  return outputs && constants;
}

exit_status run_compare(session& s, const compare_request& request) {
  const tolerance t{request.absolute, request.relative};
  const bool same = s.from_root([&] {
    const result_reader a(request.first), b(request.second);
    const bool found = are_same(a, b, t);
    fmt::print("{}\n", !found ? "different" : t.bitwise() ? "the same bytes" : "the same within the tolerance");
    return found;
  });
  return same ? exit_status::complete : exit_status::different;
}

}  // namespace

extern const command compare_command = run_by_first_rank(make_command<compare_options, run_compare>(
    {"compare", "compare two results, bit by bit or to a tolerance", "voxherd compare cpu.h5 gpu.h5 --relative 1e-4"}));

}  // namespace voxherd
