#include "src/fsl/probtrackx2.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "core/failure.hpp"
#include "src/analyses/track/options.hpp"
#include "src/fsl/fsl_words.hpp"

namespace voxherd {

namespace {

constexpr std::string_view hidden = "voxherd track has no such choice";

// clang-format off
constexpr fsl_option flags[] = {
  {"-s, --samples", fsl_answer::value, "--samples"},
  {"-m, --mask", fsl_answer::value, "--mask"},
  {"-x, --seed", fsl_answer::value, "--seed-image"},
  {"--network", fsl_answer::given, "--network-masks", "the seeds are a list of regions: write the matrix between them"},
  {"--dir", fsl_answer::value, "--dir"},
  {"--forcedir", fsl_answer::given, "--forcedir"},
  {"-o, --out", fsl_answer::value, "--file-name"},
  {"--opd", fsl_answer::given, "--opd"},
  {"--pd", fsl_answer::given, "--pd"},
  {"--ompl", fsl_answer::given, "--ompl"},
  {"-P, --nsamples", fsl_answer::value, "--samples-per-seed"},
  {"-S, --nsteps", fsl_answer::value, "--nsteps"},
  {"--steplength", fsl_answer::value, "--step"},
  {"-c, --cthr", fsl_answer::value, "--cthr"},
  {"--fibthresh", fsl_answer::value, "--fibre-threshold"},
  {"--distthresh", fsl_answer::value, "--min-half-length"},
  {"--sampvox", fsl_answer::value, "--seed-radius"},
  {"--randfib", fsl_answer::value, "--first-fibre"},
  {"--rseed", fsl_answer::value, "--rseed"},
  {"-l, --loopcheck", fsl_answer::given, "--loop-check=on"},
  {"-f, --usef", fsl_answer::given, "--stop-by-fraction"},
  {"--avoid", fsl_answer::value, "--exclude"},
  {"--stop", fsl_answer::value, "--stop"},
  {"--waypoints", fsl_answer::value, "--include"},
  {"--waycond", fsl_answer::value, "--include-rule"},
  {"--wayorder", fsl_answer::given, "--ordered"},
  {"--onewaycondition", fsl_answer::given, "--each-half"},
  {"--wtstop", fsl_answer::value, "--walk-through-stop"},
  {"--forcefirststep", fsl_answer::given, "--ignore-first-step"},
  {"--fibst", fsl_answer::value, "--start-fibre"},
  {"--modeuler", fsl_answer::given, "--step-direction=fsl-mean"},
  {"--opathdir", fsl_answer::given, "--local-directions"},
  {"--seedref", fsl_answer::value, "--seedref"},
  {"--xfm", fsl_answer::value, "--transform"},
  {"--invxfm", fsl_answer::value, "--inverse-transform"},
  {"--os2t", fsl_answer::given, "--os2t"},
  {"--targetmasks", fsl_answer::value, "--targets"},
  {"--omatrix1", fsl_answer::given, "--omatrix1"},
  {"--omatrix2", fsl_answer::given, "--omatrix2"},
  {"--omatrix3", fsl_answer::given, "--omatrix3"},
  {"--target2", fsl_answer::value, "--target2"},
  {"--target3", fsl_answer::value, "--target3"},
  {"--lrtarget3", fsl_answer::value, "--lrtarget3"},
  {"--distthresh1", fsl_answer::value, "--distthresh1"},
  {"--distthresh3", fsl_answer::value, "--distthresh3"},
  {"-V, --verbose", fsl_answer::no_difference_value, ""},
  {"--meshspace", fsl_answer::value, "--mesh-space"},
  {"--simple", fsl_answer::given, "--simple"},
  {"--fopd", fsl_answer::value, "--fopd"},
  {"--savepaths", fsl_answer::given, "--savepaths"},
  {"--s2tastext", fsl_answer::given, "--s2tastext"},
  {"--otargetpaths", fsl_answer::given, "--otargetpaths"},
  {"--omatrix4", fsl_answer::given, "--omatrix4"},
  {"--target4", fsl_answer::value, "--target4"},
  {"--colmask4", fsl_answer::value, "--colmask4"},
  {"--closestvertex", fsl_answer::given, "--closestvertex"},
  {"--noprobinterpol", fsl_answer::unsupported, hidden},
  {"--prefdir", fsl_answer::unsupported, hidden},
  {"--locfibchoice", fsl_answer::unsupported, hidden},
  {"--loccurvthresh", fsl_answer::unsupported, hidden},
};

/// Values of FSL that are words of ours.
struct value_word { std::string_view option, fsl, ours; };
constexpr value_word value_words[] = {
  {"--randfib", "0", "strongest"}, {"--randfib", "1", "equal"}, {"--randfib", "2", "weighted"}, {"--randfib", "3", "any"},
  {"--waycond", "AND", "and"},     {"--waycond", "OR", "or"},
};
// clang-format on

const fsl_option* find_flag(std::string_view name) {
  const std::string dashes = name.starts_with("--") ? std::string(name) : "-" + std::string(name);  // -pd is --pd
  const auto find = [](std::string_view wanted) {
    return std::find_if(std::begin(flags), std::end(flags), [&](const fsl_option& f) { return f.is_named(wanted); });
  };
  const auto* found = find(name);
  if (found == std::end(flags) && name.starts_with("-")) found = find(dashes);
  return found == std::end(flags) ? nullptr : found;
}

std::string translate_value(const fsl_option& f, const std::string& value) {
  std::string expected;
  for (const value_word& w : value_words) {
    if (w.option != f.main_name()) continue;
    if (w.fsl == value) return std::string(w.ours);
    expected += fmt::format("{}{}", expected.empty() ? "" : ", ", w.fsl);
  }
  if (!expected.empty()) refuse_usage("probtrackx2: {} {}: expected one of {}", f.main_name(), value, expected);
  return value;
}

/// Whether an option that only voxherd has takes a value.
bool takes_value(std::string_view name) {
  const auto& specs = track_options().specs();
  const std::size_t dashes = name.find_first_not_of('-');
  if (dashes == std::string_view::npos) return false;
  const auto found = std::find_if(specs.begin(), specs.end(),
                                  [&](const option_spec& spec) { return spec.name == name.substr(dashes); });
  return name == "--config" || (found != specs.end() && found->takes_value());
}

/// Reads words one after another.
class translator {
 public:
  explicit translator(const std::vector<std::string>& words) : words_(words) {}

  std::vector<std::string> translate() {
    for (; next_ < words_.size(); ++next_) read(words_[next_]);
    return join();
  }

 private:
  void read(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (!word.starts_with("-")) refuse_usage("probtrackx2: unexpected argument '{}'", word);
    const fsl_option* f = find_flag(name);
    if (f == nullptr) return keep(word, equals != std::string::npos);
    if (f->answer == fsl_answer::unsupported) refuse_usage("probtrackx2: {} is not supported: {}", name, f->ours);
    const bool takes = f->answer == fsl_answer::value || f->answer == fsl_answer::no_difference_value;
    if (!takes && equals != std::string::npos) refuse_usage("probtrackx2: {}: {} takes no value", word, name);
    std::string value;
    if (takes && equals != std::string::npos) value = word.substr(equals + 1);
    // The value of -V may be missing, which older scripts of ours do.
    const bool follows =
        next_ + 1 < words_.size() && (f->answer == fsl_answer::value || !words_[next_ + 1].starts_with("-"));
    if (takes && equals == std::string::npos && follows) value = words_[++next_];
    if (f->answer == fsl_answer::value && value.empty()) refuse_usage("probtrackx2: {}: the value is missing", name);
    if (takes && !found_.emplace(f->main_name(), translate_value(*f, value)).second)
      refuse_usage("probtrackx2: {} is given twice; a text file may list several masks", name);
    if (!takes) found_.emplace(f->main_name(), "");
  }

  void keep(const std::string& word, bool has_value) {
    kept_.push_back(word);
    if (!has_value && takes_value(word) && next_ + 1 < words_.size()) kept_.push_back(words_[++next_]);
  }

  bool has(std::string_view name) const { return found_.find(name) != found_.end(); }

  /// Conditions for waypoints have no effect without them; FSL's GUI writes them always.
  bool has_effect(const fsl_option& f) const {
    if (f.answer == fsl_answer::no_difference_value) return false;
    if (f.main_name() == "--randfib") return !has("--fibst");  // the first fibre is named
    if (f.main_name() == "--targetmasks") return has("--os2t");
    if (f.main_name() == "--waycond" || f.main_name() == "--wayorder" || f.main_name() == "--onewaycondition")
      return has("--waypoints");
    if (f.main_name() == "--s2tastext" || f.main_name() == "--otargetpaths") return has("--os2t");
    if (f.main_name() == "--distthresh1") return has("--omatrix1");
    if (f.main_name() == "--distthresh3") return has("--omatrix3");
    if (f.main_name() == "--target2") return has("--omatrix2");
    if (f.main_name() == "--target3") return has("--omatrix3");
    if (f.main_name() == "--target4" || f.main_name() == "--colmask4") return has("--omatrix4");
    if (f.main_name() == "--closestvertex")
      return has("--omatrix1") || has("--omatrix3") || has("--fopd") || has("--colmask4");
    if (f.main_name() == "--forcefirststep") return has("--avoid") || has("--stop");
    return true;
  }

  std::vector<std::string> join() const {
    std::vector<std::string> ours = kept_;
    for (const fsl_option& f : flags) {
      const auto given = found_.find(f.main_name());
      if (given == found_.end() || f.main_name() == "--verbose") continue;
      const std::string value = given->second.empty() ? "" : "=" + given->second;
      if (!has_effect(f)) {
        ours.push_back(fmt::format("--no-difference={}{}", f.main_name(), value));
      } else if (f.main_name() == "--seed" && has("--network")) {
        ours.push_back("--network-masks" + value);
      } else if (f.main_name() != "--network") {
        ours.push_back(fmt::format("{}{}", f.ours, value));
      }
    }
    return ours;
  }

  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  std::map<std::string_view, std::string> found_;  ///< values found, by FSL's long name
  std::vector<std::string> kept_;
};

/// Options of track that messages name; probtrackx2 has others in their place.
constexpr told_option told[] = {
    {"--network-masks", "--seed"},    {"--connectome", "--seed"},
    {"--max-steps", "--nsteps"},      {"--max-angle", "--cthr"},
    {"--random-seed", "--rseed"},     {"--matrix1", "--omatrix1"},
    {"--matrix2", "--omatrix2"},      {"--matrix3", "--omatrix3"},
    {"--matrix4", "--omatrix4"},      {"--target3-columns", "--lrtarget3"},
    {"--matrix4-rows", "--colmask4"}, {"--closest-vertex", "--closestvertex"},
    {"--lengths", "--ompl"},
};

const fsl_program& probtrackx2_program() {
  static const fsl_program program{"probtrackx2", flags, probtrackx2_table, nullptr, told};
  return program;
}

}  // namespace

std::string list_probtrackx2_flags() { return list_fsl_options(probtrackx2_program()); }

std::string retell_probtrackx2(const std::string& message, const std::vector<std::string>& typed) {
  return retell_in_fsl_words(probtrackx2_program(), message, typed);
}

std::vector<std::string> from_probtrackx2(const std::vector<std::string>& words) {
  return translator(words).translate();
}

}  // namespace voxherd
