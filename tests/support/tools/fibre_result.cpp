// Writes a result with fibres and a connectome of toy values, for tests of programs that read such results:
//   fibre_result fibres --count N --out FILE [--no-connectome]
#include "src/analyses/common/run_options.hpp"
#include "src/app/program.hpp"
#include "tests/support/ragged_toy.hpp"

namespace voxherd {

namespace {

/// As many fibres with at least one point as requested.
std::vector<std::uint64_t> fibre_numbers(std::uint64_t count) {
  std::vector<std::uint64_t> ids;
  for (std::uint64_t id = 0; ids.size() < count; ++id)
    if (toy::points_of(id) > 0) ids.push_back(id);
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

void options(po::options_description& description) {
  description.add_options()("count", po::value<long long>()->default_value(50), "fibres");
  description.add_options()("no-connectome", po::bool_switch(), "fibres alone");
  add_run_options(description);
}

exit_status run_command(session& s, const arguments& args) {
  toy_fibres a(static_cast<std::uint64_t>(args.get<long long>("count")), !args.get<bool>("no-connectome"));
  return run(s, a, read_run_settings(s, args), hooks_for(choose_device(s, args)));
}

constexpr command fibres_command{"fibres", "toy fibres", "--out FILE", "", options, run_command};

}  // namespace

}  // namespace voxherd

int main(int argc, char** argv) {
  const voxherd::command* const commands[] = {&voxherd::fibres_command};
  return voxherd::run_program(argc, argv, commands);
}
