#include "src/io/tracts/zip_writer.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <limits>

#include "core/failure.hpp"

namespace voxherd {

namespace {

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

}  // namespace

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
  file_.overwrite(members_.back().place + crc_place, crc.data(), crc.size());
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

}  // namespace voxherd
