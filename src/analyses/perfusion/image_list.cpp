#include "src/analyses/perfusion/image_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/mask.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

namespace {

/// Every file stays open; most systems allow 1024 open files per process.
constexpr std::size_t max_files = 900;

std::vector<std::string> names_in(const std::string& list) {
  const input_file file(list);
  std::string text(std::min<std::uint64_t>(file.size(), 1 << 20), '\0');
  file.read(0, text.data(), text.size());
  std::vector<std::string> names;
  std::istringstream lines(text);
  const auto folder = std::filesystem::path(list).parent_path();
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (!line.empty()) names.push_back((folder / line).string());
  }
  if (names.empty())
    throw failure(exit_status::bad_data,
                  fmt::format("{}: has no names, expected images, one per line in the order of time", printable(list)));
  return names;
}

/// Whether a is before b if runs of digits are compared as numbers.
bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t from = at;
      while (at < text.size() && digit(text[at])) ++at;
      return text.substr(from, at - from);
    };
    const std::string x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() - i < b.size() - j;
}

void check_order(const std::vector<std::string>& names, const char* option) {
  if (!std::is_sorted(names.begin(), names.end())) return;
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (!natural_less(names[i], names[i - 1])) continue;
    throw failure(exit_status::usage,
                  fmt::format("--{}: {} is before {}, as a shell sorts names; give them in the order of time (as ls -v "
                              "sorts), or in a .txt with one name per line",
                              option, printable(names[i - 1]), printable(names[i])));
  }
}

}  // namespace

std::uint64_t image_list::volumes() const { return total_volumes(files); }

std::string image_list::name() const {
  return printable(files.front().path) +
         (files.size() > 1 ? fmt::format(" and {} more files", files.size() - 1) : std::string());
}

image_list read_image_list(const std::vector<std::string>& names, const char* option) {
  const bool is_list = names.size() == 1 && names[0].size() > 4 && names[0].ends_with(".txt");
  if (!is_list) check_order(names, option);
  const std::vector<std::string> paths = is_list ? names_in(names[0]) : names;
  if (paths.size() > max_files)
    throw failure(exit_status::usage, fmt::format("--{}: {} files, expected at most {}; join them into one 4-D image",
                                                  option, paths.size(), max_files));
  image_list images;
  for (const std::string& path : paths) {
    images.files.push_back(read_nifti_header(path));
    log_warnings(images.files.back());
    check_same_grid(images.files.back(), images.files.front());
  }
  return images;
}

void share_image_list(const session& s, image_list& images) {
  std::string names;
  for (const nifti_header& h : images.files) names += h.path + '\n';
  s.broadcast(names);
  std::istringstream lines(names);
  std::size_t count = 0;
  for (std::string path; std::getline(lines, path); ++count) {
    if (images.files.size() <= count) images.files.emplace_back();
    check_same_file(s, path, images.files[count]);
  }
}

}  // namespace voxherd
