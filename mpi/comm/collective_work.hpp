#pragma once

#include <functional>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// Runs collective work of a library, in which other ranks may wait for ever for one that has failed: if it throws on
/// any rank, one message is printed and all ranks end within seconds. A single rank throws.
void agree_or_end(const session& s, const std::function<void()>& work);

}  // namespace voxherd
