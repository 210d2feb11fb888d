#pragma once

#include <zlib.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <random>
#include <stdexcept>

#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd::testing {

/// Runs, text and noise: near and far matches, and literals.
inline bytes some_content(std::size_t length, unsigned seed = 1) {
  std::mt19937 draw(seed);
  bytes out;
  while (out.size() < length) {
    const std::size_t count = 1 + draw() % 60;
    if (draw() % 2 == 0 || out.size() < 100) {
      for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<char>(draw() % 256));
    } else {
      const std::size_t from = out.size() - 1 - draw() % std::min<std::size_t>(out.size() - 1, 32000);
      for (std::size_t i = 0; i < count; ++i) out.push_back(out[from + i]);
    }
  }
  out.resize(length);
  return out;
}

enum class head { bare, full };

/// One member compressed by zlib: level 0 stores, 1 to 9 compress; a full header has extra field, name, comment and
/// checksum.
inline bytes member(const bytes& content, int level = 6, int strategy = Z_DEFAULT_STRATEGY, head kind = head::bare) {
  z_stream z{};
  deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, strategy);
  gz_header header{};
  unsigned char extra[] = "any bytes", name[] = "name.nii", comment[] = "a comment";
  if (kind == head::full) {
    header.extra = extra;
    header.extra_len = sizeof extra;
    header.name = name;
    header.comment = comment;
    header.hcrc = 1;
    deflateSetHeader(&z, &header);
  }
  bytes in = content, out(deflateBound(&z, content.size()) + 200);
  z.next_in = reinterpret_cast<unsigned char*>(in.data());
  z.avail_in = static_cast<unsigned>(in.size());
  z.next_out = reinterpret_cast<unsigned char*>(out.data());
  z.avail_out = static_cast<unsigned>(out.size());
  if (deflate(&z, Z_FINISH) != Z_STREAM_END) throw std::logic_error("zlib does not deflate");
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

inline bytes joined(std::initializer_list<bytes> parts) {
  bytes all;
  for (const bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// One member whose checksum is wrong.
inline bytes member_with_wrong_checksum(const bytes& content) {
  bytes packed = member(content);
  packed[packed.size() - 8] = static_cast<char>(packed[packed.size() - 8] ^ 1);
  return packed;
}

/// The output of zlib called directly for one member: its bytes, or nothing if it fails.
inline std::optional<bytes> by_zlib(const bytes& packed, std::size_t most) {
  z_stream z{};
  inflateInit2(&z, 15 + 16);
  bytes in = packed, out(most);
  z.next_in = reinterpret_cast<unsigned char*>(in.data());
  z.avail_in = static_cast<unsigned>(in.size());
  z.next_out = reinterpret_cast<unsigned char*>(out.data());
  z.avail_out = static_cast<unsigned>(out.size());
  const int code = inflate(&z, Z_FINISH);
  out.resize(z.total_out);
  inflateEnd(&z);
  if (code != Z_STREAM_END) return std::nullopt;
  return out;
}

}  // namespace voxherd::testing
