#include "mpi/result/result_layout.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "core/text.hpp"
#include "mpi/result/journal.hpp"

namespace voxherd {

namespace {

struct layout_word {
  output_layout layout;
  const char* word;
  const char* group;
};
constexpr std::array<layout_word, 3> layout_words{{{output_layout::volume, "volume", "/maps/"},
                                                   {output_layout::items, "items", "/samples/"},
                                                   {output_layout::points, "points", "/points/"}}};

const layout_word& word_of(output_layout layout) {
  return *std::find_if(layout_words.begin(), layout_words.end(), [&](const auto& w) { return w.layout == layout; });
}

output_layout layout_named(const std::string& name) {
  for (const layout_word& w : layout_words) {
    if (name == w.word) return w.layout;
  }
  refuse_data("attribute `contents`: unknown layout `{}`", name);
}

element_type type_named(const std::string& name) {
  for (const element_type type : element_types) {
    if (name == type_name(type)) return type;
  }
  refuse_data("attribute `contents`: unknown type `{}`", name);
}

std::uint64_t product(const std::vector<std::uint64_t>& shape) {
  std::uint64_t all = 1;
  for (const std::uint64_t extent : shape) all *= extent;
  return all;
}

}  // namespace

bool has_layout(const std::vector<output_spec>& outputs, output_layout wanted) {
  return std::any_of(outputs.begin(), outputs.end(), [&](const output_spec& o) { return o.layout == wanted; });
}

std::uint64_t point_count(const result_layout& layout) {
  return layout.point_offsets.empty() ? 0 : layout.point_offsets.back();
}

std::vector<std::uint64_t> dataset_shape(const output_spec& output, const result_layout& layout) {
  std::vector<std::uint64_t> shape;
  if (output.layout == output_layout::volume) {
    shape = {layout.grid.size[2], layout.grid.size[1], layout.grid.size[0]};
  } else {
    shape = {output.layout == output_layout::points ? point_count(layout) : layout.item_voxels.size()};
  }
  shape.insert(shape.end(), output.shape.begin(), output.shape.end());
  return shape;
}

std::string dataset_path(const output_spec& output) { return word_of(output.layout).group + output.name; }

std::string dataset_path(const constant& c) { return "/" + c.group + "/" + c.name; }

const output_spec* polyline_points(const result_layout& layout) {
  for (const output_spec& o : layout.outputs) {
    if (o.layout == output_layout::points && o.name == "position" && o.type == element_type::float32 &&
        o.shape == std::vector<std::uint64_t>{3}) {
      return &o;
    }
  }
  return nullptr;
}

std::uint64_t polyline_bytes(const result_layout& layout) {
  return polyline_points(layout) == nullptr ? 0 : 8 * point_count(layout) + layout.item_voxels.size() + 3 * 8;
}

std::uint64_t data_bytes(const result_layout& layout) {
  const std::uint64_t items = layout.item_voxels.size();
  std::uint64_t bytes = summary_bytes + 8 * items + 8 * (layout.batches.size() + 1);
  bytes += sizeof(journal_entry) * layout.batches.size() + 8 * layout.point_offsets.size() + polyline_bytes(layout);
  for (const output_spec& o : layout.outputs) bytes += product(dataset_shape(o, layout)) * element_bytes(o.type);
  for (const constant& c : layout.constants) bytes += 8 * c.values.size();
  return bytes;
}

nlohmann::json describe_contents(const result_layout& layout) {
  nlohmann::json outputs = nlohmann::json::array(), inputs = nlohmann::json::array();
  for (const output_spec& o : layout.outputs) {
    outputs.push_back({{"name", o.name},
                       {"type", type_name(o.type)},
                       {"shape", o.shape},
                       {"layout", word_of(o.layout).word},
                       {"unit", o.unit},
                       {"meaning", o.meaning}});
  }
  for (const constant& c : layout.constants) {
    inputs.push_back(
        {{"name", c.name}, {"group", c.group}, {"shape", c.shape}, {"unit", c.unit}, {"meaning", c.meaning}});
  }
  return {{"outputs", outputs}, {"inputs", inputs}};
}

namespace {

/// The library would convert other numbers, and those beyond 2^64 to any.
std::vector<std::uint64_t> read_shape(const nlohmann::json& shape) {
  std::vector<std::uint64_t> extents;
  for (const nlohmann::json& extent : shape) {
    if (!extent.is_number_unsigned())
      refuse_data("attribute `contents`: a shape has the extent {}, expected a whole number", dump_json(extent));
    extents.push_back(extent.get<std::uint64_t>());
  }
  return extents;
}

}  // namespace

void read_contents(const nlohmann::json& contents, result_layout& layout) {
  for (const auto& o : contents.at("outputs")) {
    layout.outputs.push_back({o.at("name"), type_named(o.at("type")), read_shape(o.at("shape")),
                              layout_named(o.at("layout")), o.at("unit"), o.at("meaning")});
  }
  for (const auto& c : contents.at("inputs")) {
    layout.constants.push_back(
        {c.at("name"), read_shape(c.at("shape")), {}, c.at("unit"), c.at("meaning"), c.at("group")});
  }
  check_names(layout);
  for (const output_spec& o : layout.outputs)
    if (std::find(o.shape.begin(), o.shape.end(), 0u) != o.shape.end())
      refuse_data("attribute `contents`: {} has no values per row", dataset_path(o));
}

namespace {

/// Exports give files of this name the ending .nii.gz, and file systems have names of up to 255 bytes.
constexpr std::size_t max_name_bytes = 255 - 7;

void check_name(const std::string& name, const char* of) {
  const bool has_separator = std::any_of(
      name.begin(), name.end(), [](char c) { return c == '/' || static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
  if (name.empty() || name == "." || name == ".." || has_separator)
    refuse_data("`{}` is the name of {}, expected a name without slashes and control characters", one_line(name), of);
  if (name.size() > max_name_bytes)
    refuse_data("`{}...` is the name of {}, expected a name of at most {} bytes", one_line(name.substr(0, 40)), of,
                max_name_bytes);
}

}  // namespace

void check_names(const result_layout& layout) {
  std::set<std::string> paths;
  const auto add = [&](const std::string& path) {
    if (!paths.insert(path).second) refuse_data(path + " is listed twice");
  };
  for (const output_spec& o : layout.outputs) {
    check_name(o.name, "an output");
    add(dataset_path(o));
  }
  for (const constant& c : layout.constants) {
    check_name(c.group, "a group");
    check_name(c.name, "a dataset");
    add(dataset_path(c));
  }
}

}  // namespace voxherd
