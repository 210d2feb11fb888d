#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace voxherd::testing {

using bytes = std::vector<char>;

inline void write_file(const std::string& path, const bytes& content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}
inline void write_file(const std::string& path, const std::string& content) {
  write_file(path, bytes(content.begin(), content.end()));
}

inline bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One gzip member.
inline bytes gzipped(const bytes& content) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  bytes out(deflateBound(&z, content.size()) + 64);
  bytes in = content;
  z.next_in = reinterpret_cast<unsigned char*>(in.data());
  z.avail_in = static_cast<unsigned>(in.size());
  z.next_out = reinterpret_cast<unsigned char*>(out.data());
  z.avail_out = static_cast<unsigned>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

/// A NIfTI file created byte by byte from the offset tables of the two standards, so that it shares nothing with the
/// code under test. Every field may be overwritten before or after data are appended.
class crafted_nifti {
 public:
  explicit crafted_nifti(int version = 1, std::endian order = std::endian::little)
      : version_(version), order_(order), content_(version == 1 ? 352 : 544, '\0') {
    put<std::int32_t>(0, version == 1 ? 348 : 540);
    if (version == 1) {
      std::memcpy(content_.data() + 344, "n+1", 4);
      put<float>(108, 352);
    } else {
      std::memcpy(content_.data() + 4, "n+2\0\r\n\032\n", 8);
      put<std::int64_t>(168, 544);
    }
    pixdim(0, 1);
    for (std::size_t i = 1; i < 8; ++i) dim(i, 1), pixdim(i, 1);
    dimensions({4, 3, 2});
    datatype(16, 32);
    sform({2, 0, 0, -10, 0, 2, 0, -20, 0, 0, 2, -30});
    for (std::size_t i = 1; i < 4; ++i) pixdim(i, 2);
  }

  crafted_nifti& dimensions(const std::vector<std::int64_t>& sizes) {
    dim(0, static_cast<std::int64_t>(sizes.size()));
    for (std::size_t i = 0; i < sizes.size(); ++i) dim(i + 1, sizes[i]);
    return *this;
  }
  crafted_nifti& dim(std::size_t i, std::int64_t v) {
    version_ == 1 ? put(40 + 2 * i, static_cast<std::int16_t>(v)) : put(16 + 8 * i, v);
    return *this;
  }
  crafted_nifti& pixdim(std::size_t i, double v) { return real(76 + 4 * i, 104 + 8 * i, v); }
  crafted_nifti& datatype(int code, int bits) {
    put(version_ == 1 ? 70 : 12, static_cast<std::int16_t>(code));
    return bitpix(bits);
  }
  crafted_nifti& bitpix(int bits) {
    put(version_ == 1 ? 72 : 14, static_cast<std::int16_t>(bits));
    return *this;
  }
  crafted_nifti& scaling(double slope, double intercept) { return real(112, 176, slope).real(116, 184, intercept); }
  crafted_nifti& vox_offset(double v) {
    version_ == 1 ? put(108, static_cast<float>(v)) : put(168, static_cast<std::int64_t>(v));
    return *this;
  }
  crafted_nifti& codes(int qform, int sform_value) {
    if (version_ == 1) {
      put(252, static_cast<std::int16_t>(qform));
      put(254, static_cast<std::int16_t>(sform_value));
    } else {
      put<std::int32_t>(344, qform);
      put<std::int32_t>(348, sform_value);
    }
    return *this;
  }
  crafted_nifti& sform(const std::array<double, 12>& rows) {
    codes(0, 1);
    for (std::size_t i = 0; i < 12; ++i) real(280 + 4 * i, 400 + 8 * i, rows[i]);
    return *this;
  }
  crafted_nifti& qform(const std::array<double, 3>& bcd, const std::array<double, 3>& offset) {
    codes(1, 0);
    for (std::size_t i = 0; i < 3; ++i)
      real(256 + 4 * i, 352 + 8 * i, bcd[i]).real(268 + 4 * i, 376 + 8 * i, offset[i]);
    return *this;
  }
  crafted_nifti& units(int code) {
    if (version_ == 1) {
      content_[123] = static_cast<char>(code);
    } else {
      put<std::int32_t>(500, code);
    }
    return *this;
  }
  template <class T>
  crafted_nifti& append(const std::vector<T>& values) {
    for (const T v : values) {
      content_.resize(content_.size() + sizeof(T));
      put(content_.size() - sizeof(T), v);
    }
    return *this;
  }
  template <class T>
  crafted_nifti& put(std::size_t at, T value) {
    std::memcpy(content_.data() + at, &value, sizeof value);
    if (order_ != std::endian::native) {
      std::reverse(content_.begin() + static_cast<long>(at), content_.begin() + static_cast<long>(at + sizeof value));
    }
    return *this;
  }
  bytes& content() { return content_; }
  const bytes& content() const { return content_; }

 private:
  crafted_nifti& real(std::size_t at1, std::size_t at2, double v) {
    version_ == 1 ? put(at1, static_cast<float>(v)) : put(at2, v);
    return *this;
  }

  int version_;
  std::endian order_;
  bytes content_;
};

}  // namespace voxherd::testing
