#include <algorithm>
#include <cstring>

#include "kernels/ballstick/ballstick.hpp"

namespace voxherd::ballstick {

namespace {

/// Results of a batch with a fixed number of fibres, in host memory.
class candidate {
 public:
  candidate(const settings& s, std::unique_ptr<estimator> estimator)
      : layout(make_parameter_layout(s)),
        estimator_(std::move(estimator)),
        chosen_(chosen_outputs<posterior_outputs>({s, true})),
        widths_(output_widths<posterior_outputs>({s, true})) {
    chosen_[result_arrays::place<"log_likelihood_gain">()] = false;
  }

  /// `wanted`: the run's arrays; what is null there is not computed.
  void run(std::size_t count, const std::uint64_t* voxels, const float* rows, const result_arrays& wanted) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool is_needed =
          chosen_[i] && (wanted.array[i] != nullptr || i == result_arrays::place<"log_likelihood">());
      columns_[i].resize(is_needed ? count * widths_[i] / sizeof(float) + 1 : 0);
      results.array[i] = is_needed ? columns_[i].data() : nullptr;
    }
    estimator_->run(count, voxels, rows, results);
  }

  void release_memory() { estimator_->release_memory(); }
  float log_likelihood(std::size_t item) const { return results.values<"log_likelihood">()[item]; }
  std::size_t width(std::size_t i) const { return widths_[i]; }

  const parameter_layout layout;
  result_arrays results;

 private:
  std::unique_ptr<estimator> estimator_;
  output_choice<posterior_outputs> chosen_;
  std::array<std::size_t, result_arrays::count> widths_;
  std::array<std::vector<float>, result_arrays::count> columns_;
};

class gain_estimator final : public estimator {
 public:
  gain_estimator(const settings& s, const std::function<std::unique_ptr<estimator>(const settings&)>& make)
      : per_fibre_(*s.gain_per_fibre), widths_(output_widths<posterior_outputs>({s, true})) {
    for (int fibres = 1; fibres <= s.fibres; ++fibres) {
      const settings own = settings_with_fibres(s, fibres);
      candidates_.emplace_back(own, make(own));
    }
  }

  void run(std::size_t count, const std::uint64_t* voxels, const float* rows, const result_arrays& out) override {
    for (candidate& c : candidates_) c.run(count, voxels, rows, out);
    for (std::size_t item = 0; item < count; ++item) keep(candidates_[choose(item, out)], item, out);
  }

  void release_memory() override {
    for (candidate& c : candidates_) c.release_memory();
  }

 private:
  /// Index of the candidate whose results are kept; stores the gains.
  std::size_t choose(std::size_t item, const result_arrays& out) const {
    const std::size_t added = candidates_.size() - 1;
    float* const gains = out.values<"log_likelihood_gain">();
    std::size_t best = 0;
    float beyond = 0;  // gained since the best number, less what each fibre has to gain
    for (std::size_t k = 1; k <= added; ++k) {
      const float gain = candidates_[k].log_likelihood(item) - candidates_[k - 1].log_likelihood(item);
      if (gains != nullptr) gains[item * added + k - 1] = gain;
      beyond += gain - per_fibre_;
      if (beyond < 0) continue;
      best = k;
      beyond = 0;
    }
    return best;
  }

  void keep(const candidate& from, std::size_t item, const result_arrays& out) const {
    for (std::size_t i = 0; i < out.count; ++i) {
      if (out.array[i] == nullptr || i == result_arrays::place<"log_likelihood_gain">()) continue;
      auto* const to = static_cast<std::byte*>(out.array[i]) + item * widths_[i];
      if (from.results.array[i] == nullptr) {
        std::memset(to, 0, widths_[i]);
        continue;
      }
      const std::size_t width = from.width(i);
      std::memcpy(to, static_cast<const std::byte*>(from.results.array[i]) + item * width, width);
      std::memset(to + width, 0, widths_[i] - width);
    }
    if (from.layout.f0 >= 0) place_acceptance_of_f0(from.layout.f0, item, out);
  }

  /// f0 comes after the last fibre.
  void place_acceptance_of_f0(int from, std::size_t item, const result_arrays& out) const {
    float* const acceptance = out.values<"acceptance">();
    if (acceptance == nullptr) return;
    float* const own = acceptance + item * static_cast<std::size_t>(candidates_.back().layout.count);
    std::swap(own[from], own[candidates_.back().layout.f0]);
  }

  float per_fibre_;
  std::array<std::size_t, result_arrays::count> widths_;
  std::vector<candidate> candidates_;
};

}  // namespace

settings settings_with_fibres(const settings& s, int fibres) {
  settings own = s;
  own.fibres = fibres;
  own.relevance = relevance_prior::none;
  return own;
}

std::unique_ptr<estimator> make_gain_estimator(const settings& s,
                                               const std::function<std::unique_ptr<estimator>(const settings&)>& make) {
  return std::make_unique<gain_estimator>(s, make);
}

}  // namespace voxherd::ballstick
