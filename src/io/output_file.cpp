#include "src/io/output_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "core/failure.hpp"
#include "mpi/result/temporary_file.hpp"
#include "src/io/gzip/gzip_writer.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

struct output_file::state {
  state(const std::string& p, coding c) : path(p), file(p) {
    if (file.error() != 0) fail_on_disk(file.error(), "{}: cannot be created", path);
    if (c == coding::gzip)
      gzip.emplace([this](std::span<const std::byte> packed) { write_through(packed.data(), packed.size()); });
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  void write_through(const void* data, std::size_t bytes) const {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t n = ::write(file.descriptor(), at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_on_disk(errno, "{}: cannot be written", path);
      at += n;
      bytes -= static_cast<std::size_t>(n);
    }
  }

  std::string path;
  temporary_file file;
  std::optional<gzip_writer> gzip;
};

output_file::output_file(const std::string& path, coding c) : state_(std::make_unique<state>(path, c)) {}
output_file::~output_file() = default;
output_file::output_file(output_file&&) noexcept = default;

void output_file::write(const void* data, std::size_t bytes) {
  if (state_->gzip) {
    state_->gzip->write(data, bytes);
  } else {
    state_->write_through(data, bytes);
  }
}

void output_file::write_at(std::uint64_t place, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::pwrite(state_->file.descriptor(), at, bytes, static_cast<off_t>(place));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_on_disk(errno, "{}: cannot be written", state_->path);
    at += n, place += static_cast<std::uint64_t>(n), bytes -= static_cast<std::size_t>(n);
  }
}

void output_file::finish() {
  state& s = *state_;
  if (s.gzip) s.gzip->finish();
  if (const int code = s.file.close_file(); code != 0) fail_on_disk(code, "{}: cannot be written", s.path);
  if (const int code = s.file.rename(existing_file::replaced); code != 0)
    fail_on_disk(code, "{}: cannot be renamed from its temporary name", s.path);
}

void create_folder(const std::string& path) {
  std::error_code code;
  if (!path.empty()) std::filesystem::create_directories(path, code);
  if (code) fail_on_disk(code.value(), "{}: cannot create the folder", path);
}

void write_file(const std::string& path, std::string_view text) {
  output_file file(path, output_file::coding::plain);
  file.write(text.data(), text.size());
  file.finish();
}

void copy_file(const std::string& from, const std::string& to) {
  const input_file original(from);
  output_file copy(to, output_file::coding::plain);
  std::vector<char> piece(std::size_t{1} << 20);
  for (std::uint64_t at = 0; at < original.size(); at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(piece.size(), original.size() - at));
    original.read(at, piece.data(), piece.size());
    copy.write(piece.data(), piece.size());
  }
  copy.finish();
}

}  // namespace voxherd
