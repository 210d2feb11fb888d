#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "src/io/cifti/cifti.hpp"

namespace voxherd {

namespace {

/// CIFTI-2 specification (2014), section "Brain structures".
constexpr std::string_view structure_names[] = {"ACCUMBENS_LEFT",
                                                "ACCUMBENS_RIGHT",
                                                "ALL_GREY_MATTER",
                                                "ALL_WHITE_MATTER",
                                                "AMYGDALA_LEFT",
                                                "AMYGDALA_RIGHT",
                                                "BRAIN_STEM",
                                                "CAUDATE_LEFT",
                                                "CAUDATE_RIGHT",
                                                "CEREBELLAR_WHITE_MATTER_LEFT",
                                                "CEREBELLAR_WHITE_MATTER_RIGHT",
                                                "CEREBELLUM",
                                                "CEREBELLUM_LEFT",
                                                "CEREBELLUM_RIGHT",
                                                "CEREBRAL_WHITE_MATTER_LEFT",
                                                "CEREBRAL_WHITE_MATTER_RIGHT",
                                                "CORTEX",
                                                "CORTEX_LEFT",
                                                "CORTEX_RIGHT",
                                                "DIENCEPHALON_VENTRAL_LEFT",
                                                "DIENCEPHALON_VENTRAL_RIGHT",
                                                "HIPPOCAMPUS_LEFT",
                                                "HIPPOCAMPUS_RIGHT",
                                                "OTHER",
                                                "OTHER_GREY_MATTER",
                                                "OTHER_WHITE_MATTER",
                                                "PALLIDUM_LEFT",
                                                "PALLIDUM_RIGHT",
                                                "PUTAMEN_LEFT",
                                                "PUTAMEN_RIGHT",
                                                "THALAMUS_LEFT",
                                                "THALAMUS_RIGHT"};

constexpr std::pair<int, std::string_view> freesurfer_labels[] = {{2, "CEREBRAL_WHITE_MATTER_LEFT"},
                                                                  {3, "CORTEX_LEFT"},
                                                                  {7, "CEREBELLAR_WHITE_MATTER_LEFT"},
                                                                  {8, "CEREBELLUM_LEFT"},
                                                                  {10, "THALAMUS_LEFT"},
                                                                  {11, "CAUDATE_LEFT"},
                                                                  {12, "PUTAMEN_LEFT"},
                                                                  {13, "PALLIDUM_LEFT"},
                                                                  {16, "BRAIN_STEM"},
                                                                  {17, "HIPPOCAMPUS_LEFT"},
                                                                  {18, "AMYGDALA_LEFT"},
                                                                  {26, "ACCUMBENS_LEFT"},
                                                                  {28, "DIENCEPHALON_VENTRAL_LEFT"},
                                                                  {41, "CEREBRAL_WHITE_MATTER_RIGHT"},
                                                                  {42, "CORTEX_RIGHT"},
                                                                  {46, "CEREBELLAR_WHITE_MATTER_RIGHT"},
                                                                  {47, "CEREBELLUM_RIGHT"},
                                                                  {49, "THALAMUS_RIGHT"},
                                                                  {50, "CAUDATE_RIGHT"},
                                                                  {51, "PUTAMEN_RIGHT"},
                                                                  {52, "PALLIDUM_RIGHT"},
                                                                  {53, "HIPPOCAMPUS_RIGHT"},
                                                                  {54, "AMYGDALA_RIGHT"},
                                                                  {58, "ACCUMBENS_RIGHT"},
                                                                  {60, "DIENCEPHALON_VENTRAL_RIGHT"}};

}  // namespace

bool is_cifti_structure(const std::string& name) {
  return std::find(std::begin(structure_names), std::end(structure_names), name) != std::end(structure_names);
}

std::string list_cifti_structures() {
  std::string list;
  for (const std::string_view name : structure_names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

std::string freesurfer_structure(std::int64_t label) {
  for (const auto& [number, name] : freesurfer_labels)
    if (number == label) return std::string(name);
  return "";
}

}  // namespace voxherd
