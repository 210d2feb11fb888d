#include "src/analyses/tensor/shells.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/option_list.hpp"
#include "core/text.hpp"
#include "kernels/tensor/tensor.hpp"
#include "src/scan/gradients.hpp"
#include "src/scan/image_checks.hpp"
#include "src/show/common_figures.hpp"

namespace voxherd {

namespace {

constexpr double tolerance_s_per_mm2 = 100;

/// Diffusion is Gaussian, as the tensor assumes, up to about here (Jones & Basser 2004).
constexpr double max_tensor_b_s_per_mm2 = 1500;

bool is_in(double b, double shell, double max_b0) {
  return shell <= max_b0 ? b <= max_b0 : b > max_b0 && std::fabs(b - shell) <= tolerance_s_per_mm2;
}

std::string shell_list(const gradient_table& gradients) {
  std::vector<std::string> texts;
  for (const report::shell& s : report::find_shells(gradients)) texts.push_back(report::b_text(s));
  return fmt::format("{}", fmt::join(texts, ", "));
}

double max_b0(const dwi_request& files) { return files.max_b0_s_per_mm2.value_or(max_b0_s_per_mm2); }

void check_shells(const gradient_table& gradients, const std::vector<double>& shells, const dwi_request& files) {
  for (const double shell : shells)
    if (std::none_of(gradients.b_s_per_mm2.begin(), gradients.b_s_per_mm2.end(),
                     [&](double b) { return is_in(b, shell, max_b0(files)); }))
      refuse_data("--shells: no volume of {} has b = {:g} s/mm2 (within {:g}); it has {}", files.bvals, shell,
                  tolerance_s_per_mm2, shell_list(gradients));
}

}  // namespace

std::vector<double> parse_shells(const std::string& list, const char* option) {
  std::vector<double> shells;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    double b = 0;
    const auto [stopped, code] = std::from_chars(list.data() + at, list.data() + end, b);
    if (code != std::errc{} || stopped != list.data() + end || !(b >= 0 && b <= 1e6))
      refuse_usage("--{} {}: found \"{}\", expected b-values in s/mm2 from 0 to 1000000, e.g. 0,1000", option, list,
                   list.substr(at, end - at));
    shells.push_back(b);
    at = end + 1;
  }
  return shells;
}

std::string high_b_text(const gradient_table& gradients) {
  const auto& b = gradients.b_s_per_mm2;
  const double highest = b.empty() ? 0 : *std::max_element(b.begin(), b.end());
  if (highest <= max_tensor_b_s_per_mm2 + tolerance_s_per_mm2) return "";
  return fmt::format(
      "b is up to {:g} s/mm2, but the tensor describes the signal up to about {:g}: diffusivities are too "
      "low, and FA depends on the protocol",
      highest, max_tensor_b_s_per_mm2);
}

std::vector<std::uint32_t> choose_volumes(const gradient_table& gradients, const std::vector<double>& shells,
                                          const dwi_request& files) {
  check_shells(gradients, shells, files);
  const auto is_chosen = [&](double b) {
    return shells.empty() ||
           std::any_of(shells.begin(), shells.end(), [&](double shell) { return is_in(b, shell, max_b0(files)); });
  };
  std::vector<std::uint32_t> volumes, low;
  for (std::uint32_t k = 0; k < gradients.size(); ++k) {
    if (is_chosen(gradients.b_s_per_mm2[k])) volumes.push_back(k);
    if (gradients.b_s_per_mm2[k] <= max_tensor_b_s_per_mm2 + tolerance_s_per_mm2) low.push_back(k);
  }
  if (!determines_tensor(choose_gradients(gradients, volumes)))
    refuse_data(
        "{}: the gradients{} do not determine a tensor (it needs b=0 and at least six directions that are not all on "
        "one plane or cone); use {}",
        files.bvecs, shells.empty() ? "" : " of --shells",
        shells.empty() ? "another series" : "more of its shells: " + shell_list(gradients));
  if (!shells.empty())
    spdlog::info("--shells {:g}: {} of {} are used, {} left out", fmt::join(shells, ","), volumes.size(),
                 counted(gradients.size(), "volume"), gradients.size() - volumes.size());
  if (const std::string text = high_b_text(choose_gradients(gradients, volumes)); !text.empty())
    spdlog::warn("{}{}", text,
                 low.size() < volumes.size() && determines_tensor(choose_gradients(gradients, low))
                     ? fmt::format("; --shells leaves them out, e.g. --shells 0,1000 (this series has {})",
                                   shell_list(gradients))
                     : "");
  return volumes;
}

}  // namespace voxherd
