#include "src/phantom/geometry_phantom.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/json_text.hpp"
#include "kernels/phantom/dispersed_signal.hpp"
#include "src/io/output_file.hpp"
#include "src/phantom/phantom_files.hpp"

namespace voxherd {

namespace {

using json = nlohmann::ordered_json;

/// Signals at b=0 relative to white matter: proton densities, T1 and T2 of phantomas (Wansapura et al., JMRI 9:531,
/// 1999) with its echo time of 90 ms and repetition time of 5 s.
constexpr double grey_S0 = 1.544 * white_matter_S0, fluid_S0 = 2.535 * white_matter_S0;

/// Voxels to score have at least this share of white matter and at most that of fluid.
constexpr double min_scored_white = 0.5, max_scored_fluid = 0.1;

/// A voxel counts as white matter, for masks, from this share on.
constexpr double min_mask_white = 0.1;

struct filled_voxel {
  bundle_voxel content;
  std::vector<true_fibre> fibres;
  int end = 0;

  double inside() const { return content.white + content.grey + content.fluid; }
  bool in_mask() const { return inside() >= 0.5; }
  double S0() const { return white_matter_S0 * content.white + grey_S0 * content.grey + fluid_S0 * content.fluid; }
};

class bundle_image {
 public:
  bundle_image(const geometry_phantom_settings& p, bundle_field field)
      : field_(std::move(field)), ends_(make_bundle_ends(field_.geometry())), size_(p.size), grid_(grid_of(p)) {
    voxels_.resize(size_[0] * size_[1] * size_[2]);
    in_parallel(p.threads, size_[1] * size_[2], [&](std::uint64_t line) {
      for (std::uint64_t v = line * size_[0]; v < (line + 1) * size_[0]; ++v) voxels_[v] = fill(v, p.voxel_size_mm);
    });
  }

  static image_grid grid_of(const geometry_phantom_settings& p) {
    return phantom_grid(p.size, {p.voxel_size_mm, p.voxel_size_mm, p.voxel_size_mm});
  }

  const filled_voxel& at(std::uint64_t v) const { return voxels_[v]; }
  const bundle_geometry& geometry() const { return field_.geometry(); }
  const bundle_ends& ends() const { return ends_; }
  const image_grid& grid() const { return grid_; }

 private:
  direction3 centre_mm(std::uint64_t v) const {
    const double index[3] = {static_cast<double>(v % size_[0]), static_cast<double>(v / size_[0] % size_[1]),
                             static_cast<double>(v / (size_[0] * size_[1]))};
    direction3 place;
    for (std::size_t c = 0; c < 3; ++c)
      place[c] = grid_.voxel_to_world[5 * c] * index[c] + grid_.voxel_to_world[4 * c + 3];
    return place;
  }

  filled_voxel fill(std::uint64_t v, double side_mm) const {
    const direction3 centre = centre_mm(v);
    filled_voxel voxel{field_.at(centre, side_mm), {}, 0};
    voxel.fibres = distinct_fibres(voxel.content);
    voxel.end = end_label(ends_, field_.geometry(), voxel.content, centre);
    return voxel;
  }

  bundle_field field_;
  bundle_ends ends_;
  phantom_size size_;
  image_grid grid_;
  std::vector<filled_voxel> voxels_;
};

/// Signals of all tissues in all volumes.
class image_signals {
 public:
  image_signals(const geometry_phantom_settings& p) : p_(p) {
    for (const double b : p.gradients.b_s_per_mm2)
      if (!white_.contains(b)) white_.emplace(b, dispersed_signal(p.white, b));
    for (const double b : p.gradients.b_s_per_mm2) of_volume_.push_back(&white_.at(b));
  }

  double at(const filled_voxel& voxel, std::size_t k) const {
    const gradient_table& g = p_.gradients;
    const double b = g.b_s_per_mm2[k];
    const bundle_voxel& content = voxel.content;
    double bundles = 0, share = 0;
    for (const bundle_voxel::part& part : content.parts) {
      // The frame of the gradients is FSL's: voxel axes, of which the first is the world's, negated.
      const auto& u = part.direction;
      bundles += part.share * (*of_volume_[k])(-g.x[k] * u[0] + g.y[k] * u[1] + g.z[k] * u[2]);
      share += part.share;
    }
    if (share > 0) bundles /= share;
    return white_matter_S0 * content.white * bundles + grey_S0 * content.grey * std::exp(-b * p_.grey_mm2_per_s) +
           fluid_S0 * content.fluid * std::exp(-b * p_.fluid_mm2_per_s);
  }

 private:
  const geometry_phantom_settings& p_;
  std::map<double, dispersed_signal> white_;
  std::vector<const dispersed_signal*> of_volume_;
};

void write_image(const session& s, const geometry_phantom_settings& p, const bundle_image& image,
                 const std::string& folder) {
  noise_settings noise = p.noise;
  noise.deviation = white_matter_S0 / p.snr;
  const image_signals signals(p);
  const nifti_image form{image.grid(), p.gradients.size(), nullptr, 0, 0, "voxherd phantom dwi of bundles"};
  write_series(s, form, folder + "/data", p.compressed, p.threads,
               [&](std::uint64_t y, std::uint64_t z, float* samples, std::uint64_t stride) {
                 const std::uint64_t first = (z * p.size[1] + y) * p.size[0];
                 std::vector<double> line(p.size[0]);
                 for (std::size_t k = 0; k < p.gradients.size(); ++k) {
                   for (std::uint64_t x = 0; x < p.size[0]; ++x) line[x] = signals.at(image.at(first + x), k);
                   float* out = samples + k * stride;
                   make_noisy_samples(line, first, k, noise, out);
                   for (std::uint64_t x = 0; x < p.size[0]; ++x)
                     if (!image.at(first + x).in_mask()) out[x] = 0;
                 }
               });
}

struct bundle_map {
  std::string name;
  std::uint64_t volumes;
  float display_max;
  std::function<double(const filled_voxel&, std::uint64_t volume)> value;
};

std::vector<bundle_map> bundle_maps(int labels) {
  std::vector<bundle_map> maps{
      {"nodif_brain_mask", 1, 1, [](const filled_voxel& v, std::uint64_t) -> double { return v.in_mask(); }},
      {"white_matter", 1, 1,
       [](const filled_voxel& v, std::uint64_t) -> double { return v.in_mask() && v.content.white >= min_mask_white; }},
      {"truth/fibres", 1, max_true_fibres,
       [](const filled_voxel& v, std::uint64_t) { return static_cast<double>(v.fibres.size()); }},
      {"truth/S0", 1, 2500, [](const filled_voxel& v, std::uint64_t) { return v.in_mask() ? v.S0() : 0; }},
      {"truth/white", 1, 1, [](const filled_voxel& v, std::uint64_t) { return v.content.white; }},
      {"truth/fluid", 1, 1, [](const filled_voxel& v, std::uint64_t) { return v.content.fluid; }},
      {"truth/ends", 1, static_cast<float>(labels),
       [](const filled_voxel& v, std::uint64_t) -> double { return v.end; }},
      {"truth/scored", 1, 1,
       [](const filled_voxel& v, std::uint64_t) -> double {
         return !v.fibres.empty() && v.content.white >= min_scored_white && v.content.fluid <= max_scored_fluid;
       }},
  };
  for (std::size_t j = 0; j < max_true_fibres; ++j) {
    maps.push_back({fmt::format("truth/f{}", j + 1), 1, 1,
                    [j](const filled_voxel& v, std::uint64_t) { return j < v.fibres.size() ? v.fibres[j].share : 0; }});
    maps.push_back({fmt::format("truth/dyads{}", j + 1), 3, 1, [j](const filled_voxel& v, std::uint64_t volume) {
                      if (j >= v.fibres.size()) return 0.;
                      return (volume == 0 ? -1 : 1) * v.fibres[j].direction[volume];
                    }});
  }
  return maps;
}

void write_descriptions(const geometry_phantom_settings& p, const bundle_image& image, const std::string& folder) {
  write_gradients(p.gradients, folder);
  json bundles;
  const bundle_geometry& geometry = image.geometry();
  bundles["radius_mm"] = geometry.radius_mm;
  bundles["labels"] = image.ends().labels;
  for (std::size_t b = 0; b < geometry.bundles.size(); ++b) {
    const bundle_tube& tube = geometry.bundles[b];
    json entry;
    entry["name"] = tube.name;
    entry["radius_mm"] = tube.radius_mm;
    entry["ends"] = image.ends().label[b];
    entry["centre_line_mm"] = tube.point_mm;
    bundles["bundles"].push_back(entry);
  }
  write_file(folder + "/truth/bundles.json", dump_json(bundles) + "\n");
  json j;
  j["geometry"] = p.geometry;
  j["size"] = p.size;
  j["voxel_size_mm"] = p.voxel_size_mm;
  j["volumes"] = p.gradients.size();
  j["axial_d_mm2_per_s"] = p.white.axial_mm2_per_s;
  j["radial_d_mm2_per_s"] = p.white.radial_mm2_per_s;
  j["stick_share"] = p.white.stick_share;
  j["concentration"] = p.white.concentration;
  j["grey_d_mm2_per_s"] = p.grey_mm2_per_s;
  j["fluid_d_mm2_per_s"] = p.fluid_mm2_per_s;
  j["noise"] = p.noise.kind == noise_kind::none ? "none" : p.noise.kind == noise_kind::gaussian ? "gaussian" : "rician";
  if (p.noise.kind != noise_kind::none) j["snr"] = p.snr;
  j["seed"] = p.noise.seed;
  write_file(folder + "/phantom.json", dump_json(j, 2) + "\n");
}

}  // namespace

void write_geometry_phantom(const session& s, const geometry_phantom_settings& settings, const std::string& folder) {
  geometry_phantom_settings p = settings;
  bundle_field field(read_bundle_geometry(p.geometry));
  const double across = std::round(2 * field.geometry().radius_mm / p.voxel_size_mm);
  if (p.size[0] == 0 && !(across <= 4096))
    refuse_data(
        "{}: the sphere has a radius of {:g} mm, {:g} voxels across, expected at most 4096; give a larger --voxel-size",
        p.geometry, field.geometry().radius_mm, across);
  if (p.size[0] == 0) p.size.fill(static_cast<std::uint64_t>(std::max(1.0, across)));
  if (s.is_root())
    spdlog::info("phantom dwi of {} bundles: {} x {} x {} voxels, {} volumes", field.geometry().bundles.size(),
                 p.size[0], p.size[1], p.size[2], p.gradients.size());
  const phantom_folder place(s, folder);
  const bundle_image image(p, std::move(field));
  write_image(s, p, image, folder);
  s.agree([&] {
    const auto maps = bundle_maps(image.ends().labels);
    const auto ranks = static_cast<std::uint64_t>(s.size()), rank = static_cast<std::uint64_t>(s.rank());
    in_parallel(p.threads, maps.size(), [&](std::uint64_t i) {
      if (i % ranks != rank) return;
      write_map(folder + "/" + maps[i].name + ".nii.gz",
                {image.grid(), maps[i].volumes, nullptr, 0, maps[i].display_max, "voxherd phantom dwi of bundles"},
                [&](std::uint64_t voxel, std::uint64_t volume) { return maps[i].value(image.at(voxel), volume); });
    });
    if (s.is_root()) write_descriptions(p, image, folder);
  });
}

}  // namespace voxherd
