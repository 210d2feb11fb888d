#include "src/io/nifti/shared_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>
#include <vector>

#include "core/failure.hpp"
#include "src/io/gzip/gzip_writer.hpp"

namespace voxherd {

shared_file::shared_file(const session& s, const std::string& path, std::uint64_t bytes) : session_(s), path_(path) {
  const std::string name = s.from_root([&] {
    own_ = std::make_unique<temporary_file>(path, O_RDWR);
    if (own_->error() != 0) fail_on_disk(own_->error(), "{}: cannot be created", path_);
    descriptor_ = own_->descriptor();
    if (bytes > 0 && ::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
      fail_on_disk(errno, "{}: cannot be resized", path_);
    return own_->name();
  });
  s.agree([&] {
    if (descriptor_ < 0) descriptor_ = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor_ < 0)
      fail_on_disk(errno, "{}: cannot be opened on every rank; use a folder shared by all nodes", path_);
  });
}

shared_file::~shared_file() { (void)close_file(); }

int shared_file::close_file() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (own_ != nullptr) return own_->close_file();
  return descriptor < 0 || ::close(descriptor) == 0 ? 0 : errno;
}

void shared_file::write(std::uint64_t offset, const void* data, std::size_t bytes) const {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::pwrite(descriptor_, at, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_on_disk(errno, "{}: cannot be written", path_);
    at += n, offset += static_cast<std::uint64_t>(n), bytes -= static_cast<std::size_t>(n);
  }
}

void shared_file::read(std::uint64_t offset, void* data, std::size_t bytes) const {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::pread(descriptor_, at, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail_on_disk(n == 0 ? EIO : errno, "{}: cannot be read back", path_);
    at += n, offset += static_cast<std::uint64_t>(n), bytes -= static_cast<std::size_t>(n);
  }
}

void shared_file::finish() {
  // Network file systems may report a full disk only on close.
  session_.agree([&] {
    if (const int error = close_file(); error != 0) fail_on_disk(error, "{}: cannot be written", path_);
  });
  session_.on_root([&] {
    if (const int error = own_->rename(existing_file::replaced); error != 0)
      fail_on_disk(error, "{}: cannot be renamed from its temporary name", path_);
  });
}

namespace {

using bytes_vector = std::vector<std::byte>;

/// Offset of this rank's `bytes` when all ranks' parts follow one another from `end`; advances `end` past the last.
std::uint64_t place_after_lower_ranks(const session& s, std::uint64_t bytes, std::uint64_t& end) {
  const std::vector<std::uint64_t> sizes = s.gather_counts(bytes);
  const std::uint64_t own = std::accumulate(sizes.begin(), sizes.begin() + s.rank(), end);
  end = std::accumulate(sizes.begin() + s.rank(), sizes.end(), own);
  return own;
}

}  // namespace

void write_gzip(const session& s, const shared_file& plain, std::uint64_t bytes, const std::string& path, int threads) {
  constexpr std::uint64_t member_bytes = std::uint64_t{4} << 20;
  const std::uint64_t members = (bytes + member_bytes - 1) / member_bytes;
  const auto per_rank = static_cast<std::uint64_t>(threads);
  shared_file out(s, path, 0);
  std::uint64_t end = 0;
  for (std::uint64_t round = 0; round < members; round += per_rank * static_cast<std::uint64_t>(s.size())) {
    const std::uint64_t first = std::min(members, round + per_rank * static_cast<std::uint64_t>(s.rank()));
    const auto count = static_cast<std::int64_t>(std::min(members, first + per_rank) - first);
    std::vector<bytes_vector> packed(static_cast<std::size_t>(count));
    s.agree([&] {
      std::exception_ptr error;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
      for (std::int64_t i = 0; i < count; ++i) try {
          const std::uint64_t begin = (first + static_cast<std::uint64_t>(i)) * member_bytes;
          bytes_vector piece(std::min(member_bytes, bytes - begin));
          plain.read(begin, piece.data(), piece.size());
          packed[static_cast<std::size_t>(i)] = gzip_member(piece);
        } catch (...) {
#pragma omp critical
          error = std::current_exception();
        }
      if (error) std::rethrow_exception(error);
    });
    std::uint64_t total = 0;
    for (const auto& p : packed) total += p.size();
    std::uint64_t at = place_after_lower_ranks(s, total, end);
    s.agree([&] {
      for (const auto& p : packed) out.write(std::exchange(at, at + p.size()), p.data(), p.size());
    });
  }
  out.finish();
}

}  // namespace voxherd
