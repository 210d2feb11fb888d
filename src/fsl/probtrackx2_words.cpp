#include "src/fsl/probtrackx2.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "core/failure.hpp"
#include "src/analyses/track/options.hpp"

namespace voxherd {

namespace {

enum class meaning { value, given, no_difference_value, unsupported };

/// An option of FSL under its one or two names. `ours`: the option that replaces it, or the reason why there is none.
struct flag {
  std::string_view fsl, short_name;
  meaning kind;
  std::string_view ours;
};

constexpr std::string_view hidden = "voxherd track has no such choice";

// clang-format off
constexpr flag flags[] = {
  {"--samples", "-s", meaning::value, "--samples"},
  {"--mask", "-m", meaning::value, "--mask"},
  {"--seed", "-x", meaning::value, "--seed-image"},  // --network with it
  {"--network", "", meaning::given, "--network-masks"},  // goes with --seed
  {"--dir", "", meaning::value, "--dir"},
  {"--forcedir", "", meaning::given, "--forcedir"},
  {"--out", "-o", meaning::value, "--file-name"},
  {"--opd", "", meaning::given, "--opd"},
  {"--pd", "", meaning::given, "--pd"},
  {"--ompl", "", meaning::given, "--ompl"},
  {"--nsamples", "-P", meaning::value, "--samples-per-seed"},
  {"--nsteps", "-S", meaning::value, "--nsteps"},
  {"--steplength", "", meaning::value, "--step"},
  {"--cthr", "-c", meaning::value, "--cthr"},
  {"--fibthresh", "", meaning::value, "--fibre-threshold"},
  {"--distthresh", "", meaning::value, "--min-half-length"},
  {"--sampvox", "", meaning::value, "--seed-radius"},
  {"--randfib", "", meaning::value, "--first-fibre"},
  {"--rseed", "", meaning::value, "--rseed"},
  {"--loopcheck", "-l", meaning::given, "--loop-check=on"},
  {"--usef", "-f", meaning::given, "--stop-by-fraction"},
  {"--avoid", "", meaning::value, "--exclude"},
  {"--stop", "", meaning::value, "--stop"},
  {"--waypoints", "", meaning::value, "--include"},
  {"--waycond", "", meaning::value, "--include-rule"},
  {"--wayorder", "", meaning::given, "--ordered"},
  {"--onewaycondition", "", meaning::given, "--each-half"},
  {"--wtstop", "", meaning::value, "--walk-through-stop"},
  {"--forcefirststep", "", meaning::given, "--ignore-first-step"},
  {"--fibst", "", meaning::value, "--start-fibre"},
  {"--modeuler", "", meaning::given, "--step-direction=fsl-mean"},
  {"--opathdir", "", meaning::given, "--local-directions"},
  {"--seedref", "", meaning::value, "--seedref"},
  {"--xfm", "", meaning::value, "--transform"},
  {"--invxfm", "", meaning::value, "--inverse-transform"},
  {"--os2t", "", meaning::given, "--os2t"},
  {"--targetmasks", "", meaning::value, "--targets"},
  {"--omatrix1", "", meaning::given, "--omatrix1"},
  {"--omatrix2", "", meaning::given, "--omatrix2"},
  {"--omatrix3", "", meaning::given, "--omatrix3"},
  {"--target2", "", meaning::value, "--target2"},
  {"--target3", "", meaning::value, "--target3"},
  {"--lrtarget3", "", meaning::value, "--lrtarget3"},
  {"--distthresh1", "", meaning::value, "--distthresh1"},
  {"--distthresh3", "", meaning::value, "--distthresh3"},
  {"--verbose", "-V", meaning::no_difference_value, ""},
  {"--meshspace", "", meaning::value, "--mesh-space"},
  {"--simple", "", meaning::given, "--simple"},
  {"--fopd", "", meaning::value, "--fopd"},
  {"--savepaths", "", meaning::given, "--savepaths"},
  {"--s2tastext", "", meaning::given, "--s2tastext"},
  {"--otargetpaths", "", meaning::given, "--otargetpaths"},
  {"--omatrix4", "", meaning::given, "--omatrix4"},
  {"--target4", "", meaning::value, "--target4"},
  {"--colmask4", "", meaning::value, "--colmask4"},
  {"--closestvertex", "", meaning::given, "--closestvertex"},
  {"--noprobinterpol", "", meaning::unsupported, hidden},
  {"--prefdir", "", meaning::unsupported, hidden},
  {"--locfibchoice", "", meaning::unsupported, hidden},
  {"--loccurvthresh", "", meaning::unsupported, hidden},
};

/// Values of FSL that are words of ours.
struct value_word { std::string_view option, fsl, ours; };
constexpr value_word value_words[] = {
  {"--randfib", "0", "strongest"}, {"--randfib", "1", "equal"}, {"--randfib", "2", "weighted"}, {"--randfib", "3", "any"},
  {"--waycond", "AND", "and"},     {"--waycond", "OR", "or"},
};
// clang-format on

[[noreturn]] void refuse(const std::string& message) { throw failure(exit_status::usage, "probtrackx2: " + message); }

const flag* find_flag(std::string_view name) {
  const std::string dashes = name.starts_with("--") ? std::string(name) : "-" + std::string(name);  // -pd is --pd
  const auto* found = std::find_if(std::begin(flags), std::end(flags),
                                   [&](const flag& f) { return f.short_name == name || f.fsl == name; });
  if (found == std::end(flags) && name.starts_with("-"))
    found = std::find_if(std::begin(flags), std::end(flags), [&](const flag& f) { return f.fsl == dashes; });
  return found == std::end(flags) ? nullptr : found;
}

std::string translate_value(const flag& f, const std::string& value) {
  std::string expected;
  for (const value_word& w : value_words) {
    if (w.option != f.fsl) continue;
    if (w.fsl == value) return std::string(w.ours);
    expected += fmt::format("{}{}", expected.empty() ? "" : ", ", w.fsl);
  }
  if (!expected.empty()) refuse(fmt::format("{} {}: expected one of {}", f.fsl, value, expected));
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
    if (!word.starts_with("-")) refuse(fmt::format("unexpected argument '{}'", word));
    const flag* f = find_flag(name);
    if (f == nullptr) return keep(word, equals != std::string::npos);
    if (f->kind == meaning::unsupported) refuse(fmt::format("{} is not supported: {}", name, f->ours));
    const bool takes = f->kind == meaning::value || f->kind == meaning::no_difference_value;
    if (!takes && equals != std::string::npos) refuse(fmt::format("{}: {} takes no value", word, name));
    std::string value;
    if (takes && equals != std::string::npos) value = word.substr(equals + 1);
    // The value of -V may be missing, which older scripts of ours do.
    const bool follows =
        next_ + 1 < words_.size() && (f->kind == meaning::value || !words_[next_ + 1].starts_with("-"));
    if (takes && equals == std::string::npos && follows) value = words_[++next_];
    if (f->kind == meaning::value && value.empty()) refuse(fmt::format("{}: the value is missing", name));
    if (takes && !found_.emplace(f->fsl, translate_value(*f, value)).second)
      refuse(fmt::format("{} is given twice; a text file may list several masks", name));
    if (!takes) found_.emplace(f->fsl, "");
  }

  void keep(const std::string& word, bool has_value) {
    kept_.push_back(word);
    if (!has_value && takes_value(word) && next_ + 1 < words_.size()) kept_.push_back(words_[++next_]);
  }

  bool has(std::string_view name) const { return found_.find(name) != found_.end(); }

  /// Conditions for waypoints have no effect without them; FSL's GUI writes them always.
  bool has_effect(const flag& f) const {
    if (f.kind == meaning::no_difference_value) return false;
    if (f.fsl == "--waycond" || f.fsl == "--wayorder" || f.fsl == "--onewaycondition") return has("--waypoints");
    if (f.fsl == "--s2tastext" || f.fsl == "--otargetpaths") return has("--os2t");
    if (f.fsl == "--distthresh1") return has("--omatrix1");
    if (f.fsl == "--distthresh3") return has("--omatrix3");
    if (f.fsl == "--target2") return has("--omatrix2");
    if (f.fsl == "--target3") return has("--omatrix3");
    if (f.fsl == "--target4" || f.fsl == "--colmask4") return has("--omatrix4");
    if (f.fsl == "--closestvertex") return has("--omatrix1") || has("--omatrix3") || has("--fopd") || has("--colmask4");
    if (f.fsl == "--forcefirststep") return has("--avoid") || has("--stop");
    return true;
  }

  std::vector<std::string> join() const {
    std::vector<std::string> ours = kept_;
    for (const flag& f : flags) {
      const auto given = found_.find(f.fsl);
      if (given == found_.end()) continue;
      const std::string value = given->second.empty() ? "" : "=" + given->second;
      if (!has_effect(f)) {
        ours.push_back(fmt::format("--no-difference={}{}", f.fsl, value));
      } else if (f.fsl == "--seed" && has("--network")) {
        ours.push_back("--network-masks" + value);
      } else if (f.fsl != "--network") {
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

/// The names of some options, in lines below 80 columns; not indented like the options that the help describes.
template <class Wanted>
std::string list_names(const char* heading, const Wanted& wanted) {
  std::string text = fmt::format("\n{}:\n   ", heading), line;
  for (const flag& f : flags) {
    if (!wanted(f)) continue;
    if (line.size() + f.fsl.size() > 72) {
      text += line + "\n   ";
      line.clear();
    }
    line += fmt::format(" {}", f.fsl);
  }
  return text + line + "\n";
}

}  // namespace

std::string list_probtrackx2_flags() {
  std::string text = "FSL's options for these:\n";
  for (const flag& f : flags) {
    if ((f.kind != meaning::value && f.kind != meaning::given) || (f.fsl == f.ours && f.short_name.empty())) continue;
    text += fmt::format("  {:<22} {}{}{}\n", f.ours, f.short_name, f.short_name.empty() ? "" : ", ", f.fsl);
  }
  text += list_names("Without effect", [](const flag& f) { return f.kind == meaning::no_difference_value; });
  return text + list_names("Not supported", [](const flag& f) { return f.kind == meaning::unsupported; });
}

std::vector<std::string> from_probtrackx2(const std::vector<std::string>& words) {
  return translator(words).translate();
}

}  // namespace voxherd
