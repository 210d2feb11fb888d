#include "src/show/colours.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>

#include "core/failure.hpp"

namespace voxherd::report {

namespace {

// Viridis at nine places, linear between them.
constexpr std::array<colour, 9> viridis{{{68, 1, 84},
                                         {71, 44, 122},
                                         {59, 81, 139},
                                         {44, 113, 142},
                                         {33, 144, 141},
                                         {39, 173, 129},
                                         {92, 200, 99},
                                         {170, 220, 50},
                                         {253, 231, 37}}};

std::uint8_t as_byte(double value) { return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0))); }

}  // namespace

colour map_colour(colour_map map, double t) {
  t = std::clamp(t, 0.0, 1.0);
  if (map == colour_map::grey) return {as_byte(t), as_byte(t), as_byte(t)};
  const double place = t * (viridis.size() - 1);
  const auto i = std::min<std::size_t>(static_cast<std::size_t>(place), viridis.size() - 2);
  colour c{};
  for (std::size_t k = 0; k < 3; ++k)
    c[k] = as_byte(std::lerp(viridis[i][k], viridis[i + 1][k], place - static_cast<double>(i)) / 255);
  return c;
}

colour direction_colour(const std::array<double, 3>& unit, double brightness) {
  colour c{};
  for (std::size_t k = 0; k < 3; ++k) c[k] = as_byte(std::fabs(unit[k]) * std::clamp(brightness, 0.0, 1.0));
  return c;
}

colour code_colour(std::size_t i) {
  constexpr std::array<colour, 8> list{{{230, 159, 0},
                                        {86, 180, 233},
                                        {0, 158, 115},
                                        {240, 228, 66},
                                        {0, 114, 178},
                                        {213, 94, 0},
                                        {204, 121, 167},
                                        {255, 255, 255}}};
  return list[i % list.size()];
}

std::string css_colour(colour c) { return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]); }

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
