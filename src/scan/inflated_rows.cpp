#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <thread>

#include "core/failure.hpp"
#include "core/threads.hpp"
#include "mpi/comm/node_memory.hpp"
#include "src/scan/column_inflater.hpp"
#include "src/scan/node_resources.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

namespace {

using steady = std::chrono::steady_clock;

/// Maximum number of inflating threads; memory bandwidth limits more.
constexpr std::size_t max_threads = 32;

std::string describe_files(const std::vector<nifti_header>& files) {
  return files.front().path + (files.size() > 1 ? fmt::format(" and {} more files", files.size() - 1) : std::string());
}

/// Items held in one of the two buffers.
struct row_stage {
  std::uint64_t first = 0, last = 0;
  bool ready = false;
  bool has(std::uint64_t from, std::uint64_t to) const { return from >= first && to <= last; }
};

class inflated_rows final : public voxel_rows {
 public:
  inflated_rows(const session& s, const std::vector<nifti_header>& files, const std::vector<std::uint64_t>& voxels,
                std::uint64_t max_items)
      : voxel_rows(total_volumes(files), loading_threads(s)),
        files_(files),
        voxels_(voxels),
        buffer_items_(std::min<std::uint64_t>(max_items, voxels.size())),
        has_one_stage_(buffer_items_ == voxels.size()),
        layout_(files, buffer_items_),
        cores_(s),
        tells_(s.is_root()),
        inflates_(s.node_rank() == 0),
        over_(s, sizeof(std::uint32_t), purpose()) {
    for (int i = 0; i < (has_one_stage_ ? 1 : 2); ++i) memory_.emplace_back(s, layout_.bytes(), purpose());
    if (tells_) tell_plan();
    begin(0, buffer_items_);
  }

  ~inflated_rows() override { stop_ = true; }

  std::uint64_t max_items() const override { return has_one_stage_ ? all_items : buffer_items_; }
  std::uint64_t later_bytes() const override { return has_one_stage_ ? 0 : layout_.bytes(); }

  void begin(std::uint64_t first, std::uint64_t last) override {
    if (begun_ > 0 && latest().has(first, last)) return;
    if (last > voxels_.size() || last - first > buffer_items_)
      throw failure(exit_status::internal_error,
                    fmt::format("{}: items {} to {} do not fit into the buffer", describe_files(files_), first, last));
    abandon();
    stop_ = false;
    ++begun_;
    latest() = {first, last, false};
    if (inflates_) inflating_ = start_task("decompresses an image", [this] { inflate(); });
  }

  bool is_ready() override {
    if (latest().ready) return true;
    if (inflates_ && inflating_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    if (!inflates_ && is_over().load(std::memory_order_acquire) < begun_) return false;
    latest().ready = true;
    if (inflates_) inflating_.get();
    if (tells_) tell();
    return true;
  }

 private:
  void begin_load(std::uint64_t first, std::uint64_t end) override { (void)buffer_with(first, end); }

  void gather(const value_block& block, std::vector<std::byte>& /*stored*/, float* column,
              std::size_t stride) const override {
    const std::size_t i = buffer_with(block.first_item, block.end_item);
    const std::byte* const memory = memory_[i].bytes().data();
    const std::uint64_t first = block.first_item - stages_[i].first, count = block.end_item - block.first_item;
    for (std::uint64_t k = block.first_volume; k < block.end_volume; ++k, column += stride)
      layout_.load(memory, volumes()[k], first, count, column);
  }

  std::size_t buffer_with(std::uint64_t first, std::uint64_t end) const {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (stages_[i].ready && stages_[i].has(first, end)) return i;
    throw failure(exit_status::internal_error, describe_files(files_) + ": read before it was inflated");
  }

  std::size_t place() const { return begun_ % memory_.size(); }
  row_stage& latest() { return stages_[place()]; }

  /// Stops a stage that is no longer needed, such as a first stage that turns out to be complete already.
  void abandon() {
    if (!inflating_.valid()) return;
    stop_ = true;
    inflating_.wait();
    inflating_ = {};
  }

  /// Number of stages that the node's first rank has finished, successfully or not.
  std::atomic_ref<std::uint32_t> is_over() const {
    return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(over_.bytes().data()));
  }

  void inflate() {
    const auto start = steady::now();
    struct at_the_end {
      const inflated_rows& rows;
      ~at_the_end() { rows.is_over().store(rows.begun_, std::memory_order_release); }
    } said{*this};
    // The node's other ranks sleep, allocate their buffers, or compute the previous stage, for which GPU ranks do not
    // need their cores.
    cores_.use_all();
    const std::size_t threads =
        std::min(max_threads, static_cast<std::size_t>(std::min(cores_.count(), max_team_threads())));
    const std::size_t files_at_once = std::min({max_files_at_once, files_.size(), threads});
    inflating_threads how;
    how.parallel.threads = static_cast<unsigned>(threads / files_at_once);
    const auto from = voxels_.begin();
    const std::vector<std::uint64_t> voxels(from + static_cast<std::ptrdiff_t>(latest().first),
                                            from + static_cast<std::ptrdiff_t>(latest().last));
    std::map<storage_order, std::vector<volume_piece>> pieces;
    for (const nifti_header& file : files_)
      if (!pieces.contains(file.order)) pieces[file.order] = split_into_pieces(file, voxels);
    std::byte* const memory = memory_[place()].bytes().data();
    after_.assign(files_.size(), {});
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      try {
        for (std::size_t i = next++; i < files_.size() && !stop_; i = next++)
          after_[i] = inflate_file(files_[i], pieces.at(files_[i].order), layout_.file_place(i), memory, how, stop_);
      } catch (...) {
        stop_ = true;
        throw;
      }
    };
    auto helpers = start_helpers(files_at_once - 1, work);
    work();
    for (auto& helper : helpers) helper.get();
    seconds_ = std::chrono::duration<double>(steady::now() - start).count();
  }

  std::string purpose() const {
    return fmt::format("{}: memory for the decompressed voxels of the mask", describe_files(files_));
  }

  static constexpr double notable_gb = 1;  ///< smaller memories and files are only worth a line with --verbose

  void tell_plan() const {
    const double gb = static_cast<double>(layout_.bytes() * memory_.size()) * 1e-9;
    if (has_one_stage_) {
      spdlog::log(gb < notable_gb ? spdlog::level::debug : spdlog::level::info,
                  "{}: decompressing once per node; {:.2f} GB of masked voxels are kept in memory shared by its ranks",
                  describe_files(files_), gb);
    } else {
      spdlog::info(
          "{}: {} of the mask's {} voxels at a time, in {:.2f} GB of memory shared by a node's ranks; the "
          "file is decompressed about {} times (--host-memory)",
          describe_files(files_), buffer_items_, voxels_.size(), gb,
          (voxels_.size() + buffer_items_ - 1) / buffer_items_);
    }
  }

  void tell() {
    double bytes = 0;
    for (const nifti_header& h : files_)
      bytes += static_cast<double>(h.grid.voxel_count() * h.volumes * h.bytes_per_value);
    const std::string part =
        has_one_stage_ ? std::string() : fmt::format(" for voxels {} to {} of the mask", latest().first, latest().last);
    if (begun_ == 1)
      for (std::size_t i = 0; i < files_.size(); ++i) log_bytes_after(files_[i], after_[i]);
    const bool is_notable = !has_one_stage_ || bytes * 1e-9 >= notable_gb;
    spdlog::log(is_notable ? spdlog::level::info : spdlog::level::debug, "{}: {:.2f} GB decompressed{} in {:.1f} s",
                describe_files(files_), bytes * 1e-9, part, seconds_);
  }

  std::vector<nifti_header> files_;
  const std::vector<std::uint64_t>& voxels_;
  std::uint64_t buffer_items_;  ///< items per buffer
  bool has_one_stage_;
  stored_columns layout_;
  node_cores cores_;
  bool tells_, inflates_;
  node_memory over_;
  std::vector<node_memory> memory_;  ///< one buffer, or two used alternately
  std::array<row_stage, 2> stages_;  ///< contents of the buffers
  std::uint32_t begun_ = 0;
  double seconds_ = 0;
  std::vector<bytes_after_image> after_;  ///< bytes after the image of each file, written by the inflating threads
  std::atomic<bool> stop_{false};
  std::future<void> inflating_;  ///< last member, so that it ends before the members that it uses are destroyed
};

}  // namespace

std::unique_ptr<voxel_rows> start_inflating(const session& s, const std::vector<nifti_header>& files,
                                            const std::vector<std::uint64_t>& voxels, std::uint64_t max_items) {
  return std::make_unique<inflated_rows>(s, files, voxels, max_items);
}

}  // namespace voxherd
