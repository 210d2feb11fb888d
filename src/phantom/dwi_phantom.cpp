#include "src/phantom/dwi_phantom.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "mpi/failure.hpp"
#include "src/output/nifti_writer.hpp"
#include "src/output/shared_file.hpp"

namespace voxherd {

namespace {

/// Left to right against the axis (negative determinant): FSL's bvec frame is then the voxel axes themselves.
image_grid grid_of(const dwi_phantom_settings& p) {
  image_grid grid;
  grid.size = p.size;
  grid.voxel_size_mm = {p.voxel_size_mm, p.voxel_size_mm, p.voxel_size_mm};
  for (std::size_t c = 0; c < 3; ++c) {
    const double step = c == 0 ? -p.voxel_size_mm : p.voxel_size_mm;
    grid.voxel_to_world[5 * c] = step;
    grid.voxel_to_world[4 * c + 3] = -step * (static_cast<double>(p.size[c]) - 1) / 2;
  }
  grid.voxel_to_world[15] = 1;
  return grid;
}

/// Runs work(i) for 0 <= i < count on threads; the last exception is thrown again.
void in_parallel(int threads, std::uint64_t count, const std::function<void(std::uint64_t)>& work) {
  std::exception_ptr error;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) try {
      work(static_cast<std::uint64_t>(i));
    } catch (...) {
#pragma omp critical
      error = std::current_exception();
    }
  if (error) std::rethrow_exception(error);
}

/// All volumes of one slice.
class slice_maker {
 public:
  slice_maker(const dwi_phantom_settings& p, const anatomy& brain, const gradient_table& g)
      : settings_(p), brain_(brain), gradients_(g), samples_(g.size() * p.size[0] * p.size[1]) {}

  void make(std::uint64_t z) {
    in_parallel(settings_.threads, settings_.size[1], [&](std::uint64_t y) { make_line(y, z); });
  }
  std::uint64_t voxels() const { return settings_.size[0] * settings_.size[1]; }
  const float* volume(std::uint64_t k) const { return samples_.data() + k * voxels(); }

 private:
  void make_line(std::uint64_t y, std::uint64_t z) {
    const std::uint64_t nx = settings_.size[0], first = (z * settings_.size[1] + y) * nx;
    std::vector<tissue> line(nx);
    for (std::uint64_t x = 0; x < nx; ++x) line[x] = brain_.at(first + x);
    noise_settings noise = settings_.noise;
    noise.deviation = white_matter_S0 / settings_.snr;
    for (std::uint64_t k = 0; k < gradients_.size(); ++k)
      make_dwi_samples(line, first, gradients_, k, noise, samples_.data() + k * voxels() + y * nx);
  }

  const dwi_phantom_settings& settings_;
  const anatomy& brain_;
  const gradient_table& gradients_;
  std::vector<float> samples_;
};

void write_data(const session& s, const dwi_phantom_settings& p, const anatomy& brain, const gradient_table& g,
                const std::string& folder) {
  const auto header = nifti_header_bytes({grid_of(p), g.size(), nullptr, 0, 0, "voxherd phantom dwi " + p.name});
  const std::uint64_t slice_bytes = p.size[0] * p.size[1] * sizeof(float);
  const std::uint64_t bytes = header.size() + g.size() * p.size[2] * slice_bytes;
  shared_file data(s, folder + "/data.nii", bytes);
  s.agree([&] {
    if (s.is_root()) data.write(0, header.data(), header.size());
    slice_maker slices(p, brain, g);
    for (auto z = static_cast<std::uint64_t>(s.rank()); z < p.size[2]; z += static_cast<std::uint64_t>(s.size())) {
      slices.make(z);
      in_parallel(p.threads, g.size(), [&](std::uint64_t k) {
        data.write(header.size() + (k * p.size[2] + z) * slice_bytes, slices.volume(k), slice_bytes);
      });
    }
  });
  if (p.compressed) {
    write_gzip(s, data, bytes, folder + "/data.nii.gz", p.threads);
  } else {
    data.finish();
  }
}

struct truth_map {
  std::string name;
  std::uint64_t volumes;
  float display_max;
  std::function<double(const anatomy&, std::uint64_t voxel, std::uint64_t volume)> value;
};

template <class Value>
auto of_tissue(Value value) {
  return [value](const anatomy& brain, std::uint64_t voxel, std::uint64_t volume) -> double {
    return value(brain.at(voxel), volume);
  };
}

std::vector<truth_map> truth_maps(std::size_t fibres) {
  std::vector<truth_map> maps{
      {"nodif_brain_mask", 1, 1, of_tissue([](const tissue& t, std::uint64_t) { return t.inside ? 1. : 0.; })},
      {"truth/fibres", 1, 3, of_tissue([](const tissue& t, std::uint64_t) { return static_cast<double>(t.fibres); })},
      {"truth/d", 1, 3e-3f, of_tissue([](const tissue& t, std::uint64_t) { return t.d_mm2_per_s; })},
      {"truth/S0", 1, 2000, of_tissue([](const tissue& t, std::uint64_t) { return t.S0; })},
      {"truth/ends", 1, 14,
       [](const anatomy& brain, std::uint64_t voxel, std::uint64_t) -> double { return brain.end_at(voxel); }},
  };
  for (std::size_t j = 0; j < fibres; ++j) {
    maps.push_back({fmt::format("truth/f{}", j + 1), 1, 1,
                    of_tissue([j](const tissue& t, std::uint64_t) { return t.fraction[j]; })});
    maps.push_back({fmt::format("truth/dyads{}", j + 1), 3, 1,
                    of_tissue([j](const tissue& t, std::uint64_t volume) { return t.direction[j][volume]; })});
  }
  return maps;
}

void write_map(const dwi_phantom_settings& p, const anatomy& brain, const truth_map& map, const std::string& folder) {
  nifti_writer writer(folder + "/" + map.name + ".nii.gz",
                      {grid_of(p), map.volumes, nullptr, 0, map.display_max, "voxherd phantom dwi " + p.name});
  std::vector<float> slice(p.size[0] * p.size[1]);
  for (std::uint64_t volume = 0; volume < map.volumes; ++volume)
    for (std::uint64_t z = 0; z < p.size[2]; ++z) {
      for (std::uint64_t i = 0; i < slice.size(); ++i)
        slice[i] = static_cast<float>(map.value(brain, z * slice.size() + i, volume));
      writer.append(slice);
    }
  writer.finish();
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw failure(exit_status::disk, fmt::format("{}: cannot be written", path));
}

std::string line_of(const std::vector<double>& values, const char* format) {
  std::string line;
  for (const double v : values) line += fmt::format(fmt::runtime(format), v) + " ";
  line.back() = '\n';
  return line;
}

void write_texts(const dwi_phantom_settings& p, const gradient_table& g, const std::string& folder) {
  write_text(folder + "/bvals", line_of(g.b_s_per_mm2, "{:g}"));
  write_text(folder + "/bvecs", line_of(g.x, "{:.9f}") + line_of(g.y, "{:.9f}") + line_of(g.z, "{:.9f}"));
  nlohmann::ordered_json j;
  j["preset"] = p.name;
  j["size"] = p.size;
  j["voxel_size_mm"] = p.voxel_size_mm;
  j["volumes"] = g.size();
  j["b0_volumes"] = p.b0_volumes;
  for (const gradient_shell& shell : p.shells)
    j["shells"].push_back({{"b_s_per_mm2", shell.b_s_per_mm2}, {"directions", shell.directions}});
  j["most_fibres"] = p.fibres;
  j["noise"] = p.noise.kind == noise_kind::none ? "none" : p.noise.kind == noise_kind::gaussian ? "gaussian" : "rician";
  if (p.noise.kind != noise_kind::none) j["snr"] = p.snr;
  j["seed"] = p.noise.seed;
  write_text(folder + "/phantom.json", j.dump(2) + "\n");
}

}  // namespace

std::uint64_t dwi_phantom_settings::volumes() const {
  std::uint64_t count = b0_volumes;
  for (const gradient_shell& shell : shells) count += shell.directions;
  return count;
}

const std::vector<dwi_phantom_settings>& dwi_phantom_presets() {
  static const std::vector<dwi_phantom_settings> presets = [] {
    dwi_phantom_settings toy, clinical, paper_hires, hcp;
    toy.name = "toy", toy.size = {20, 20, 12}, toy.voxel_size_mm = 2.5;
    toy.b0_volumes = 6, toy.shells = {{1000, 30}, {2000, 30}};
    clinical.name = "clinical", clinical.size = {96, 96, 30}, clinical.voxel_size_mm = 2.5;
    clinical.b0_volumes = 4, clinical.shells = {{2500, 64}};
    paper_hires.name = "paper-hires", paper_hires.size = {140, 168, 102}, paper_hires.voxel_size_mm = 1.3;
    paper_hires.b0_volumes = 16, paper_hires.shells = {{1500, 256}};
    hcp.name = "hcp", hcp.size = {145, 174, 145}, hcp.voxel_size_mm = 1.25;
    hcp.b0_volumes = 18, hcp.shells = {{1000, 90}, {2000, 90}, {3000, 90}};
    hcp.brain_size = 0.7775;  // 900,000 voxels in the mask, as in a subject of the Human Connectome Project
    return std::vector{toy, clinical, paper_hires, hcp};
  }();
  return presets;
}

void write_dwi_phantom(const session& s, const dwi_phantom_settings& p, const std::string& folder) {
  s.on_root([&] {
    std::error_code code;
    std::filesystem::create_directories(folder + "/truth", code);
    if (code) throw failure(exit_status::disk, fmt::format("{}: cannot be created: {}", folder, code.message()));
  });
  const gradient_table g = make_gradients(p.b0_volumes, p.shells);
  const anatomy brain(p.size, p.brain_size, p.fibres);
  write_data(s, p, brain, g, folder);
  s.agree([&] {
    const auto maps = truth_maps(p.fibres);
    const auto ranks = static_cast<std::uint64_t>(s.size()), rank = static_cast<std::uint64_t>(s.rank());
    in_parallel(p.threads, maps.size(), [&](std::uint64_t i) {
      if (i % ranks == rank) write_map(p, brain, maps[i], folder);
    });
    if (s.is_root()) write_texts(p, g, folder);
  });
}

}  // namespace voxherd
