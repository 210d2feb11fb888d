// Writes a result with fibres and a connectome of toy values, for tests of programs that read such results:
//   fibre_result fibres --count N --out FILE [--no-connectome]
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/app/program.hpp"
#include "tests/run/support/ragged_toy.hpp"

namespace voxherd {

namespace {

/// As many fibres with at least one point as requested.
std::vector<std::uint64_t> fibre_numbers(std::uint64_t count) {
  std::vector<std::uint64_t> ids;
  for (std::uint64_t id = 0; ids.size() < count; ++id)
    if (toy::count_points(id) > 0) ids.push_back(id);
  return ids;
}

class toy_fibres : public toy::ragged {
 public:
  toy_fibres(std::uint64_t count, bool connectome) : ragged(fibre_numbers(count)), connectome_(connectome) {
    grid_ = ragged::grid();
    // Oblique, anisotropic, left-handed.
    grid_.voxel_to_world = {-1.2, 0.5, 0.9, 40, 0.3, 1.9, -1.5, -22, -0.4, 0.6, 3.2, 11, 0, 0, 0, 1};
  }
  const image_grid& grid() const override { return grid_; }
  std::vector<constant> constants() const override {
    if (!connectome_) return {};
    return {{"labels", {3}, {1001, 1002, 2035}, "label", "regions", "connectome"},
            {"count", {3, 3}, {0, 7, 12, 7, 0, 3, 12, 3, 1}, "1", "fibres", "connectome"},
            {"best_measure", {3, 3}, {0, 0.1, 1.0 / 3, 0.1, 0, 1e-9, 1.0 / 3, 1e-9, 0.5}, "1", "best", "connectome"}};
  }

 private:
  bool connectome_;
  image_grid grid_;
};

struct fibres_request {
  std::uint64_t count = 50;
  bool no_connectome = false;
  run_request run;
};

const option_table<fibres_request>& fibres_options() {
  using T = fibres_request;
  static const option_table<T> table = option_table<T>()
                                           .group("Toy", {{"count", &T::count, range{0, 1e9}, {"fibres"}},
                                                          {"no-connectome", &T::no_connectome, {"only fibres"}}})
                                           .include(&T::run, run_options());
  return table;
}

exit_status run_fibres(session& s, const fibres_request& request) {
  toy_fibres a(request.count, !request.no_connectome);
  return run(s, a, make_run_settings(s, request.run), hooks_for(choose_device(s, request.run)));
}

constexpr command fibres_command = make_command<fibres_options, run_fibres>({"fibres", "toy fibres"});

}  // namespace

}  // namespace voxherd

int main(int argc, char** argv) {
  const voxherd::command* const commands[] = {&voxherd::fibres_command};
  return voxherd::run_program(argc, argv, commands);
}
