#include <fmt/core.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "core/text.hpp"
#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

struct split_request {
  std::string data, deviation, folder;  ///< deviation: "" for none
  std::uint32_t parts = 1;
};

/// DATA MASK [BVALS BVECS] GRAD_DEV|NULL 0|1 PARTS DIR as options: FSL 5 gives six words, FSL 6 also bvals and bvecs.
std::vector<std::string> from_split_parts(const std::vector<std::string>& words) {
  if ((words.size() != 6 && words.size() != 8) || words.front().starts_with("-")) return words;
  const std::vector<std::string> last(words.end() - 4, words.end());
  std::vector<std::string> ours{"--data=" + words.front(), "--parts=" + last[2], "--dir=" + last[3]};
  if (last[1] == "1") ours.push_back("--grad-dev=" + last[0]);
  return ours;
}

const option_table<split_request>& split_options() {
  using T = split_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"data", &T::data, text_kind::file, {.text = "diffusion-weighted series", .required = true}},
      {"grad-dev", &T::deviation, text_kind::file, {.text = "deviation of the gradients"}},
      {"parts", &T::parts, range{1, 10000}, {"number of parts"}}})
    .group("Output", {
      {"dir", &T::folder, text_kind::file,
       {.text = "folder of the links, which must exist", .value = "DIR", .required = true}}});
  // clang-format on
  return table;
}

/// A link `name` in the folder to an image.
void make_link(const std::string& image, const fs::path& name) {
  const std::string found = find_image(image);
  if (found.empty()) refuse_missing("{}: no such image (.nii.gz or .nii)", image);
  const fs::path link = name.string() + (found.ends_with(".gz") ? ".nii.gz" : ".nii");
  std::error_code code;
  if (fs::is_symlink(link, code)) fs::remove(link, code);
  fs::create_symlink(fs::absolute(found), link, code);
  if (code) fail_on_disk(code.value(), "{}: cannot be made", link.string());
}

exit_status run_split(session& s, const split_request& request) {
  s.on_root([&] {
    for (std::uint32_t part = 0; part < request.parts; ++part) {
      const fs::path folder = request.folder;
      make_link(request.data, folder / fmt::format("data_{}", part));
      if (!request.deviation.empty()) make_link(request.deviation, folder / fmt::format("grad_dev_{}", part));
    }
  });
  return exit_status::complete;
}

}  // namespace

constexpr command make_split_command() {
  command c =
      make_command<split_options, run_split>({"split_parts", "FSL's split_parts_gpu: links to the series for xfibres",
                                              "voxherd split_parts data nodif_brain_mask NULL 0 4 subject.bedpostX"});
  c.translate = from_split_parts;
  c.other_usage = "DATA MASK [BVALS BVECS] GRAD_DEV|NULL 0|1 PARTS DIR";
  c.other_names = "split_parts_gpu";
  return run_by_first_rank(c);
}

extern const command split_parts_command = make_split_command();

}  // namespace voxherd
