#pragma once

#include <cstdint>
#include <optional>

#include "src/io/gzip/deflate_decoder.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

/// Finds the first bit offset in [from, end) at which a block or a gzip member probably starts: a valid header of a
/// block with dynamic codes, a stored block followed by such a header, or a gzip member header. Does not find final
/// blocks or blocks with fixed codes, which have too few recognisable bits. The result is a guess. Throws failure
/// (disk).
std::optional<deflate_decoder::place> find_deflate_block(const input_file& file, std::uint64_t from, std::uint64_t end);

/// Whether the non-final stored blocks at bit offsets `bit` and `other` have the same contents: the padding bits
/// between a stored block's header and its first byte make its start ambiguous. Throws failure (disk).
bool is_same_stored_block(const input_file& file, std::uint64_t bit, std::uint64_t other);

}  // namespace voxherd
