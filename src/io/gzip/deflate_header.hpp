#pragma once

#include "src/io/gzip/bit_input.hpp"
#include "src/io/gzip/huffman_table.hpp"

namespace voxherd {

/// The longest head of a block with dynamic codes: 17 bits, 19 lengths of 3, 316 of at most 14.
constexpr std::size_t longest_block_head_bytes = 563;

enum class block_type { stored = 0, fixed = 1, dynamic = 2, reserved = 3 };

/// The lengths of a dynamic block's codes, read after the three bits that say so (RFC 1951, 3.2.7). False where they
/// break a rule that zlib checks. Reads up to longest_block_head_bytes.
bool read_code_lengths(bit_cursor& in, code_lengths& out);

}  // namespace voxherd
