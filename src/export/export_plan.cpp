#include "src/export/export_plan.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <thread>

#include "core/control_groups.hpp"
#include "core/failure.hpp"
#include "core/program_build.hpp"
#include "core/text.hpp"
#include "core/threads.hpp"
#include "mpi/result/named_output.hpp"
#include "mpi/result/result_identity.hpp"
#include "mpi/run/progress.hpp"
#include "mpi/run/study_question.hpp"
#include "src/io/output_file.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// Each holds samples while they are reordered, and pieces that are compressed by all threads.
constexpr int max_images_at_once = 4;

std::uint64_t volumes_of(const export_image& image) { return image.form.volumes * image.form.series; }

/// Threads that write one image after another until one of them fails.
class image_writers {
 public:
  image_writers(const result_volumes& result, const std::vector<const export_image*>& images, const std::string& folder,
                progress& shown)
      : result_(result), images_(images), folder_(folder), progress_(shown) {}

  void run(int threads) {
    auto others = start_helpers(static_cast<std::size_t>(threads - 1), [this] { work(); });
    work();
    for (auto& other : others) other.get();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct abandoned {};

  void work() {
    try {
      for (std::size_t i = next_++; i < images_.size(); i = next_++) write(*images_[i]);
    } catch (const abandoned&) {
    } catch (...) {
      const std::lock_guard turn(talking_);
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  void write(const export_image& image) {
    nifti_writer writer(folder_ + "/" + image.name, image.form);
    image.make(image_source(result_, image.needs), [&](std::span<const float> volume) {
      if (failed_) throw abandoned();
      writer.append(volume);
      const std::lock_guard turn(talking_);
      progress_.update(++volumes_done_);
    });
    writer.finish();
  }

  const result_volumes& result_;
  const std::vector<const export_image*>& images_;
  std::string folder_;
  progress& progress_;
  std::mutex talking_;
  std::uint64_t volumes_done_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

/// What the files of an export are made from: the result, this program, and the settings that change them.
std::string describe_origin(const result_reader& result, const export_settings& settings) {
  return fmt::format("{} {}{}", result_identity(result), program_name(), settings.half_positions ? " float16" : "");
}

/// For each image 1 if it has to be written; the same on all ranks.
std::vector<std::uint8_t> find_missing(const session& s, const export_plan& plan, const export_settings& settings,
                                       const std::string& made_from) {
  if (settings.record == nullptr) return std::vector<std::uint8_t>(plan.images.size(), 1);
  return s.from_root([&] {
    std::vector<std::uint8_t> missing;
    for (const export_image& image : plan.images)
      missing.push_back(settings.record->is_current(image.name, made_from) ? 0 : 1);
    return missing;
  });
}

/// This rank's share of the images, largest first, so that the last ones to finish are short.
std::vector<const export_image*> rank_share(const session& s, const export_plan& plan,
                                            const std::vector<std::uint8_t>& missing) {
  std::vector<const export_image*> all, own;
  for (std::size_t i = 0; i < plan.images.size(); ++i)
    if (missing[i] != 0) all.push_back(&plan.images[i]);
  std::stable_sort(all.begin(), all.end(), [](auto* a, auto* b) { return volumes_of(*a) > volumes_of(*b); });
  const auto rank = static_cast<std::size_t>(s.rank()), ranks = static_cast<std::size_t>(s.size());
  for (std::size_t i = rank; i < all.size(); i += ranks) own.push_back(all[i]);
  return own;
}

constexpr std::string_view planned_ending = ".nii.gz";

std::string without_ending(const std::string& name) {
  return name.ends_with(planned_ending) ? name.substr(0, name.size() - planned_ending.size()) : name;
}

void set_type(image_type type, export_plan& plan) {
  for (export_image& image : plan.images) {
    image.name = without_ending(image.name) + type.ending();
    image.form.is_nifti2 = type.is_nifti2;
  }
}

/// The file beside an image that has its name and the other ending. FSL's programs find an image without its ending,
/// and take the wrong one if there are two.
std::string other_type(const export_image& image, const export_settings& settings) {
  const std::string ending = settings.type->ending(), other = image_type{!settings.type->is_compressed}.ending();
  return settings.out + "/" + image.name.substr(0, image.name.size() - ending.size()) + other;
}

void remove_other_types(const export_plan& plan, const export_settings& settings) {
  if (!settings.type) return;
  for (const export_image& image : plan.images) fs::remove(other_type(image, settings));
}

/// `kept`: files that even --overwrite does not replace.
void refuse_existing(const export_plan& plan, const export_settings& settings, const std::vector<kept_file>& kept) {
  const auto check = [&](const std::string& name) {
    const std::string path = settings.out + "/" + name;
    check_not_kept({"the exported file", path}, kept);
    refuse_existing(path, settings);
    if (settings.may_replace == nullptr || settings.may_replace(path)) return;
    if (settings.record != nullptr && settings.record->lists(name)) return;
    refuse_usage("{} was made by another program and is not replaced; remove it, or choose another output folder",
                 path);
  };
  for (const export_text& t : plan.marks) check(t.name);
  for (const export_image& image : plan.images) {
    check(image.name);
    if (settings.type) check_not_kept({"an image that is replaced", other_type(image, settings)}, kept);
  }
  for (const export_file& file : plan.files) check(file.name);
  for (const export_text& t : plan.texts)
    if (!t.shared) check(t.name);
}

void make_folders(const export_plan& plan, const std::string& folder) {
  create_folder(folder);
  for (const std::string& name : plan.folders) create_folder(folder + "/" + name);
  for (const export_image& image : plan.images) create_folder((fs::path(folder) / image.name).parent_path().string());
  for (const export_file& file : plan.files) create_folder((fs::path(folder) / file.name).parent_path().string());
}

void write_text(const std::string& folder, const export_text& t) {
  const std::string path = folder + "/" + t.name;
  std::string text = t.text;
  if (fs::exists(path)) {
    const std::string existing = read_text_file(path);
    if (t.shared) text = t.update ? t.update(existing) : existing;
    if (text == existing) return;
  }
  create_folder(fs::path(path).parent_path().string());
  try {
    write_file(path, text);
  } catch (const failure&) {
    // Another job may have written the same shared text at this moment.
    if (!t.shared || !fs::exists(path) || read_text_file(path) != text) throw;
  }
}

void begin_folder(const result_reader& result, const export_plan& plan, const export_settings& settings) {
  std::vector<kept_file> kept = list_inputs(result.provenance());
  kept.push_back({settings.result, "the result"});
  refuse_existing(plan, settings, kept);
  make_folders(plan, settings.out);
  remove_other_types(plan, settings);
  for (const export_text& mark : plan.marks) fs::remove(settings.out + "/" + mark.name);
  for (const export_text& t : plan.texts) write_text(settings.out, t);
}

/// The files of other formats that have to be written. For one process.
std::vector<const export_file*> find_missing_files(const export_plan& plan, const export_settings& settings,
                                                   const std::string& made_from) {
  std::vector<const export_file*> missing;
  for (const export_file& file : plan.files)
    if (settings.record == nullptr || !settings.record->is_current(file.name, made_from)) missing.push_back(&file);
  return missing;
}

/// Writes what is missing. With a record, files are forgotten before and noted after they are written.
void carry_out(const session& s, const result_volumes& result, const export_plan& plan,
               const export_settings& settings) {
  std::string made_from;
  std::vector<const export_file*> files;
  s.on_root([&] {
    begin_folder(result.result(), plan, settings);
    if (settings.record != nullptr) made_from = describe_origin(result.result(), settings);
    files = find_missing_files(plan, settings, made_from);
  });
  const std::vector<std::uint8_t> missing = find_missing(s, plan, settings, made_from);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < missing.size(); ++i)
    if (missing[i] != 0) names.push_back(plan.images[i].name);
  for (const export_file* file : files) names.push_back(file->name);
  if (settings.record != nullptr) s.on_root([&] { settings.record->forget(names); });
  const auto own = rank_share(s, plan, missing);
  std::uint64_t volumes = 0;
  for (const export_image* image : own) volumes += volumes_of(*image);
  s.agree([&] {
    progress shown(choose_progress_style(settings.quiet, s.is_root()), volumes, 0, "export", "volume");
    image_writers(result, own, settings.out, shown).run(std::min(settings.threads, max_images_at_once));
  });
  s.on_root([&] {
    for (const export_file* file : files) file->write(settings.out + "/" + file->name);
    for (const export_text& mark : plan.marks) write_text(settings.out, mark);
    if (settings.record != nullptr) settings.record->note(names, made_from);
  });
}

/// The answer to a question: whether all files of a folder exist. Each appears under its name when it is complete.
void answer_by_files(const export_plan& plan, const export_settings& settings) {
  std::vector<std::string> names, missing;
  for (const export_image& image : plan.images) names.push_back(image.name);
  for (const export_file& file : plan.files) names.push_back(file.name);
  for (const auto* texts : {&plan.texts, &plan.marks})
    for (const export_text& text : *texts) names.push_back(text.name);
  for (const std::string& name : names)
    if (std::error_code none; !fs::exists(fs::path(settings.out) / name, none)) missing.push_back(name);
  if (missing.empty()) return;
  const std::string more = missing.size() > 1 ? fmt::format(" and {} more files", missing.size() - 1) : "";
  answer_unfinished(fmt::format("{}/{}{} {} not written yet", settings.out, missing.front(), more,
                                missing.size() > 1 ? "are" : "is"));
}

}  // namespace

const needed_output& image_source::find(const std::string& name, output_layout layout) const {
  for (const needed_output& o : needs_)
    if (o.name == name && o.layout == layout) return o;
  throw std::logic_error(fmt::format("an exported image reads `{}` but does not list it among its needs", name));
}

std::vector<float> image_source::map(const std::string& name) const {
  return result_.map(name, find(name, output_layout::volume).components);
}

void image_source::samples(const std::vector<std::string>& outputs, const volume_sink& sink) const {
  for (const std::string& name : outputs) (void)find(name, output_layout::items);
  result_.samples(outputs, sink);
}

nifti_image describe_image(const result_volumes& result, std::uint64_t volumes, const std::string& meaning) {
  nifti_image form;
  form.grid = result.grid();
  form.volumes = volumes;
  const nlohmann::json& provenance = result.result().provenance();
  if (const nlohmann::json::json_pointer image("/inputs/image"); provenance.contains(image))
    form.geometry = provenance.at(image);
  form.description = "voxherd: " + meaning;
  return form;
}

nifti_image describe_image(const result_volumes& result, std::uint64_t volumes, const std::string& meaning, float least,
                           float most) {
  nifti_image form = describe_image(result, volumes, meaning);
  form.display_min = least;
  form.display_max = most;
  return form;
}

std::vector<needed_output> needed_samples(const std::vector<std::string>& outputs) {
  std::vector<needed_output> needs;
  for (const std::string& name : outputs) needs.push_back({name, 0, output_layout::items});
  return needs;
}

export_image map_image(const result_volumes& result, const std::string& map, const std::string& name) {
  const output_spec& o = result.result().output(map);
  const std::size_t width = result.components(map);
  return {name,
          describe_image(result, width, fmt::format("[{}] {}", o.unit, o.meaning)),
          {{map, width}},
          [map, width](const image_source& r, const volume_sink& sink) {
            const auto values = r.map(map);
            const std::size_t voxels = values.size() / width;
            for (std::size_t c = 0; c < width; ++c) sink(std::span(values).subspan(c * voxels, voxels));
          }};
}

void refuse_existing(const std::string& path, const export_settings& settings) {
  if (settings.overwrite) return;
  // Also a link that leads to nothing: it would be replaced.
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored))) return;
  refuse_usage("{} exists; choose another path, or replace it with --overwrite", path);
}

void export_folder(const session& s, const export_settings& settings, const export_planner& planner) {
  std::unique_ptr<result_volumes> result;
  export_plan plan;
  s.agree([&] {
    set_compression_threads(settings.threads);
    result = std::make_unique<result_volumes>(settings.result, chunk_bytes_for(settings.threads));
    plan = planner(*result);
    if (settings.type) set_type(*settings.type, plan);
    for (const export_image& image : plan.images)
      for (const needed_output& o : image.needs) result->result().require_output(o.name, o.layout, o.components);
  });
  if (is_asked()) return answer_by_files(plan, settings);
  carry_out(s, *result, plan, settings);
  if (settings.record != nullptr) return;
  spdlog::info("{} written to {}",
               counted(plan.images.size() + plan.files.size() + plan.texts.size() + plan.marks.size(), "file"),
               settings.out);
}

int export_threads(const session& s, long long asked) {
  constexpr int max_threads = 256, max_by_default = 32;
  if (asked < 0 || asked > max_threads) refuse_usage("--threads {}: expected 0 to {}", asked, max_threads);
  if (asked > 0) return static_cast<int>(asked);
  return std::clamp(usable_cores() / s.node_size(), 1, max_by_default);
}

std::size_t chunk_bytes_for(int threads) {
  return (std::size_t{1} << 30) / static_cast<std::size_t>(std::min(threads, max_images_at_once));
}

namespace {

/// Every map of any result as NAME.nii.gz.
export_plan plan_nifti_folder(const result_volumes& result) {
  export_plan plan;
  for (const output_spec& o : result.result().outputs())
    if (o.layout == output_layout::volume) plan.images.push_back(map_image(result, o.name, o.name + ".nii.gz"));
  if (plan.images.empty())
    refuse_data("{}: is a result of {} without maps; use --to trx for paths", result.result().path(),
                result.result().analysis_name());
  return plan;
}

void export_nifti(session& s, const export_settings& settings) { export_folder(s, settings, plan_nifti_folder); }

}  // namespace

extern const export_kind nifti_export{"nifti", "DIR", "all maps", false, export_nifti};

}  // namespace voxherd
