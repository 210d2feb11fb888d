#include "src/io/nifti/nifti_format.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "src/io/nifti/nifti_layout.hpp"

namespace voxherd {

namespace {

static_assert(float32_datatype == nifti_float32);

template <std::size_t Bytes>
using bits_of = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

inline std::uint8_t swapped_bits(std::uint8_t v) { return v; }
inline std::uint16_t swapped_bits(std::uint16_t v) { return __builtin_bswap16(v); }
inline std::uint32_t swapped_bits(std::uint32_t v) { return __builtin_bswap32(v); }
inline std::uint64_t swapped_bits(std::uint64_t v) { return __builtin_bswap64(v); }

template <class T, class To, bool Swap, bool Scaled>
void convert(const std::byte* stored, std::size_t count, double slope, double intercept, To* out) {
  for (std::size_t i = 0; i < count; ++i) {
    bits_of<sizeof(T)> bits;
    std::memcpy(&bits, stored + i * sizeof(T), sizeof(T));
    if constexpr (Swap) bits = swapped_bits(bits);
    const T value = std::bit_cast<T>(bits);
    if constexpr (Scaled) {
      out[i] = static_cast<To>(static_cast<double>(value) * slope + intercept);
    } else {
      out[i] = static_cast<To>(value);
    }
  }
}

template <class T, class To>
nifti_converter_to<To> choose(bool swapped, bool scaled) {
  if (swapped) return scaled ? convert<T, To, true, true> : convert<T, To, true, false>;
  return scaled ? convert<T, To, false, true> : convert<T, To, false, false>;
}

}  // namespace

template <class To>
nifti_converter_to<To> find_converter(int datatype, bool byte_swapped, bool scaled) {
  switch (datatype) {
    case nifti_uint8:
      return choose<std::uint8_t, To>(false, scaled);
    case nifti_int8:
      return choose<std::int8_t, To>(false, scaled);
    case nifti_int16:
      return choose<std::int16_t, To>(byte_swapped, scaled);
    case nifti_uint16:
      return choose<std::uint16_t, To>(byte_swapped, scaled);
    case nifti_int32:
      return choose<std::int32_t, To>(byte_swapped, scaled);
    case nifti_uint32:
      return choose<std::uint32_t, To>(byte_swapped, scaled);
    case nifti_int64:
      return choose<std::int64_t, To>(byte_swapped, scaled);
    case nifti_uint64:
      return choose<std::uint64_t, To>(byte_swapped, scaled);
    case nifti_float32:
      return choose<float, To>(byte_swapped, scaled);
    case nifti_float64:
      return choose<double, To>(byte_swapped, scaled);
    default:
      return nullptr;
  }
}

template nifti_converter_to<float> find_converter<float>(int, bool, bool);
template nifti_converter_to<double> find_converter<double>(int, bool, bool);

std::size_t datatype_bytes(int datatype) {
  switch (datatype) {
    case nifti_uint8:
    case nifti_int8:
      return 1;
    case nifti_int16:
    case nifti_uint16:
      return 2;
    case nifti_int32:
    case nifti_uint32:
    case nifti_float32:
      return 4;
    case nifti_int64:
    case nifti_uint64:
    case nifti_float64:
      return 8;
    default:
      return 0;
  }
}

const char* datatype_name(int datatype) {
  switch (datatype) {
    case nifti_uint8:
      return "uint8";
    case nifti_int8:
      return "int8";
    case nifti_int16:
      return "int16";
    case nifti_uint16:
      return "uint16";
    case nifti_int32:
      return "int32";
    case nifti_uint32:
      return "uint32";
    case nifti_int64:
      return "int64";
    case nifti_uint64:
      return "uint64";
    case nifti_float32:
      return "float32";
    case nifti_float64:
      return "float64";
    case 0:
      return "unknown";
    case 1:
      return "binary";
    case nifti_complex64:
      return "complex64";
    case nifti_complex128:
      return "complex128";
    case nifti_complex256:
      return "complex256";
    case nifti_float128:
      return "float128";
    case nifti_rgb24:
      return "RGB24 colour";
    case nifti_rgba32:
      return "RGBA32 colour";
    default:
      return "not a NIfTI type";
  }
}

}  // namespace voxherd
