// JSON of other programs: sidecars with times, filters of BIDS, and any text with its limit of levels.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/json_text.hpp"
#include "src/analyses/perfusion/frames.hpp"
#include "src/batch/bids/dataset_files.hpp"
#include "tests/fuzz/targets/input.hpp"

namespace voxherd::fuzz {

namespace {

void read_any(std::string_view text) {
  accepts([&] {
    const nlohmann::json value = parse_json(text, "text");
    if (value.is_discarded()) return;
    require(parse_json(value.dump(), "text") == value, "what is written is read again");
  });
}

void read_times(std::string_view text) {
  const input file(text, ".json");
  perfusion_settings settings;
  settings.times = file.path();
  accepts([&] {
    const std::vector<double> times = read_frame_times(settings, 3, "series");
    require(times.size() == 3 && std::is_sorted(times.begin(), times.end()), "times increase");
  });
}

void read_filter(const std::string& text) {
  accepts([&] {
    const bids_filter filter("filter", text);
    for (const char* name : {"sub-01_run-02_dwi.nii.gz", "sub-01_ses-a_desc-brain_mask.nii", "dwi.nii"})
      if (const auto parts = parse_bids_name(name))
        for (const char* kind : {"dwi", "mask", "dynamic"}) (void)filter.accepts(kind, *parts, "dwi");
  });
}

}  // namespace

}  // namespace voxherd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace voxherd::fuzz;
  const std::string_view text = as_text(data, size);
  read_any(text);
  read_times(text);
  read_filter(std::string(text));
  return 0;
}
