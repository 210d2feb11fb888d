#pragma once

#include <cstdint>
#include <optional>

#include "src/io/gzip/deflate_decoder.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

/// The first place of [from, end), in bits of the file, that looks as if a block or a gzip member began there: the head
/// of a block with dynamic codes that breaks no rule, of a stored block that is followed by another such head, or of a
/// member. Blocks that are a member's last and blocks with fixed codes are not looked for: a few bits tell nothing.
/// It is a guess. Throws failure (disk).
std::optional<deflate_decoder::place> find_deflate_block(const input_file& file, std::uint64_t from, std::uint64_t end);

/// Whether a stored block that is not a member's last begins at one place and the other, given that its bytes are the
/// same: the bits between its head and its first byte are skipped. Throws failure (disk).
bool is_same_stored_block(const input_file& file, std::uint64_t bit, std::uint64_t other);

}  // namespace voxherd
