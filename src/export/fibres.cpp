#include "src/export/fibres.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "core/text.hpp"
#include "src/export/export_plan.hpp"
#include "src/io/output_file.hpp"

namespace voxherd {

namespace {

constexpr auto position = "position";

const result_reader& require_fibres(const result_reader& r) {
  if (!has_fibres(r))
    refuse_data(
        "{}: is a result of {} without paths, expected one of geodesic, or of connect --paths; use --to nifti for the "
        "maps of any result",
        r.path(), r.analysis_name());
  require_complete(r);
  return r;
}

}  // namespace

std::vector<std::uint32_t> read_start_points(const result_reader& result) {
  const auto& offsets = result.point_offsets();
  std::vector<std::uint32_t> starts =
      result.read_indices("start", 0, result.item_voxels().size(), result.point_count() + 1);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::uint64_t points = offsets.empty() ? 0 : offsets[i + 1] - offsets[i];
    if (starts[i] > 0 && starts[i] >= points)
      refuse_data("{}: `start` of path {} is {}, but it has {}; is it a complete copy of a voxherd result?",
                  result.path(), i, starts[i], counted(points, "point"));
  }
  return starts;
}

bool has_fibres(const result_reader& result) {
  if (!result.has(position)) return false;
  const output_spec& o = result.output(position);
  return o.layout == output_layout::points && o.type == element_type::float32 &&
         o.shape == std::vector<std::uint64_t>{3};
}

result_fibres::result_fibres(const std::string& path)
    : own_(std::make_unique<result_reader>(path)), result_(require_fibres(*own_)) {
  list_arrays();
}

result_fibres::result_fibres(const result_reader& r, std::vector<std::uint64_t> items)
    : result_(r), items_(std::move(items)), offsets_{0} {
  for (const std::uint64_t item : *items_)
    offsets_.push_back(offsets_.back() + r.point_offsets()[item + 1] - r.point_offsets()[item]);
  list_arrays();
}

void result_fibres::list_arrays() {
  for (const output_spec& o : result_.outputs()) {
    const fibre_array array{o.name, o.type, o.bytes_per_item() / element_bytes(o.type)};
    if (o.layout == output_layout::items) fibre_arrays_.push_back(array);
    if (o.layout == output_layout::points && o.name != position) point_arrays_.push_back(array);
  }
}

std::vector<std::string> result_fibres::history() const {
  const std::string made = result_.provenance().value("command_line", "voxherd " + result_.analysis_name());
  return {fmt::format("{}  (version={})", made, result_.version()),
          fmt::format("voxherd export {}  (version={})", quoted_word(result_.path()), version)};
}

void result_fibres::read_stored(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const {
  if (rows.empty()) return;
  const auto bytes = result_.read_row_bytes(array.name, first, rows.size() / array.row_bytes());
  std::copy(bytes.begin(), bytes.end(), rows.begin());
}

/// Rows that are not far from each other in the file are read together: each reading takes time.
void result_fibres::read_chosen(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const {
  constexpr std::uint64_t max_unused = 4;  // per row that is used
  const std::vector<std::uint64_t>& items = *items_;
  const std::size_t width = array.row_bytes();
  std::vector<std::byte> block;
  for (std::uint64_t end = first; !rows.empty(); first = end) {
    const std::uint64_t last = first + rows.size() / width;
    for (++end; end < last && items[end] - items[first] <= (1 + max_unused) * (end - first);) ++end;
    block.resize((items[end - 1] - items[first] + 1) * width);
    read_stored(array, items[first], block);
    for (std::uint64_t i = first; i < end; ++i) {
      const auto row = block.begin() + static_cast<std::ptrdiff_t>((items[i] - items[first]) * width);
      std::copy_n(row, width, rows.begin());
      rows = rows.subspan(width);
    }
  }
}

/// Neighbours in the file are read together.
void result_fibres::read_chosen_points(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const {
  const auto& stored = result_.point_offsets();
  const std::vector<std::uint64_t>& items = *items_;
  auto fibre =
      static_cast<std::size_t>(std::upper_bound(offsets_.begin(), offsets_.end(), first) - offsets_.begin()) - 1;
  while (!rows.empty()) {
    const std::uint64_t last = first + rows.size() / array.row_bytes();
    std::size_t end = fibre + 1;
    while (end < items.size() && offsets_[end] < last && items[end] == items[end - 1] + 1) ++end;
    const std::uint64_t bytes = (std::min(last, offsets_[end]) - first) * array.row_bytes();
    read_stored(array, stored[items[fibre]] + first - offsets_[fibre], rows.first(bytes));
    rows = rows.subspan(bytes);
    first = offsets_[end];
    fibre = end;
  }
}

void result_fibres::read_positions(std::uint64_t first_point, std::span<float> mm) const {
  read_point_rows({position, element_type::float32, 3}, first_point, std::as_writable_bytes(mm));
}

void result_fibres::read_fibre_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const {
  items_ ? read_chosen(array, first, rows) : read_stored(array, first, rows);
}

void result_fibres::read_point_rows(const fibre_array& array, std::uint64_t first, std::span<std::byte> rows) const {
  items_ ? read_chosen_points(array, first, rows) : read_stored(array, first, rows);
}

namespace {

const fibre_array* find_array(const std::vector<fibre_array>& arrays, const std::string& name, element_type type,
                              std::uint64_t width) {
  for (const fibre_array& a : arrays)
    if (a.name == name && a.type == type && a.width == width) return &a;
  return nullptr;
}

/// Labels of regions, `width` per fibre; null if there are none.
const fibre_array* find_label_array(const fibre_source& source, const std::string& name, std::uint64_t width) {
  return find_array(source.fibre_arrays(), name, element_type::int32, width);
}

std::vector<std::int32_t> read_labels(const fibre_source& source, const fibre_array& array) {
  std::vector<std::int32_t> labels(source.fibres() * array.width);
  source.read_fibre_rows(array, 0, std::as_writable_bytes(std::span(labels)));
  return labels;
}

/// `ends`: two labels per fibre.
joined_regions join_ends(const fibre_source& source, const fibre_array& ends) {
  const std::vector<std::int32_t> labels = read_labels(source, ends);
  joined_regions joined;
  for (std::size_t f = 0; f < source.fibres(); ++f)
    joined.of_fibre.push_back({region_pair{labels[2 * f], labels[2 * f + 1]}});
  return joined;
}

/// Collects the regions of streamlines: each once, on the first half if both reach it, as in the counts.
class half_joiner {
 public:
  explicit half_joiner(std::vector<std::int32_t> seeds) : seeds_(std::move(seeds)) {
    joined_.has_halves = true;
    joined_.of_fibre.resize(seeds_.size());
    joined_.half_of_pair.resize(seeds_.size());
  }

  void add(std::size_t fibre, std::int32_t region, std::uint8_t half) {
    const region_pair pair{seeds_[fibre], region};
    auto& pairs = joined_.of_fibre[fibre];
    if (region == 0 || std::find(pairs.begin(), pairs.end(), pair) != pairs.end()) return;
    pairs.push_back(pair);
    joined_.half_of_pair[fibre].push_back(half);
  }

  joined_regions finish() {
    for (std::size_t f = 0; f < seeds_.size(); ++f) {
      if (!joined_.of_fibre[f].empty()) continue;
      joined_.of_fibre[f].push_back({seeds_[f], 0});
      joined_.half_of_pair[f].push_back(0);
    }
    return std::move(joined_);
  }

 private:
  std::vector<std::int32_t> seeds_;
  joined_regions joined_;
};

/// `reached`: a label per point; `starts`: where the streamlines start.
joined_regions join_reached(const fibre_source& source, const fibre_array& seed, const fibre_array& start,
                            const fibre_array& reached) {
  half_joiner joiner(read_labels(source, seed));
  std::vector<std::uint32_t> starts(source.fibres());
  source.read_fibre_rows(start, 0, std::as_writable_bytes(std::span(starts)));
  std::vector<std::int32_t> labels;
  for_each_piece(source, [&](const fibre_piece& piece) {
    labels.resize(piece.points);
    source.read_point_rows(reached, piece.first_point, std::as_writable_bytes(std::span(labels)));
    for (std::uint64_t f = piece.first_fibre; f < piece.first_fibre + piece.fibres; ++f) {
      const std::uint64_t begin = source.offsets()[f] - piece.first_point,
                          end = source.offsets()[f + 1] - piece.first_point;
      const std::uint64_t middle = std::min(begin + starts[f], end);
      for (std::uint64_t p = middle; p-- > begin;) joiner.add(f, labels[p], 0);
      for (std::uint64_t p = middle; p < end; ++p) joiner.add(f, labels[p], 1);
    }
  });
  return joiner.finish();
}

/// A result of a version that stored only the last region of each half.
joined_regions join_last_regions(const fibre_source& source, const fibre_array& seed, const fibre_array& first_half,
                                 const fibre_array& second_half) {
  spdlog::warn(
      "the streamlines are of an earlier version of track, which stored only the last region on each half: they are "
      "not "
      "in the groups and means of the other regions that they reach; run track again");
  half_joiner joiner(read_labels(source, seed));
  const auto first = read_labels(source, first_half), second = read_labels(source, second_half);
  for (std::size_t f = 0; f < source.fibres(); ++f) {
    joiner.add(f, first[f], 0);
    joiner.add(f, second[f], 1);
  }
  return joiner.finish();
}

/// The mean of a real number over the fibres of each group.
void add_means(const fibre_source& source, const fibre_array& array, std::vector<fibre_group>& groups) {
  std::vector<std::byte> rows(source.fibres() * array.row_bytes());
  source.read_fibre_rows(array, 0, rows);
  const std::vector<float> values = as_floats(array.type, rows);
  for (fibre_group& g : groups) {
    double sum = 0;
    for (const std::uint32_t f : g.fibres) sum += static_cast<double>(values[f]);
    g.values.emplace_back(array.name, static_cast<float>(sum / static_cast<double>(g.fibres.size())));
  }
}

}  // namespace

std::optional<joined_regions> find_joined_regions(const fibre_source& source) {
  if (const fibre_array* ends = find_label_array(source, "regions", 2)) return join_ends(source, *ends);
  const fibre_array *seed = find_label_array(source, "region", 1), *first = find_label_array(source, "first_region", 1),
                    *second = find_label_array(source, "second_region", 1);
  if (seed == nullptr || first == nullptr || second == nullptr) return std::nullopt;
  const fibre_array *start = find_array(source.fibre_arrays(), "start", element_type::uint32, 1),
                    *reached = find_array(source.point_arrays(), "reached", element_type::int32, 1);
  if (start != nullptr && reached != nullptr) return join_reached(source, *seed, *start, *reached);
  return join_last_regions(source, *seed, *first, *second);
}

std::vector<fibre_group> group_by_regions(const fibre_source& source) {
  const auto joined = find_joined_regions(source);
  if (!joined) return {};
  std::map<region_pair, std::vector<std::uint32_t>> found;
  for (std::uint32_t f = 0; f < source.fibres(); ++f)
    for (region_pair pair : joined->of_fibre[f]) {
      std::sort(pair.begin(), pair.end());
      if (pair[0] > 0 && (found[pair].empty() || found[pair].back() != f)) found[pair].push_back(f);
    }
  std::vector<fibre_group> groups;
  for (auto& [labels, fibres] : found)
    groups.push_back({fmt::format("{}-{}", labels[0], labels[1]), std::move(fibres), {}});
  if (groups.empty()) return groups;
  for (const fibre_array& a : source.fibre_arrays())
    if (a.width == 1 && (a.type == element_type::float32 || a.type == element_type::float64))
      add_means(source, a, groups);
  return groups;
}

namespace {

void check_place(const export_settings& settings, const std::string& ending) {
  const std::string& out = settings.out;
  if (!out.ends_with(ending))
    refuse_usage("{}: expected a name that ends in {}, by which programs recognise the format", out, ending);
  if (std::filesystem::is_directory(out)) refuse_usage("{} is a folder; expected a file name", out);
  refuse_existing(out, settings);
  create_folder(std::filesystem::path(out).parent_path().string());
}

/// Writes the fibres of a result into one file, on rank 0. `ending`: of the file's name, by which readers recognise the
/// format. Collective. Throws failure: from result_fibres and the writer; usage for a wrong name, a folder, or an
/// existing file without --overwrite.
void export_fibres(const session& s, const export_settings& settings, const std::string& ending,
                   const std::function<void(const fibre_source&, const std::string& path)>& write) {
  s.on_root([&] {
    const result_fibres fibres(settings.result);
    check_place(settings, ending);
    write(fibres, settings.out);
    spdlog::info("{}: {}, {}", settings.out, counted(fibres.fibres(), "path"), counted(fibres.points(), "point"));
  });
}

void export_tck(session& s, const export_settings& settings) { export_fibres(s, settings, ".tck", write_tck); }

void export_trk(session& s, const export_settings& settings) { export_fibres(s, settings, ".trk", write_trk); }

void export_trx(session& s, const export_settings& settings) {
  export_fibres(s, settings, ".trx", [&](const fibre_source& fibres, const std::string& path) {
    const auto positions = settings.half_positions ? position_type::float16 : position_type::float32;
    write_trx(fibres, path, {group_by_regions(fibres), positions});
  });
}

}  // namespace

extern const export_kind tck_export{"tck", "FILE", "paths for MRtrix (only positions)", false, export_tck};
extern const export_kind trk_export{"trk", "FILE", "paths for TrackVis (up to ten numbers per path and per point)",
                                    false, export_trk};
extern const export_kind trx_export{"trx", "FILE", "paths with all their data, and groups by regions", false,
                                    export_trx};

}  // namespace voxherd
