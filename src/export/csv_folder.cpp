#include <fmt/core.h>

#include <string>

#include "core/failure.hpp"
#include "src/export/connectome_text.hpp"
#include "src/export/export_plan.hpp"

namespace voxherd {

namespace {

constexpr auto group = "connectome", label_list = "labels";

/// A field in CSV syntax: quoted if it contains a separator or quote.
std::string field(const std::string& name) {
  if (name.find_first_of(",\"") == std::string::npos) return name;
  std::string doubled;
  for (const char c : name) doubled.append(c == '"' ? 2 : 1, c);
  return fmt::format("\"{}\"", doubled);
}

/// One row of regions per line, as tck2connectome writes it; with a header line and column if the regions have names.
std::string matrix_text(const constant& matrix, const region_name_list& regions) {
  std::string text;
  const std::uint64_t columns = matrix.shape.at(1);
  for (const std::string& name : regions) text.append(",").append(field(name));
  if (!regions.empty()) text += '\n';
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    if (!regions.empty() && i % columns == 0) text.append(field(regions.at(i / columns))).append(",");
    text += matrix_number(matrix.values[i]) + ((i + 1) % columns == 0 ? '\n' : ',');
  }
  return text;
}

/// Every matrix of the result's connectome as NAME.csv, and nodes.tsv, which describes the rows and columns.
export_plan plan_csv_folder(const result_volumes& volumes) {
  export_plan plan;
  const region_name_list regions = given_region_names(volumes.result());
  for (const constant& c : volumes.result().constants()) {
    if (c.group != group) continue;
    if (c.name == label_list) plan.texts.push_back({"nodes.tsv", node_table(volumes.result(), regions)});
    if (c.shape.size() == 2) plan.texts.push_back({c.name + ".csv", matrix_text(c, regions)});
  }
  if (plan.texts.empty())
    throw failure(
        exit_status::bad_data,
        fmt::format("{}: is a result of {} without a connectome; run connect or geodesic with --connectome LABELS",
                    volumes.result().path(), volumes.result().analysis_name()));
  return plan;
}

void run(session& s, const export_settings& settings) { export_folder(s, settings, plan_csv_folder); }

}  // namespace

extern const export_kind csv_export{"csv", "DIR", "the connectome's matrices", false, run};

}  // namespace voxherd
