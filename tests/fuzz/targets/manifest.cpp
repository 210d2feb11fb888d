// A table of subjects, with its own commands and with a template.
#include "src/batch/cohort/manifest.hpp"

#include <set>

#include "tests/fuzz/targets/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd;
  const std::string text(fuzz::as_text(data, size));
  for (const char* words : {"", "tensor --dwi {subject}.nii --out {subject}.h5"}) {
    fuzz::accepts([&] {
      std::set<std::string> outs;
      for (const cohort_subject& s : parse_manifest("manifest", text, words)) {
        fuzz::require(!s.name.empty() && !s.words.empty(), "each subject has a name and a command");
        fuzz::require(outs.insert(s.out).second, "no two subjects have one result");
      }
    });
  }
  return 0;
}
