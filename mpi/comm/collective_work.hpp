#pragma once

#include <functional>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// Runs work after whose failure ranks may wait for ever for others, as in a library's collective calls: if it throws
/// on any rank, that rank calls `before_end`, one message is printed and all ranks end within seconds. A single rank
/// throws.
void agree_or_end(const session& s, const std::function<void()>& work, const std::function<void()>& before_end = {});

}  // namespace voxherd
