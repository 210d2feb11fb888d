#include "src/analyses/common/metric_options.hpp"

#include "core/option_values.hpp"

namespace voxherd {

using geodesic::metric_kind;

metric_kind read_metric(const arguments& args) {
  return option::word<metric_kind>(args, "metric",
                                   {{"inverse", metric_kind::inverse},
                                    {"adjugate", metric_kind::adjugate},
                                    {"power", metric_kind::power},
                                    {"jeong", metric_kind::jeong}});
}

double read_alpha(const arguments& args, metric_kind metric, double standard) {
  if (metric != metric_kind::power && metric != metric_kind::jeong)
    option::refuse_given(args, "alpha", "without --metric power or jeong");
  return args.has("alpha") ? option::number(args, "alpha", 0.1, 10) : standard;
}

}  // namespace voxherd
