#include "src/show/draft.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/json_text.hpp"
#include "kernels/portable/voxel_status.hpp"
#include "src/show/status_counts.hpp"

namespace voxherd::report {

namespace {

constexpr std::uint64_t max_rows = std::uint64_t{1} << 20;

std::vector<std::uint64_t> finished_items(const result_reader& r) {
  std::vector<std::uint64_t> items;
  for (const batch& b : r.batches()) {
    if (r.journal()[b.number].done != 1) continue;
    for (std::uint64_t i = 0; i < b.item_count; ++i) items.push_back(b.first_item + i);
  }
  return items;
}

bool has_maps(const result_reader& r) {
  return std::any_of(r.outputs().begin(), r.outputs().end(),
                     [](const output_spec& o) { return o.layout == output_layout::volume; });
}

bool keeps_outputs(float status) {
  for (const voxel_status_text& text : voxel_status_texts)
    if (static_cast<float>(static_cast<int>(text.status)) == status) return text.keeps_outputs;
  return false;
}

/// The voxels whose status says that they have values; all, if there is no such map.
std::vector<std::uint64_t> voxels_with_values(const result_reader& r, const std::vector<std::uint64_t>& voxels) {
  if (!has_status_map(r)) return voxels;
  const std::vector<float> status = r.read_map("status");
  std::vector<std::uint64_t> fitted;
  for (const std::uint64_t v : voxels)
    if (keeps_outputs(status[v])) fitted.push_back(v);
  return fitted;
}

}  // namespace

draft::draft(const image_grid& g, view_sides sides) : grid(g), view(g, sides) {
  if (is_made_up(g))
    out.notes.emplace_back(
        "The orientation looks made up (axes along the world's, origin 0): left and right may be exchanged.");
}

result_draft::result_draft(const result_reader& r, view_sides sides)
    : draft(r.grid(), sides), result(r), items(finished_items(r)) {
  if (!r.point_offsets().empty()) item_word = "paths";
  if (!has_maps(r)) return;
  voxels.reserve(items.size());
  for (const std::uint64_t i : items) voxels.push_back(r.item_voxels()[i]);
  fitted = voxels_with_values(r, voxels);
  slices = plan_mosaic(view, voxels, max_slices);
}

const output_spec* result_draft::find(const std::string& name) const {
  return result.has(name) ? &result.output(name) : nullptr;
}

map_values result_draft::read_shown(const std::string& name) const {
  const std::size_t depth = grid.size[2], area = grid.size[0] * grid.size[1];
  std::vector<bool> is_shown(depth);
  slices.for_each_pixel(
      [&](std::size_t, std::size_t, const auto& place) { is_shown[view.voxel(place) / area] = true; });
  std::vector<float> values;
  std::vector<std::size_t> place(depth, map_values::not_there);
  std::size_t floats = 0;
  for (std::size_t z = 0; z < depth; ++z) {
    if (!is_shown[z]) continue;
    const std::vector<float> slice = result.read_slices(name, z, 1);
    place[z] = values.size();
    values.insert(values.end(), slice.begin(), slice.end());
    floats = slice.size();
  }
  return {std::move(values), floats, std::move(place)};
}

/// A few slices at a time: the complete map of several numbers per voxel may have hundreds of megabytes.
void result_draft::visit(const std::string& name, std::span<const std::uint64_t> at, const voxel_visitor& use) const {
  constexpr std::size_t max_bytes = 8 << 20;  // read at a time
  const std::size_t width = result.output(name).bytes_per_item() / element_bytes(result.output(name).type);
  const std::size_t area = grid.size[0] * grid.size[1], slice_bytes = area * width * sizeof(float);
  const std::size_t slices_at_a_time = std::max<std::size_t>(1, max_bytes / slice_bytes);
  std::vector<float> values;
  std::size_t first = 0, count = 0;  // slices in `values`
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::size_t z = at[i] / area;
    if (z < first || z >= first + count) {
      first = z, count = std::min<std::size_t>(slices_at_a_time, grid.size[2] - z);
      values = result.read_slices(name, first, count);
    }
    use(i, &values[(at[i] - first * area) * width]);
  }
}

std::vector<float> result_draft::read_rows(const output_spec& o) const {
  const std::uint64_t width = o.bytes_per_item() / element_bytes(o.type), stored = result.item_voxels().size();
  const std::uint64_t step = (items.size() + max_rows - 1) / max_rows;
  constexpr std::uint64_t piece = std::uint64_t{1} << 16;
  std::vector<float> values, rows;
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < items.size(); i += step) {
    const std::uint64_t item = items[i];
    if (rows.empty() || item >= first + rows.size() / width) {
      first = item;
      rows = result.read_items(o.name, first, std::min(piece, stored - first));
    }
    values.push_back(rows[(item - first) * width]);
  }
  return values;
}

void draft::show_anatomy(std::vector<float> values) {
  if (values.size() != grid.voxel_count() || slices.slices.empty()) return;
  const double last = describe_values(values).q98;
  if (!(last > 0)) return;
  for (float& v : values) v = std::isfinite(v) ? static_cast<float>(std::clamp(v / last, 0.0, 1.0)) : 0;
  anatomy = std::move(values);
  constexpr double margin = 0.25;  // of the box, on each side
  for (const int axis : {slices.across, slices.down}) {
    const auto a = static_cast<std::size_t>(axis);
    const auto more = static_cast<std::uint64_t>(margin * static_cast<double>(slices.box.extent(axis)));
    slices.box.first[a] -= std::min(more, slices.box.first[a]);
    slices.box.last[a] = std::min(view.size(axis) - 1, slices.box.last[a] + more);
  }
}

void draft::warn(std::string text) { out.warnings.push_back(std::move(text)); }

section& draft::add_section(std::string title) {
  out.sections.push_back({std::move(title), {}, {}, {}});
  return out.sections.back();
}

void draft::cite(std::string text, std::string doi) { out.references.push_back({std::move(text), std::move(doi)}); }

std::vector<float> read_values(const draft& d, const output_spec& o) {
  if (o.layout == output_layout::items) return d.read_rows(o);
  std::vector<float> values(d.fitted.size());
  d.visit(o.name, d.fitted, [&](std::size_t i, const float* all) { values[i] = all[0]; });
  return values;
}

bool is_map(const draft& d, const std::string& name, std::size_t width) {
  const output_spec* o = d.find(name);
  return o != nullptr && o->layout == output_layout::volume && o->bytes_per_item() == width * element_bytes(o->type);
}

std::string explain(const std::string& name, const std::string& meaning, const std::string& more) {
  std::string text = meaning.empty() ? "" : name + ": " + meaning + (meaning.ends_with('.') ? "" : ".");
  if (!more.empty()) text += (text.empty() ? "" : " ") + more;
  return text;
}

std::string configured(const result_reader& r, const std::string& option, const std::string& standard) {
  const auto& all = r.configuration();
  if (!all.is_object() || !all.contains(option)) return standard;
  return all.at(option).is_string() ? all.at(option).get<std::string>() : dump_json(all.at(option));
}

namespace {

bool has_one_number(const output_spec& o) {
  const bool is_code = o.type == element_type::uint8 || o.type == element_type::uint64;
  return o.shape.empty() && o.layout != output_layout::points && !is_code;
}

}  // namespace

const distribution& describe_output(const draft& d, const output_spec& o) {
  if (d.described.empty()) {
    std::vector<output_spec> outputs = d.outputs();
    std::erase_if(outputs, [](const output_spec& one) { return !has_one_number(one); });
    constexpr std::size_t at_a_time = 16;  // their values are in memory together
    for (std::size_t first = 0; first < outputs.size(); first += at_a_time) {
      const std::size_t count = std::min(at_a_time, outputs.size() - first);
      std::vector<std::vector<float>> values;
      for (std::size_t i = 0; i < count; ++i) values.push_back(read_values(d, outputs[first + i]));
      const std::vector<distribution> all = describe_all(std::move(values));
      for (std::size_t i = 0; i < count; ++i) d.described.emplace(outputs[first + i].name, all[i]);
    }
  }
  if (const auto known = d.described.find(o.name); known != d.described.end()) return known->second;
  return d.described.emplace(o.name, describe_values(read_values(d, o))).first->second;
}

std::vector<std::pair<output_spec, distribution>> describe_outputs(const draft& d) {
  std::vector<std::pair<output_spec, distribution>> all;
  for (const output_spec& o : d.outputs())
    if (has_one_number(o)) all.emplace_back(o, describe_output(d, o));
  return all;
}

std::string default_page_path(const std::string& result) {
  std::string name = result;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  for (const std::string_view ending : {".h5", ".nii.gz", ".nii"})
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size()) + ".report.html";
  return name + ".report.html";
}

const output_spec* image_draft::find(const std::string& name) const {
  const auto found = std::find_if(maps_.begin(), maps_.end(), [&](const auto& m) { return m.first.name == name; });
  return found == maps_.end() ? nullptr : &found->first;
}

std::vector<output_spec> image_draft::outputs() const {
  std::vector<output_spec> all;
  for (const auto& [o, values] : maps_) all.push_back(o);
  return all;
}

map_values image_draft::read_map(const std::string& name) const {
  const auto found = std::find_if(maps_.begin(), maps_.end(), [&](const auto& m) { return m.first.name == name; });
  return found == maps_.end() ? map_values() : found->second;
}

void image_draft::visit(const std::string& name, std::span<const std::uint64_t> at, const voxel_visitor& use) const {
  const map_values map = read_map(name);
  const std::size_t width = find(name)->bytes_per_item() / sizeof(float);
  for (std::size_t i = 0; i < at.size(); ++i) use(i, &map[at[i] * width]);
}

void image_draft::add(std::string name, std::size_t width, std::string unit, std::string meaning,
                      std::vector<float> values) {
  output_spec o{std::move(name), element_type::float32, {}, output_layout::volume, std::move(unit), std::move(meaning)};
  if (width > 1) o.shape = {width};
  described.clear();
  maps_.emplace_back(std::move(o), map_values(std::move(values)));
}

void image_draft::show(std::vector<std::uint64_t> inside) {
  described.clear();
  voxels = inside;
  fitted = std::move(inside);
  slices = plan_mosaic(view, voxels, max_slices);
}

}  // namespace voxherd::report
