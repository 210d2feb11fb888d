#include "src/io/tracts/tracts.hpp"

#include <cstring>

#include "core/failure.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t max_fibres = 1 << 16, max_points = 1 << 18;

template <class T>
std::vector<float> floats_from(std::span<const std::byte> values) {
  std::vector<float> floats(values.size() / sizeof(T));
  for (std::size_t i = 0; i < floats.size(); ++i) {
    T value;
    std::memcpy(&value, &values[i * sizeof(T)], sizeof(T));
    floats[i] = static_cast<float>(value);
  }
  return floats;
}

template <class T>
bool any_rounded(std::span<const std::byte> values) {
  for (std::size_t i = 0; i < values.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, &values[i * sizeof(T)], sizeof(T));
    // In double, as the float nearest the largest integer is one more than it.
    if (static_cast<double>(static_cast<float>(value)) != static_cast<double>(value)) return true;
  }
  return false;
}

}  // namespace

void for_each_piece(const fibre_source& source, const std::function<void(const fibre_piece&)>& use) {
  const auto offsets = source.offsets();
  const std::uint64_t fibres = source.fibres();
  for (std::uint64_t first = 0, end; first < fibres; first = end) {
    end = first + 1;
    while (end < fibres && end - first < max_fibres && offsets[end + 1] - offsets[first] <= max_points) ++end;
    use({first, end - first, offsets[first], offsets[end] - offsets[first]});
  }
}

std::vector<float> as_floats(element_type type, std::span<const std::byte> values) {
  switch (type) {
    case element_type::uint8:
      return floats_from<std::uint8_t>(values);
    case element_type::int32:
      return floats_from<std::int32_t>(values);
    case element_type::uint32:
      return floats_from<std::uint32_t>(values);
    case element_type::uint64:
      return floats_from<std::uint64_t>(values);
    case element_type::float32:
      return floats_from<float>(values);
    case element_type::float64:
      return floats_from<double>(values);
  }
  throw failure(exit_status::internal_error, "as_floats: unknown element type");
}

bool are_rounded_as_floats(element_type type, std::span<const std::byte> values) {
  if (type == element_type::int32) return any_rounded<std::int32_t>(values);
  if (type == element_type::uint32) return any_rounded<std::uint32_t>(values);
  return type == element_type::uint64 && any_rounded<std::uint64_t>(values);
}

}  // namespace voxherd
