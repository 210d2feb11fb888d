#include "src/tools/phantom/phantom_options.hpp"

#include <omp.h>
#include "mpi/comm/session.hpp"

#include <algorithm>
#include <filesystem>

namespace voxherd::phantom_option {

void add(po::options_description& description) {
  const auto text = [] { return po::value<std::string>(); };
  description.add_options()  //
      ("preset", text(),
       "dwi: toy | clinical | paper-hires | hcp; liver: toy | clinical | paper; toy where none is given")  //
      ("out", text(), "folder to write, with truth/ in it")                                                //
      ("size", text(), "voxels, as 96x96x30")                                                              //
      ("voxel-size", po::value<double>(), "mm")                                                            //
      ("noise", option::text("rician"), "rician | gaussian | none")                                        //
      ("seed", option::whole(1), "of the noise")                                                           //
      ("gz", po::bool_switch(), "write series as .nii.gz instead of .nii")                                 //
      ("overwrite", po::bool_switch(), "replace a phantom that is there")                                  //
      ("threads", option::whole(0), "CPU threads a rank; 0: this rank's share of the cores");
}

void refuse(const char* option, const std::string& found, const std::string& expected) {
  throw failure(exit_status::usage, fmt::format("--{} {}: expected {}", option, found, expected));
}

void read_size(const arguments& args, std::array<std::uint64_t, 3>& size) {
  if (!args.has("size")) return;
  constexpr auto expected = "three numbers of voxels from 1 to 4096, as 96x96x30";
  const auto text = args.get<std::string>("size");
  const auto n = numbers<std::uint64_t>("size", text, 'x', expected);
  if (n.size() != 3 || *std::min_element(n.begin(), n.end()) < 1 || *std::max_element(n.begin(), n.end()) > 4096)
    refuse("size", text, expected);
  std::copy(n.begin(), n.end(), size.begin());
}

void read_voxel_size(const arguments& args, double& edge_mm) {
  if (!args.has("voxel-size")) return;
  edge_mm = args.get<double>("voxel-size");
  if (!(edge_mm > 0 && edge_mm < 1000)) refuse("voxel-size", fmt::format("{}", edge_mm), "more than 0 mm");
}

void read_noise(const arguments& args, noise_settings& noise) {
  noise.kind = option::word<noise_kind>(
      args, "noise", {{"rician", noise_kind::rician}, {"gaussian", noise_kind::gaussian}, {"none", noise_kind::none}});
  noise.seed = static_cast<std::uint64_t>(option::integer(args, "seed", 0, INT64_MAX));
}

int threads(const session& s, const arguments& args) {
  const long long asked = option::integer(args, "threads", 0, 4096);
  return asked > 0 ? static_cast<int>(asked) : std::max(1, omp_get_num_procs() / s.node_size());
}

void clear_folder(const arguments& args, std::initializer_list<const char*> series) {
  const auto folder = args.get<std::string>("out");
  std::vector<std::string> there;
  for (const std::string name : series)
    for (const char* ending : {".nii", ".nii.gz"})
      if (std::filesystem::exists(folder + "/" + name + ending)) there.push_back(name + ending);
  if (!there.empty() && !args.get<bool>("overwrite"))
    throw failure(
        exit_status::usage,
        fmt::format("--out {}: already contains {}; choose another folder or add --overwrite", folder, there.front()));
  for (const std::string& name : there) std::filesystem::remove(folder + "/" + name);
}

void refuse_others(const arguments& args, std::initializer_list<const char*> names, const char* kind) {
  for (const char* name : names) option::refuse_given(args, name, kind);
}

}  // namespace voxherd::phantom_option
