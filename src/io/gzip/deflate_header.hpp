#pragma once

#include "src/io/gzip/bit_input.hpp"
#include "src/io/gzip/huffman_table.hpp"

namespace voxherd {

/// Maximum size of the header of a block with dynamic codes: 17 bits, 19 lengths of 3 bits, 316 of at most 14.
constexpr std::size_t max_block_header_bytes = 563;

enum class block_type { stored = 0, fixed = 1, dynamic = 2, reserved = 3 };

/// Reads the code lengths of a block with dynamic codes, after its three type bits (RFC 1951, 3.2.7). False if they
/// break a rule that zlib checks. Reads at most max_block_header_bytes.
bool read_code_lengths(bit_cursor& in, code_lengths& out);

}  // namespace voxherd
