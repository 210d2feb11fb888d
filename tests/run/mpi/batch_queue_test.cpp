#include "mpi/run/batch_queue.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <vector>

#include "tests/support/rank_folder.hpp"

using namespace voxherd;
using toy::world;

namespace {

/// Takes batches, and reports them as done, until all ranks have left.
void work_off(batch_queue& queue) {
  while (!queue.finished()) {
    queue.poll();
    while (const auto number = queue.take()) queue.report_done(*number);
    queue.ask();
    if (queue.exhausted()) queue.leave();
  }
}

TEST(BatchQueue, ALateMessageIsNotReceivedByTheNextQueue) {
  const std::vector<voxherd::batch> plan{{0, 0, 10}, {1, 10, 10}, {2, 20, 10}, {3, 30, 5}};
  const std::vector<std::uint64_t> pending{0, 1, 2, 3};
  batch_queue first(*world, schedule_kind::dynamic, plan, pending);
  work_off(first);
  EXPECT_TRUE(first.all_done());
  if (world->rank() == world->size() - 1) first.stop(SIGTERM);  // a signal after all ranks have left
  while (!first.settle()) {
  }
  world->barrier();
  batch_queue second(*world, schedule_kind::dynamic, plan, pending);
  work_off(second);
  EXPECT_EQ(second.stopped_by(), 0);
  EXPECT_TRUE(second.all_done());
  if (world->is_root()) {
    EXPECT_EQ(second.items_done(), 35U);
  }
  while (!second.settle()) {
  }
  first.close();
  second.close();
}

}  // namespace
