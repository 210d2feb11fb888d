#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "core/command.hpp"
#include "core/text.hpp"
#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/nifti/nifti_format.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

struct datacheck_request {
  std::string folder;
};

const option_table<datacheck_request>& datacheck_options() {
  using T = datacheck_request;
  static const option_table<T> table = option_table<T>().group(
      "Input", {{"folder",
                 &T::folder,
                 text_kind::file,
                 {.text = "folder for bedpostx", .value = "SUBJECT_DIR", .required = true, .place = 1}}});
  return table;
}

/// Lines that are not blank, and words, of a text file.
struct text_counts {
  std::size_t lines = 0, words = 0;
  /// Words in a line.
  std::size_t columns() const { return lines == 0 ? 0 : words / lines; }
};

/// Scripts look for these words on standard output.
text_counts print_counts(const std::string& path) {
  text_counts n;
  if (std::filesystem::exists(path)) {
    std::istringstream text(read_text_file(path));
    for (std::string line; std::getline(text, line);) {
      std::istringstream words(line);
      const std::size_t before = n.words;
      for (std::string word; words >> word;) ++n.words;
      if (n.words > before) ++n.lines;
    }
  } else {
    fmt::print("{} does not exist\n", one_line(path));
  }
  fmt::print(" num lines in {} \n{}\n num words in {} \n{}\n", one_line(path), n.lines, one_line(path), n.words);
  return n;
}

/// FSL's name of a datatype: FLOAT32.
std::string upper_name(int datatype) {
  std::string name = datatype_name(datatype);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

/// Prints what fslinfo does. Nothing if there is no image.
std::optional<nifti_header> print_image(const std::string& name) {
  const std::string path = find_image(name);
  if (path.empty()) {
    fmt::print("{} does not exist\n", one_line(name));
    return std::nullopt;
  }
  nifti_header h = read_nifti_header(path);
  fmt::print("{}\ndata_type\t{}\n", one_line(name), upper_name(h.datatype));
  for (std::size_t i = 0; i < 3; ++i) fmt::print("dim{}\t\t{}\n", i + 1, h.grid.size[i]);
  fmt::print("dim4\t\t{}\ndatatype\t{}\n", h.volumes, h.datatype);
  for (std::size_t i = 0; i < 3; ++i) fmt::print("pixdim{}\t\t{:f}\n", i + 1, h.grid.voxel_size_mm[i]);
  fmt::print("file_type\tNIFTI-{}+\n\n", h.version);
  return h;
}

/// What FSL's script says about sizes that do not match.
void print_problems(const nifti_header& data, const nifti_header& mask, const text_counts& bvals,
                    const text_counts& bvecs) {
  const auto has_vectors = [&](std::size_t count) { return bvecs.columns() == count || bvecs.lines == count; };
  const std::array<std::pair<bool, const char*>, 6> problems{{
      {data.grid.size != mask.grid.size, "data dimensions do not match mask dimensions"},
      {!has_vectors(3), "bvecs is not 3xN or Nx3 format"},
      {bvals.lines > 1 && bvals.columns() > 1, "bvals is not 1xN or Nx1 format"},
      {!has_vectors(bvals.words), "bvecs and bvals are incompatible"},
      {bvals.words != data.volumes, "number of elements in bvals is not equal to number of vols in data"},
      {!has_vectors(data.volumes), "number of vectors in bvecs is not equal to number of vols in data"},
  }};
  for (const auto& [is_there, text] : problems)
    if (is_there) fmt::print("{}\n", text);
}

exit_status run_datacheck(session& s, const datacheck_request& request) {
  s.on_root([&] {
    const std::string& folder = request.folder;
    const auto data = print_image(folder + "/data"), mask = print_image(folder + "/nodif_brain_mask");
    const text_counts bvals = print_counts(folder + "/bvals"), bvecs = print_counts(folder + "/bvecs");
    if (data && mask) print_problems(*data, *mask, bvals, bvecs);
  });
  return exit_status::complete;
}

}  // namespace

constexpr command make_datacheck_command() {
  command c = make_command<datacheck_options, run_datacheck>(
      {"datacheck", "FSL's bedpostx_datacheck: prints what a folder contains", "voxherd datacheck subject"});
  c.other_names = "bedpostx_datacheck";
  return run_by_first_rank(c);
}

extern const command datacheck_command = make_datacheck_command();

}  // namespace voxherd
