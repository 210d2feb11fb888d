#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "mpi/failure.hpp"
#include "mpi/node_memory.hpp"
#include "src/input/input_file.hpp"
#include "src/input/node_cores.hpp"
#include "src/input/row_inflater.hpp"
#include "src/input/stored_rows.hpp"
#include "src/input/voxel_rows.hpp"

namespace voxherd {

namespace {

using steady = std::chrono::steady_clock;

/// Before the rows: whether the node's first rank is still inflating.
constexpr std::size_t first_row_byte = 64;
/// Files inflated side by side; each takes two or three times 64 bytes a voxel.
constexpr std::size_t most_files_at_once = 8;
/// Threads that inflate; more would only wait for memory.
constexpr std::size_t most_threads = 32;

std::string name_of(const std::vector<nifti_header>& files) {
  return printable(files.front().path) +
         (files.size() > 1 ? fmt::format(" and {} more files", files.size() - 1) : std::string());
}

class inflated_rows : public voxel_rows {
 public:
  inflated_rows(const session& s, const std::vector<nifti_header>& files, const std::vector<std::uint64_t>& voxels)
      : files_(files),
        voxels_(voxels),
        layout_(files, voxels.size()),
        memory_(s, first_row_byte + layout_.bytes(),
                fmt::format("{}: holding the mask's voxels inflated", name_of(files))),
        cores_(s),
        tells_(s.is_root()),
        inflates_(s.node_rank() == 0) {
    if (tells_) {
      spdlog::info("{}: inflating once a node; {:.2f} GB of the mask's voxels stay in memory that its ranks share",
                   name_of(files_), static_cast<double>(layout_.bytes()) * 1e-9);
    }
    if (inflates_) inflating_ = std::async(std::launch::async, [this] { inflate(); });
  }

  ~inflated_rows() override { stop_ = true; }

  void wait() override {
    if (inflating_.valid()) inflating_.get();
    // A sleep leaves the core to the rank that inflates, where waiting in MPI would not.
    while (!inflates_ && is_over().load(std::memory_order_acquire) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (tells_) tell();
    waited_ = true;
  }

  void load(std::uint64_t first, std::uint64_t count, float* out, std::size_t stride) override {
    if (!waited_) throw failure(exit_status::ours, name_of(files_) + ": read before it was inflated");
    layout_.load(memory_.bytes().data() + first_row_byte, first, count, out, stride);
  }

 private:
  std::atomic_ref<std::uint32_t> is_over() const {
    return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(memory_.bytes().data()));
  }

  void inflate() {
    const auto start = steady::now();
    struct at_the_end {
      const inflated_rows& rows;
      ~at_the_end() { rows.is_over().store(1, std::memory_order_release); }
    } said{*this};
    // The node's other ranks sleep, or get their buffers ready: their cores are free.
    cores_.let_in();
    const std::size_t threads = std::min(most_threads, static_cast<std::size_t>(cores_.count()));
    const std::size_t files_at_once = std::min({most_files_at_once, files_.size(), threads});
    inflating_threads how;
    how.parallel.threads = static_cast<unsigned>(threads / files_at_once);
    const std::vector<volume_piece> pieces = pieces_of(voxels_);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      try {
        for (std::size_t i = next++; i < files_.size() && !stop_; i = next++)
          inflate_file(files_[i], pieces, voxels_.size(), layout_.place_of(i), rows(), how, stop_);
      } catch (...) {
        stop_ = true;
        throw;
      }
    };
    std::vector<std::future<void>> helpers;
    for (std::size_t i = 1; i < files_at_once; ++i) helpers.push_back(std::async(std::launch::async, work));
    work();
    for (auto& helper : helpers) helper.get();
    seconds_ = std::chrono::duration<double>(steady::now() - start).count();
  }

  std::byte* rows() const { return memory_.bytes().data() + first_row_byte; }

  void tell() const {
    double bytes = 0;
    for (const nifti_header& h : files_)
      bytes += static_cast<double>(h.grid.voxel_count() * h.volumes * h.bytes_per_value);
    spdlog::info("{}: {:.2f} GB inflated in {:.1f} s", name_of(files_), bytes * 1e-9, seconds_);
  }

  std::vector<nifti_header> files_;
  const std::vector<std::uint64_t>& voxels_;
  stored_rows layout_;
  node_memory memory_;
  node_cores cores_;
  bool tells_, inflates_, waited_ = false;
  double seconds_ = 0;
  std::atomic<bool> stop_{false};
  std::future<void> inflating_;  ///< last, so that it ends before what it uses does
};

}  // namespace

std::unique_ptr<voxel_rows> begin_inflating(const session& s, const std::vector<nifti_header>& files,
                                            const std::vector<std::uint64_t>& voxels) {
  return std::make_unique<inflated_rows>(s, files, voxels);
}

}  // namespace voxherd
