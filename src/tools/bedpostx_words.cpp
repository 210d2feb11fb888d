#include "src/tools/bedpostx_words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "core/failure.hpp"

namespace voxherd {

namespace {

enum class meaning { value, given, no_difference, no_difference_value, unsupported };

/// A flag of FSL: `ours` is the option that replaces it, or the reason why there is none.
struct flag {
  std::string_view fsl;
  meaning kind;
  std::string_view ours;
};

constexpr std::string_view uses_folder = "the files of the subject's folder are used";

// clang-format off
constexpr flag flags[] = {
  {"-n", meaning::value, "--fibres"},         {"--nf", meaning::value, "--fibres"},
  {"--nfibres", meaning::value, "--fibres"},  {"-model", meaning::value, "--model"},
  {"-w", meaning::value, "--ard-weight"},     {"--fudge", meaning::value, "--ard-weight"},
  {"-b", meaning::value, "--burn-in"},        {"--bi", meaning::value, "--burn-in"},
  {"--burnin", meaning::value, "--burn-in"},  {"-j", meaning::value, "--jumps"},
  {"--nj", meaning::value, "--jumps"},        {"--njumps", meaning::value, "--jumps"},
  {"-s", meaning::value, "--sample-every"},   {"--se", meaning::value, "--sample-every"},
  {"--sampleevery", meaning::value, "--sample-every"},
  {"--upe", meaning::value, "--adapt-every"}, {"--updateproposalevery", meaning::value, "--adapt-every"},
  {"--Rmean", meaning::value, "--ratio-mean"}, {"--Rstd", meaning::value, "--ratio-std"},
  {"-g", meaning::given, "--gradient-deviation"}, {"--rician", meaning::given, "--noise=rician"},
  {"--noard", meaning::given, "--no-ard"},    {"--allard", meaning::given, "--all-ard"},
  {"--ardf0", meaning::given, "--f0-ard"},    {"-c", meaning::given, "--backend=cpu"},
  {"--nonlinear", meaning::no_difference, ""}, {"--cnonlinear", meaning::no_difference, ""},
  {"--nospat", meaning::no_difference, ""},   {"--forcedir", meaning::no_difference, ""},
  {"-V", meaning::no_difference, ""},
  {"--bn", meaning::no_difference_value, ""}, {"--burnin_noard", meaning::no_difference_value, ""},
  {"-NJOBS", meaning::no_difference_value, ""}, {"-Q", meaning::no_difference_value, ""},
  {"--Rfudge", meaning::unsupported, "the prior of R has no such weight here"},
  {"--gradnonlin", meaning::unsupported, "use -g; grad_dev is read from the subject's folder"},
  {"-k", meaning::unsupported, uses_folder},     {"--data", meaning::unsupported, uses_folder},
  {"-m", meaning::unsupported, uses_folder},     {"--mask", meaning::unsupported, uses_folder},
  {"-r", meaning::unsupported, uses_folder},     {"--bvecs", meaning::unsupported, uses_folder},
  {"--bvals", meaning::unsupported, uses_folder}, {"--ld", meaning::unsupported, "the output is SUBJECT_DIR.bedpostX"},
  {"--logdir", meaning::unsupported, "the output is SUBJECT_DIR.bedpostX"},
};
// clang-format on

const flag* find_flag(std::string_view name) {
  const auto* found = std::find_if(std::begin(flags), std::end(flags), [&](const flag& f) { return f.fsl == name; });
  return found == std::end(flags) ? nullptr : found;
}

/// Names of FSL for the same option of ours: "-n, --nf, --nfibres".
std::string names_of_option(std::string_view ours) {
  std::string names;
  for (const flag& f : flags)
    if (f.ours == ours) names += (names.empty() ? "" : ", ") + std::string(f.fsl);
  return names;
}

}  // namespace

std::string list_bedpostx_flags() {
  std::string text = "FSL's flags for these options:\n";
  std::string_view before;
  for (const flag& f : flags) {
    const bool is_ours = f.kind == meaning::value || f.kind == meaning::given;
    if (is_ours && f.ours != before && text.find(fmt::format("  {} ", f.ours)) == std::string::npos)
      text += fmt::format("  {:<22} {}\n", f.ours, names_of_option(f.ours));
    before = f.ours;
  }
  return text;
}

std::vector<std::string> from_bedpostx(const std::vector<std::string>& words) {
  std::vector<std::string> ours;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const flag* f = find_flag(name);
    if (f == nullptr) {
      ours.push_back(word);
      continue;
    }
    if (f->kind == meaning::unsupported)
      throw failure(exit_status::usage, fmt::format("bedpostx: {} is not supported: {}", name, f->ours));
    std::string value;
    const bool takes_value = f->kind == meaning::value || f->kind == meaning::no_difference_value;
    if (!takes_value && equals != std::string::npos)
      throw failure(exit_status::usage, fmt::format("bedpostx: {}: {} takes no value", word, name));
    if (takes_value && equals == std::string::npos && i + 1 == words.size())
      throw failure(exit_status::usage, fmt::format("bedpostx: {}: the value is missing; example: {} 3", name, name));
    if (takes_value) value = equals == std::string::npos ? words[++i] : word.substr(equals + 1);
    if (f->kind == meaning::value) {
      ours.push_back(fmt::format("{}={}", f->ours, value));
    } else if (f->kind == meaning::given) {
      ours.emplace_back(f->ours);
    } else {
      ours.push_back(fmt::format("--no-difference={}{}{}", name, value.empty() ? "" : " ", value));
    }
  }
  return ours;
}

}  // namespace voxherd
