#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "src/fsl/slices.hpp"

namespace voxherd {

extern const command xfibres_command;

namespace {

/// SUBJECT_DIR SLICE and options of xfibres: the slice's images, which bedpostx_preproc.sh has made, and its folder.
std::vector<std::string> from_fit_slice(const std::vector<std::string>& words) {
  std::uint64_t slice = 0;
  const std::string number = words.size() < 2 ? "" : words[1];
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), slice);
  if (code != std::errc{} || end != number.data() + number.size())
    refuse_usage("fit_slice: expected SUBJECT_DIR SLICE and options of xfibres; SLICE is a number from 0");
  const std::string subject = subject_path(words[0]);
  std::vector<std::string> all{"--data=" + slice_image(subject, "data", slice),
                               "--mask=" + slice_image(subject, "nodif_brain_mask", slice),
                               "--bvals=" + subject + "/bvals",
                               "--bvecs=" + subject + "/bvecs",
                               "--forcedir",
                               "--logdir=" + slice_folder(subject, slice)};
  all.insert(all.end(), words.begin() + 2, words.end());
  return xfibres_command.translate(all);
}

/// xfibres with other words.
command make_fit_slice_command() {
  command c = xfibres_command;
  c.name = "fit_slice";
  c.summary = "FSL's bedpostx_single_slice.sh: xfibres of one slice of a folder";
  c.example = "voxherd fit_slice subject 30 --nf=2 --model=1 --cnonlinear";
  c.translate = from_fit_slice;
  c.other_usage = "SUBJECT_DIR SLICE ...";
  c.other_names = "bedpostx_single_slice.sh";
  return c;
}

}  // namespace

extern const command fit_slice_command = make_fit_slice_command();

}  // namespace voxherd
