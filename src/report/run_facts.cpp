#include "core/json_text.hpp"
#include "src/report/report_pages.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/command.hpp"
#include "core/text.hpp"
#include "kernels/portable/voxel_status.hpp"
#include "src/analyses/common/step_times.hpp"
#include "src/show/chart.hpp"
#include "src/show/status_counts.hpp"

namespace voxherd::report {

namespace {

using json = nlohmann::json;

/// Texts of a JSON value as they are, everything else as JSON.
std::string as_text(const json& value) { return value.is_string() ? value.get<std::string>() : dump_json(value); }

std::string value_text(const json& object, const char* name) {
  return object.is_object() && object.contains(name) ? as_text(object.at(name)) : "";
}

std::string analysis_summary(const std::string& name) {
  for (const command* c : all_commands())
    if (c->name == name) return c->summary;
  return "";
}

std::uint64_t finished_batches(const result_reader& r) {
  return static_cast<std::uint64_t>(
      std::count_if(r.journal().begin(), r.journal().end(), [](const journal_entry& e) { return e.done == 1; }));
}

std::string outcome(const result_reader& r) {
  if (r.complete()) return "complete";
  return fmt::format("incomplete: {} of {} batches", finished_batches(r), r.batches().size());
}

/// "2 × cpu, threads 1": equal devices are counted.
std::string device_text(const json& devices) {
  std::map<std::string, int> counts;
  if (!devices.is_array()) return "";
  for (const json& d : devices) {
    std::string text = value_text(d, "kind");
    if (d.is_object())
      for (const auto& [key, value] : d.items())
        if (key != "kind") text += fmt::format(", {} {}", key, as_text(value));
    ++counts[text];
  }
  std::string all;
  for (const auto& [text, count] : counts) all += fmt::format("{}{} × {}", all.empty() ? "" : "; ", count, text);
  return all;
}

std::string list_text(const json& object, const char* name) {
  std::string all;
  if (object.is_object() && object.contains(name) && object.at(name).is_array())
    for (const json& one : object.at(name)) all += (all.empty() ? "" : ", ") + as_text(one);
  return all;
}

std::string time_text(const result_reader& r) {
  const json& summary = r.summary();
  if (!summary.is_object() || !summary.contains("seconds")) return "";
  std::string steps;
  for (const auto& [name, seconds] : step_times(summary))
    steps += fmt::format("{}{} {:.2f} s", steps.empty() ? "" : ", ", name, seconds);
  if (!steps.empty()) return steps;
  return fmt::format("{:.4g} s, {:.0f} {}s/s", summary.value("seconds", 0.0), summary.value("items_per_second", 0.0),
                     item_name(r));
}

void add_status(result_draft& d) {
  if (!has_status_map(d.result)) return;
  nlohmann::json list = json::object();
  for (const auto& [code, count] : count_status(d.result, d.voxels)) {
    list[std::to_string(code)] = count;
    if (code != 0) d.warn(describe_status(code, count, d.voxels.size()) + ".");
  }
  d.out.numbers["status"] = list;
}

/// What the run warned of, as it logged it.
void add_run_warnings(draft& d, const json& summary) {
  if (!summary.is_object() || !summary.contains("warnings") || !summary.at("warnings").is_array()) return;
  for (const json& text : summary.at("warnings"))
    if (text.is_string()) d.warn("The run warned: " + text.get<std::string>() + ".");
}

}  // namespace

void add_common_warnings(result_draft& d) {
  if (!d.result.complete())
    d.warn(
        fmt::format("The result is {}. Everything below is about the finished batches; the same command with --resume "
                    "continues the run.",
                    outcome(d.result)));
  add_status(d);
  add_run_warnings(d, d.result.summary());
}

void describe_run(result_draft& d) {
  const result_reader& r = d.result;
  const json& p = r.provenance();
  const auto& grid = r.grid();
  page& out = d.out;
  out.title = fmt::format("voxherd {}: {}", r.analysis_name(), r.path().substr(r.path().find_last_of('/') + 1));
  out.lead = analysis_summary(r.analysis_name());
  out.facts = {"What was run", {}, {}};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) out.facts.rows.push_back({name, text});
  };
  add("outcome", outcome(r));
  add("image",
      fmt::format("{} voxels of {:.4g} mm", fmt::join(grid.size, " × "), fmt::join(grid.voxel_size_mm, " × ")));
  add("contents", describe_items(r));
  add("time", time_text(r));
  add("start", value_text(p, "start_time"));
  add("ranks", value_text(p, "ranks"));
  add("devices", device_text(p.is_object() ? p.value("devices", json()) : json()));
  add("hosts", list_text(p, "hosts"));
  add("voxherd", r.version());
  add("command", value_text(p, "command_line"));
  out.numbers["analysis"] = r.analysis_name();
  out.numbers["voxherd_version"] = r.version();
  out.numbers["complete"] = r.complete();
  out.numbers["items"] = r.item_voxels().size();
  out.numbers["image"] = {{"size", grid.size}, {"voxel_size_mm", grid.voxel_size_mm}};
  out.numbers["configuration"] = r.configuration();
  out.numbers["provenance"] = p;
  out.numbers["summary"] = r.summary();
}

namespace {

table output_rows(draft& d) {
  table t{"All outputs with one number per voxel or path",
          {"output", "unit", "median", "quartiles", "range", "not finite", "meaning"},
          {}};
  const auto span = [](double a, double b) { return number_text(a) + " to " + number_text(b); };
  for (const auto& [o, q] : describe_outputs(d)) {
    d.out.numbers["outputs"][o.name] = as_json(q);
    d.out.numbers["outputs"][o.name]["unit"] = o.unit;
    d.out.numbers["outputs"][o.name]["meaning"] = o.meaning;
    const bool any = q.values > 0;
    t.rows.push_back({o.name, unit_text(o.unit), any ? number_text(q.median) : "", any ? span(q.q25, q.q75) : "",
                      any ? span(q.min, q.max) : "", std::to_string(q.not_finite), o.meaning});
  }
  return t;
}

table input_rows(const json& provenance) {
  table t{"Input files", {"option", "file", "size", "checksum"}, {}};
  if (!provenance.is_object() || !provenance.contains("inputs") || !provenance.at("inputs").is_object()) return t;
  for (const auto& [name, input] : provenance.at("inputs").items()) {
    const std::string path = value_text(input, "path");
    const json bytes = input.is_object() ? input.value("bytes", json()) : json();
    const std::string form = value_text(input, "form");
    if (!path.empty())
      t.rows.push_back({name, form.empty() ? path : fmt::format("{}: {}", path, form),
                        bytes.is_number() ? readable_bytes(bytes.get<double>()) : "",
                        value_text(input, "fingerprint")});
  }
  return t;
}

table option_rows(const json& configuration) {
  table t{"Options that determine the result", {"option", "value"}, {}};
  constexpr std::size_t max_length = 200;
  if (!configuration.is_object()) return t;
  for (const auto& [name, value] : configuration.items()) {
    std::string text = as_text(value);
    if (text.size() > max_length) text = text.substr(0, max_length) + "…";
    t.rows.push_back({name, text});
  }
  return t;
}

table rank_rows(const json& summary, const std::string& item) {
  table t{"Time of each rank in s",
          {"rank", item + "s", "reading", "computing", "waiting", "writing", "host memory", "device"},
          {}};
  if (!summary.is_object() || !summary.contains("ranks") || !summary.at("ranks").is_array()) return t;
  for (const json& r : summary.at("ranks")) {
    std::vector<std::string> row{value_text(r, "rank"), value_text(r, "items")};
    for (const char* name : {"reading_seconds", "computing_seconds", "waiting_seconds", "writing_seconds"})
      row.push_back(fmt::format("{:.2f}", r.value(name, 0.0)));
    row.push_back(readable_bytes(r.value("peak_host_bytes", 0.0)));
    row.push_back(value_text(r, "device"));
    t.rows.push_back(row);
  }
  return t;
}

}  // namespace

void add_output_table(draft& d) {
  d.add_section(records_title);
  if (table t = output_rows(d); !t.rows.empty()) d.out.sections.back().tables.push_back(std::move(t));
}

void add_records(result_draft& d) {
  add_output_table(d);
  for (table t : {input_rows(d.result.provenance()), option_rows(d.result.configuration()),
                  rank_rows(d.result.summary(), item_name(d.result))})
    if (!t.rows.empty()) d.out.sections.back().tables.push_back(std::move(t));
}

}  // namespace voxherd::report
