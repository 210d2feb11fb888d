#include "src/analyses/track/inputs.hpp"

#include <algorithm>
#include <utility>

#include "core/step_outputs.hpp"

namespace voxherd {

namespace {

/// The draw of a list with a number, of those whose first one is in `first`. Draws without any are never meant.
const track_draw& find_draw(const std::vector<track_draw>& draws, std::uint64_t number,
                            std::uint64_t track_draw::*first) {
  const auto after = std::upper_bound(draws.begin(), draws.end(), number,
                                      [&](std::uint64_t n, const track_draw& draw) { return n < draw.*first; });
  return *(after - 1);
}

}  // namespace

track_inputs::track_inputs(const track_request& request, posterior_samples samples_read, track_space space_read,
                           track_contents contents)
    : track_places(std::move(contents.places)),
      track_masks(std::move(contents.masks)),
      track_draws(std::move(contents.drawn)),
      samples(std::move(samples_read)),
      space(std::move(space_read)),
      step_mm(static_cast<double>(request.step_mm)),
      rules(request.masks),
      tallies(request.tallies),
      max_kept(request.paths.empty() ? 0 : request.max_paths),
      provenance(samples.provenance),
      configuration(std::move(contents.configuration)) {
  provenance.update(space.provenance);
  provenance.update(contents.provenance);
}

const track_draw& track_inputs::draw_with_seed(std::uint64_t seed) const {
  return find_draw(draws, seed, &track_draw::first_seed);
}

const track_draw& track_inputs::draw_with_group(std::uint64_t group) const {
  return find_draw(draws, group, &track_draw::first_group);
}

const track_draw& track_inputs::draw_with_streamline(std::uint64_t streamline) const {
  return find_draw(draws, streamline, &track_draw::first_streamline);
}

const track::seed& track_inputs::seed(std::uint64_t number) const {
  const track_draw& draw = draw_with_seed(number);
  return draw.seeds[number - draw.first_seed];
}

track::count_extents track_inputs::extents() const {
  return track::make_extents(draws.front().plan, place_voxels.size(), columns());
}

std::uint64_t track_inputs::seed_voxel(std::uint64_t number) const {
  return is_vertex(number) ? no_voxel : space.grid.turned(seed(number).index);
}

track::track_input track_inputs::view(const track_draw& draw) const {
  track::track_input view;
  for (std::size_t d = 0; d < 3; ++d) view.size[d] = static_cast<std::int32_t>(samples.grid.size[d]);
  view.voxels = space.is_separate ? sample_voxels : voxels;
  if (space.is_separate) {
    for (std::size_t d = 0; d < 3; ++d) view.space.size[d] = static_cast<std::int32_t>(space.grid.size[d]);
    view.space.to_seeds = space.to_seeds.view();
    view.space.to_samples = space.to_samples.view();
    view.space.voxels = voxels.data();
  }
  view.fibres = samples.packed();
  view.places = static_cast<std::uint32_t>(place_voxels.size());
  view.columns = static_cast<std::uint32_t>(columns());
  view.exits = exits;
  view.target_begin = target_begin;
  view.targets = targets;
  view.surfaces = surfaces.input();
  view.seeds = draw.seeds;
  view.how = draw.how;
  view.plan = draw.plan;
  return view;
}

track::track_input draw_masks::view(const track_draw& draw) {
  if (current_ != &draw) {
    if (voxels_.empty() && !draw.marked.empty()) voxels_ = in_.voxels;
    if (current_ != nullptr && !voxels_.empty())
      for (const std::uint32_t v : current_->marked) voxels_[v].marks = in_.voxels[v].marks;
    for (std::size_t i = 0; i < draw.marked.size(); ++i) voxels_[draw.marked[i]].marks |= draw.marks[i];
    current_ = &draw;
  }
  track::track_input view = in_.view(draw);
  if (voxels_.empty()) return view;
  if (in_.space.is_separate) {
    view.space.voxels = voxels_.data();
  } else {
    view.voxels = voxels_;
  }
  return view;
}

}  // namespace voxherd
