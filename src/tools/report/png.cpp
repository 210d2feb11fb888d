#include <zlib.h>

#include "core/failure.hpp"
#include "src/tools/report/image_data.hpp"

namespace voxherd::report {

namespace {

void append_big_endian(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
}

void append_chunk(std::string& png, std::string_view type, std::string_view data) {
  append_big_endian(png, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = png.size();
  png.append(type).append(data);
  const auto* checked = reinterpret_cast<const Bytef*>(png.data() + begin);
  append_big_endian(png, static_cast<std::uint32_t>(crc32(0, checked, static_cast<uInt>(png.size() - begin))));
}

bool is_grey(const rgb_image& image) {
  for (std::size_t i = 0; i < image.rgb.size(); i += 3)
    if (image.rgb[i] != image.rgb[i + 1] || image.rgb[i] != image.rgb[i + 2]) return false;
  return true;
}

/// Rows with filter 2 (difference from the row above), which halves the size of smooth images.
std::string filtered_rows(const rgb_image& image, std::size_t channels) {
  const std::size_t step = 3 / channels, row = channels * image.width;
  std::string rows;
  rows.reserve((row + 1) * image.height);
  for (std::size_t y = 0; y < image.height; ++y) {
    rows += '\2';
    for (std::size_t i = 0; i < row; ++i) {
      const std::size_t at = 3 * image.width * y + step * i;
      const int above = y > 0 ? image.rgb[at - 3 * image.width] : 0;
      rows += static_cast<char>(image.rgb[at] - above);
    }
  }
  return rows;
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                bytes.size(), 6) != Z_OK)
    throw failure(exit_status::internal_error, "zlib could not compress a picture");
  packed.resize(size);
  return packed;
}

}  // namespace

std::string encode_png(const rgb_image& image) {
  const bool grey = is_grey(image);
  constexpr char bit_depth = 8, grey_type = 0, rgb_type = 2;
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(image.width));
  append_big_endian(header, static_cast<std::uint32_t>(image.height));
  header += {bit_depth, grey ? grey_type : rgb_type, 0, 0, 0};
  std::string png = "\x89PNG\r\n\x1a\n";
  append_chunk(png, "IHDR", header);
  append_chunk(png, "IDAT", deflated(filtered_rows(image, grey ? 1 : 3)));
  append_chunk(png, "IEND", "");
  return png;
}

std::string base64(std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : digits[group >> (18 - 6 * k) & 63];
  }
  return text;
}

}  // namespace voxherd::report
