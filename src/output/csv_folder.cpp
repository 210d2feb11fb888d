#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "mpi/failure.hpp"
#include "src/output/export_kind.hpp"

namespace voxherd {

namespace {

constexpr auto group = "connectome", label_list = "labels";

/// A row of regions a line, as tck2connectome writes it.
std::string matrix_text(const constant& matrix) {
  std::string text;
  const std::uint64_t columns = matrix.shape.at(1);
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}{}", matrix.values[i], (i + 1) % columns == 0 ? '\n' : ',');
  return text;
}

std::string node_text(const constant& labels) {
  std::string text = "index\tlabel\n";
  for (std::size_t i = 0; i < labels.values.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}\t{}\n", i + 1, labels.values[i]);
  return text;
}

/// Every matrix of the result's connectome as NAME.csv, and nodes.tsv, which says whose rows and columns they are.
export_plan plan_csv_folder(const result_volumes& volumes) {
  export_plan plan;
  for (const constant& c : volumes.result().constants()) {
    if (c.group != group) continue;
    if (c.name == label_list) plan.texts.push_back({"nodes.tsv", node_text(c)});
    if (c.shape.size() == 2) plan.texts.push_back({c.name + ".csv", matrix_text(c)});
  }
  if (plan.texts.empty())
    throw failure(exit_status::bad_data,
                  fmt::format("{}: a result of {} without a connectome; run geodesic with --connectome LABELS",
                              volumes.result().path(), volumes.result().analysis_name()));
  return plan;
}

void run(session& s, const export_settings& settings, const arguments&) { export_folder(s, settings, plan_csv_folder); }

}  // namespace

extern const export_kind csv_export{"csv", "DIR", "the connectome's matrices", nullptr, run};

}  // namespace voxherd
