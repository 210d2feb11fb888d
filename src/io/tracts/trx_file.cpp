#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "src/io/output_file.hpp"
#include "src/io/tracts/tracts.hpp"

namespace voxherd {

namespace {

/// Writes a ZIP archive of uncompressed members one after another, so that a reader can map them into memory. Uses
/// 64-bit records (PKWARE's APPNOTE, 4.3.14 to 4.3.16 and 4.5.3) only where a size or an offset needs them. All members
/// are dated 1980-01-01, so that the same members give the same bytes. Throws failure (disk).
class zip_writer {
 public:
  /// `zip64_from`: sizes and offsets from this value on are written in 64 bits.
  explicit zip_writer(const std::string& path, std::uint64_t zip64_from = 0xffffffff);

  /// Starts the next member, of exactly `bytes` bytes.
  void begin(const std::string& name, std::uint64_t bytes);
  void write(const void* data, std::size_t bytes);
  void finish();

 private:
  struct member {
    std::string name;
    std::uint64_t bytes = 0, place = 0;
    std::uint32_t crc = 0;
  };

  void end_member();
  void write_directory();
  bool is_large(std::uint64_t number) const { return number >= zip64_from_; }
  std::uint32_t in_32_bits(std::uint64_t number) const;
  void put(const std::string& record);

  output_file file_;
  std::uint64_t zip64_from_;
  std::uint64_t written_ = 0;  ///< bytes of the file
  std::uint64_t missing_ = 0;  ///< bytes still expected in the current member
  std::vector<member> members_;
};

constexpr std::uint64_t crc_place = 14;                      // offset in a member's header
constexpr std::uint16_t needs_plain = 10, needs_zip64 = 45;  // format versions, times ten
constexpr std::uint16_t made_by_unix = 3 << 8;
constexpr std::uint32_t readable_file = 0100644u << 16;
constexpr std::uint16_t utf8_names = 1 << 11;
constexpr std::uint16_t date_1980_01_01 = (1 << 5) | 1;

/// Builds a sequence of little-endian fields.
class record {
 public:
  record& u16(std::uint64_t v) { return add(v, 2); }
  record& u32(std::uint64_t v) { return add(v, 4); }
  record& u64(std::uint64_t v) { return add(v, 8); }
  record& text(const std::string& t) {
    bytes += t;
    return *this;
  }

  std::string bytes;

 private:
  record& add(std::uint64_t v, int count) {
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(static_cast<unsigned char>(v >> (8 * i)));
    return *this;
  }
};

/// The extra field with the numbers that do not fit into 32 bits; empty if all fit.
std::string zip64_field(const record& numbers) {
  if (numbers.bytes.empty()) return {};
  return record().u16(1).u16(numbers.bytes.size()).text(numbers.bytes).bytes;
}

zip_writer::zip_writer(const std::string& path, std::uint64_t zip64_from)
    : file_(path, output_file::coding::plain), zip64_from_(zip64_from) {}

std::uint32_t zip_writer::in_32_bits(std::uint64_t number) const {
  return is_large(number) ? std::numeric_limits<std::uint32_t>::max() : static_cast<std::uint32_t>(number);
}

void zip_writer::put(const std::string& bytes) {
  file_.write(bytes.data(), bytes.size());
  written_ += bytes.size();
}

void zip_writer::begin(const std::string& name, std::uint64_t bytes) {
  end_member();
  members_.push_back({name, bytes, written_, 0});
  missing_ = bytes;
  const bool large = is_large(bytes);
  const std::string extra = large ? zip64_field(record().u64(bytes).u64(bytes)) : std::string();
  record header;
  header.u32(0x04034b50).u16(large ? needs_zip64 : needs_plain).u16(utf8_names).u16(0).u16(0).u16(date_1980_01_01);
  header.u32(0).u32(in_32_bits(bytes)).u32(in_32_bits(bytes)).u16(name.size()).u16(extra.size());
  put(header.text(name).text(extra).bytes);
}

void zip_writer::write(const void* data, std::size_t bytes) {
  if (bytes > missing_)
    throw failure(exit_status::internal_error, fmt::format("{}: longer than declared", members_.back().name));
  member& m = members_.back();
  m.crc = static_cast<std::uint32_t>(crc32_z(m.crc, static_cast<const unsigned char*>(data), bytes));
  file_.write(data, bytes);
  written_ += bytes;
  missing_ -= bytes;
}

/// Writes the checksum, which is in the header before the data and known only now.
void zip_writer::end_member() {
  if (members_.empty()) return;
  if (missing_ > 0)
    throw failure(exit_status::internal_error, fmt::format("{}: shorter than declared", members_.back().name));
  const std::string crc = record().u32(members_.back().crc).bytes;
  file_.write_at(members_.back().place + crc_place, crc.data(), crc.size());
}

void zip_writer::write_directory() {
  for (const member& m : members_) {
    record large;
    if (is_large(m.bytes)) large.u64(m.bytes).u64(m.bytes);
    if (is_large(m.place)) large.u64(m.place);
    const std::string extra = zip64_field(large);
    const std::uint16_t needs = extra.empty() ? needs_plain : needs_zip64;
    record entry;
    entry.u32(0x02014b50).u16(made_by_unix | needs).u16(needs).u16(utf8_names).u16(0).u16(0).u16(date_1980_01_01);
    entry.u32(m.crc).u32(in_32_bits(m.bytes)).u32(in_32_bits(m.bytes)).u16(m.name.size()).u16(extra.size());
    entry.u16(0).u16(0).u16(0).u32(readable_file).u32(in_32_bits(m.place));
    put(entry.text(m.name).text(extra).bytes);
  }
}

void zip_writer::finish() {
  end_member();
  const std::uint64_t place = written_, count = members_.size();
  write_directory();
  const std::uint64_t end = written_, bytes = end - place;
  const bool many = count >= 0xffff;
  if (is_large(place) || is_large(bytes) || many) {
    record last;
    last.u32(0x06064b50).u64(44).u16(made_by_unix | needs_zip64).u16(needs_zip64).u32(0).u32(0);
    last.u64(count).u64(count).u64(bytes).u64(place);
    last.u32(0x07064b50).u32(0).u64(end).u32(1);  // offset of the record before; one disk
    put(last.bytes);
  }
  record last;
  last.u32(0x06054b50).u16(0).u16(0).u16(many ? 0xffff : count).u16(many ? 0xffff : count);
  put(last.u32(in_32_bits(bytes)).u32(in_32_bits(place)).u16(0).bytes);
  file_.finish();
}

static_assert(std::endian::native == std::endian::little, "files of paths are written in native byte order");

constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;

std::string make_trx_header(const fibre_source& source) {
  const image_grid& grid = source.grid();
  nlohmann::ordered_json affine = nlohmann::ordered_json::array();
  for (auto row = grid.voxel_to_world.begin(); row != grid.voxel_to_world.end(); row += 4)
    affine.push_back(std::vector<double>(row, row + 4));
  const nlohmann::ordered_json header{{"VOXEL_TO_RASMM", affine},
                                      {"DIMENSIONS", grid.size},
                                      {"NB_STREAMLINES", source.fibres()},
                                      {"NB_VERTICES", source.points()}};
  return dump_json(header);
}

/// FOLDER/NAME.TYPE, or FOLDER/NAME.WIDTH.TYPE if a row has several numbers.
std::string member_name(const char* folder, const fibre_array& a) {
  return fmt::format("{}/{}{}.{}", folder, a.name, a.width == 1 ? "" : fmt::format(".{}", a.width), type_name(a.type));
}

/// IEEE 754 binary16, rounded to the nearest, ties to even. Larger values become infinite.
std::uint16_t half_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff, odd = (magnitude >> 13) & 1;
  std::uint32_t half = (magnitude - 0x38000000 + 0xfff + odd) >> 13;
  if (magnitude > 0x7f800000) {
    half = 0x7e00;  // not a number
  } else if (magnitude >= 0x47800000) {
    half = 0x7c00;  // 65536 and more
  } else if (magnitude < 0x38800000) {
    half = static_cast<std::uint32_t>(std::nearbyint(std::abs(value) * 16777216.0f));  // below 2^-14: steps of 2^-24
  }
  return static_cast<std::uint16_t>(sign | half);
}

/// Writes a member of `rows` rows in parts. `read(first, bytes)` fills `bytes` with rows from `first` on.
template <class Reader>
void write_member(zip_writer& zip, const std::string& name, std::uint64_t rows, std::uint64_t row_bytes,
                  const Reader& read) {
  zip.begin(name, rows * row_bytes);
  const std::uint64_t at_once = std::max(std::uint64_t{1}, piece_bytes / row_bytes);
  std::vector<std::byte> bytes;
  for (std::uint64_t first = 0; first < rows; first += at_once) {
    bytes.resize(std::min(at_once, rows - first) * row_bytes);
    read(first, std::span(bytes));
    zip.write(bytes.data(), bytes.size());
  }
}

void write_positions(zip_writer& zip, const fibre_source& source, position_type type) {
  if (type == position_type::float32)
    return write_member(
        zip, "positions.3.float32", source.points(), 3 * sizeof(float),
        [&](std::uint64_t first, std::span<std::byte> bytes) {
          source.read_positions(first, {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)});
        });
  std::vector<float> mm;
  write_member(zip, "positions.3.float16", source.points(), 3 * sizeof(std::uint16_t),
               [&](std::uint64_t first, std::span<std::byte> bytes) {
                 mm.resize(bytes.size() / sizeof(std::uint16_t));
                 source.read_positions(first, mm);
                 std::transform(mm.begin(), mm.end(), reinterpret_cast<std::uint16_t*>(bytes.data()), half_float);
               });
}

template <class T>
void write_array(zip_writer& zip, const std::string& name, std::span<const T> values) {
  zip.begin(name, values.size_bytes());
  zip.write(values.data(), values.size_bytes());
}

void write_groups(zip_writer& zip, const std::vector<fibre_group>& groups) {
  for (const fibre_group& g : groups)
    write_array(zip, fmt::format("groups/{}.uint32", g.name), std::span<const std::uint32_t>(g.fibres));
  for (const fibre_group& g : groups)
    for (const auto& [name, value] : g.values)
      write_array(zip, fmt::format("dpg/{}/{}.float32", g.name, name), std::span<const float>(&value, 1));
}

}  // namespace

void write_trx(const fibre_source& source, const std::string& path, const trx_form& form, std::uint64_t zip64_from) {
  zip_writer zip(path, zip64_from);
  const std::string header = make_trx_header(source);
  zip.begin("header.json", header.size());
  zip.write(header.data(), header.size());
  write_positions(zip, source, form.positions);
  // One more offset than fibres, as in the reference implementations of the format.
  const auto offsets = source.offsets();
  write_array(zip, "offsets.uint64", offsets);
  for (const fibre_array& a : source.fibre_arrays())
    write_member(zip, member_name("dps", a), source.fibres(), a.row_bytes(),
                 [&](std::uint64_t first, std::span<std::byte> rows) { source.read_fibre_rows(a, first, rows); });
  for (const fibre_array& a : source.point_arrays())
    write_member(zip, member_name("dpv", a), source.points(), a.row_bytes(),
                 [&](std::uint64_t first, std::span<std::byte> rows) { source.read_point_rows(a, first, rows); });
  write_groups(zip, form.groups);
  zip.finish();
}

}  // namespace voxherd
