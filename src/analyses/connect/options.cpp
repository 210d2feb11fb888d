#include "src/analyses/connect/options.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "core/option_values.hpp"
#include "src/analyses/common/metric_options.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

namespace {

using connect::scheme_kind;
using geodesic::metric_kind;
using option::refuse;
using option::refuse_given;

std::string text_of(const arguments& args, const char* name) {
  return args.has(name) ? args.get<std::string>(name) : std::string();
}

std::vector<std::int32_t> labels_of(const arguments& args, const char* name) {
  return args.has(name) ? parse_labels(args.get<std::string>(name), name) : std::vector<std::int32_t>{};
}

std::array<double, 3> parse_point(const std::string& text, const std::string& option) {
  std::array<double, 3> point{};
  const char *at = text.data(), *end = text.data() + text.size();
  bool good = true;
  for (int d = 0; d < 3 && good; ++d) {
    const auto [stopped, code] = std::from_chars(at, end, point[static_cast<std::size_t>(d)]);
    good = code == std::errc{} && std::isfinite(point[static_cast<std::size_t>(d)]) &&
           (d < 2 ? stopped < end && *stopped == ',' : stopped == end);
    at = stopped + 1;
  }
  if (!good)
    refuse(fmt::format("--{} {}: expected three numbers with commas between, x,y,z in world mm (RAS+), as -12.5,30,8",
                       option, printable(text)));
  return point;
}

/// --from, --from-labels, --from-point, or the same of `to`.
end_choice read_end(const arguments& args, const std::string& side) {
  const std::string labels = side + "-labels", point = side + "-point";
  end_choice end;
  if (args.has(point.c_str())) {
    refuse_given(args, side.c_str(), ("with --" + point).c_str());
    refuse_given(args, labels.c_str(), ("with --" + point).c_str());
    end.point_mm = parse_point(args.get<std::string>(point.c_str()), point);
    return end;
  }
  if (!args.has(side.c_str())) {
    refuse(
        fmt::format("neither --{0} nor --{0}-point is given: a mask or parcellation, or a place x,y,z in mm; or "
                    "give --connectome for all pairs of a parcellation's regions",
                    side));
  }
  end.file = args.get<std::string>(side.c_str());
  end.labels = labels_of(args, labels.c_str());
  return end;
}

void read_regions(const arguments& args, connect_options& o) {
  o.connectome = args.has("connectome");
  if (!o.connectome) {
    o.from = read_end(args, "from");
    o.to = read_end(args, "to");
    for (const char* name : {"labels", "region-names"}) refuse_given(args, name, "without --connectome");
    if (!o.from.file.empty() && !o.to.file.empty()) refuse_given(args, "ball", "without --from-point or --to-point");
    o.ball_voxels = option::number(args, "ball", 0, 20);
    return;
  }
  for (const char* name : {"from", "from-labels", "from-point", "to", "to-labels", "to-point", "ball", "epsilon"})
    refuse_given(args, name, "with --connectome, whose regions are all joined with each other");
  refuse_given(args, "path-count", "with --connectome, which has one path a pair");
  o.parcellation = args.get<std::string>("connectome");
  o.labels = labels_of(args, "labels");
  o.region_names = text_of(args, "region-names");
}

/// Raising D's eigenvalues caps those of S, a power of D.
double min_eigenvalue(const geodesic::preparation& how, double max_ratio) {
  const bool power = how.metric == metric_kind::power || how.metric == metric_kind::jeong;
  return power ? std::pow(max_ratio, -1 / how.alpha) : 1 / max_ratio;
}

void read_metric_options(const arguments& args, connect_options& o) {
  o.how.metric = read_metric(args);
  o.how.alpha = read_alpha(args, o.how.metric, o.how.metric == metric_kind::jeong ? 3 : 1);
  o.how.smoothing_voxels = option::number(args, "smooth", 0, 10);
  o.max_ratio = option::number(args, "max-ratio", 1, 10000);
  o.how.min_eigenvalue = min_eigenvalue(o.how, o.max_ratio);
}

void read_solver(const arguments& args, connect_options& o) {
  o.solver.scheme = option::word<scheme_kind>(
      args, "scheme",
      {{"selling", scheme_kind::selling}, {"godunov27", scheme_kind::godunov27}, {"hl26", scheme_kind::hl26}});
  o.solver.order = o.solver.scheme == scheme_kind::selling ? 2 : 1;
  if (args.has("order")) o.solver.order = static_cast<int>(option::integer(args, "order", 1, 2));
  if (o.solver.order == 2 && o.solver.scheme != scheme_kind::selling)
    refuse("--order 2 belongs to --scheme selling; leave it out");
  o.solver.tolerance = static_cast<float>(option::number(args, "tolerance", 0, 0.01));
  o.solver.in_place = args.get<bool>("in-place");
}

void read_files(const arguments& args, connect_options& o) {
  o.within = text_of(args, "within");
  o.paths = text_of(args, "paths");
  o.arrivals = text_of(args, "arrivals");
  if (o.paths.empty()) refuse_given(args, "path-count", "without --paths");
  if (!o.paths.empty() && o.solver.in_place)
    refuse(
        "--paths follows arrival times that are solved for again, and --in-place never gives the same twice; leave "
        "one of the two out");
  const std::string out = text_of(args, "out");
  for (const auto& [name, path] : {std::pair{"paths", o.paths}, std::pair{"arrivals", o.arrivals}})
    if (!path.empty() && path == out) refuse(fmt::format("--{} and --out are one file; choose another name", name));
  if (!o.paths.empty() && o.paths == o.arrivals) refuse("--paths and --arrivals are one file; choose another name");
  o.path_count = static_cast<std::uint64_t>(option::integer(args, "path-count", 1, 1'000'000));
}

void read_bootstrap(const arguments& args, connect_options& o) {
  o.bootstrap.replicates = static_cast<std::uint64_t>(option::integer(args, "bootstrap", 0, 10000));
  constexpr long long largest_seed = std::numeric_limits<long long>::max();
  o.bootstrap.seed = static_cast<std::uint64_t>(option::integer(args, "bootstrap-seed", 0, largest_seed));
  o.bootstrap.interval_percent = option::number(args, "interval", 1, 99.9);
  if (o.bootstrap.replicates > 0) {
    if (args.has("tensor"))
      refuse(
          "--bootstrap resamples the diffusion-weighted series; give --dwi, --bvals and --bvecs instead of --tensor");
    return;
  }
  for (const char* name : {"bootstrap-seed", "interval"}) refuse_given(args, name, "without --bootstrap");
}

void add_region_options(po::options_description& options) {
  const auto list = [] { return po::value<std::string>()->value_name("LIST"); };
  const auto place = [] { return po::value<std::string>()->value_name("X,Y,Z"); };
  // clang-format off
  options.add_options()
    ("from", option::file(), "region where paths begin: mask or parcellation")
    ("from-labels", list(), "labels of --from, as 3,17; without it all above 0")
    ("from-point", place(), "a place instead of --from: world mm (RAS+), as -12.5,30,8")
    ("to", option::file(), "region where paths end: mask or parcellation")
    ("to-labels", list(), "labels of --to")
    ("to-point", place(), "a place instead of --to: world mm (RAS+)")
    ("ball", option::real(3, "3"),
     "radius about a place, 0 to 20 voxels, within which its tensor is taken to hold: times are exact there")
    ("connectome", option::file(), "parcellation: the cost between all its regions, instead of --from and --to")
    ("labels", list(), "labels of --connectome; without it all above 0")
    ("region-names", option::file(), "text, a region a line: label, name; for the matrices' rows and columns")
    ("within", option::file(), "mask that paths stay in, such as white matter; without it all voxels with a tensor");
  // clang-format on
}

void add_solver_options(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("metric", option::text("jeong"), "inverse | adjugate | power | jeong: how the tensor D makes costs (formulas: docs/commands/geodesic.md)")
    ("alpha", option::real_by_others("3; power 1"), "exponent of power and jeong, 0.1 to 10")
    ("smooth", option::real(0, "0"), "deviation of log-Euclidean smoothing, 0 to 10 voxels; 0: none")
    ("max-ratio", option::real(100, "100"), "largest ratio of the squared speeds along and across fibres, 1 to 10000")
    ("scheme", option::text("selling"), "selling | godunov27 (Jeong 2007) | hl26: how an arrival time follows from its neighbours'")
    ("order", option::whole_by_others("2; godunov27, hl26 1"), "1 | 2: order of the differences; 2 with selling alone")
    ("tolerance", option::real(1e-6, "1e-06"), "part of an arrival time below which a change is none, 0 to 0.01")
    ("in-place", po::bool_switch(), "faster, but no two runs give the same bytes");
  // clang-format on
}

void add_answer_options(po::options_description& options) {
  // clang-format off
  options.add_options()
    ("epsilon", option::real(0.05, "0.05"),
     "the pathway holds paths up to this part dearer than the cheapest, 0.0001 to 10; with --from and --to")
    ("paths", option::file(), "result file of fibres: through the pathway's voxels, or the cheapest of each pair")
    ("path-count", option::whole(1000), "paths through the pathway at most, 1 to 1000000; with --from and --to")
    ("bootstrap", option::whole(0),
     "replicates of a wild bootstrap of --dwi, for an interval of every cost, 0 to 10000; 0: none")
    ("bootstrap-seed", option::whole(8665904), "random seed of the bootstrap, 0 or more")
    ("interval", option::real(95, "95"), "part of the replicates within the interval, 1 to 99.9 %")
    ("arrivals", option::file(), "keep the arrival times of every region's front in this result file");
  // clang-format on
}

}  // namespace

void add_connect_options(po::options_description& options) {
  add_region_options(options);
  add_solver_options(options);
  add_answer_options(options);
}

connect_options read_connect_options(const arguments& args) {
  connect_options o;
  read_regions(args, o);
  read_metric_options(args, o);
  read_solver(args, o);
  o.epsilon = option::number(args, "epsilon", 0.0001, 10);
  read_files(args, o);
  read_bootstrap(args, o);
  return o;
}

void add_to_configuration(const connect_options& o, const arguments& args, nlohmann::json& c) {
  for (const char* name : {"metric", "scheme"}) c[name] = args.get<std::string>(name);
  c["alpha"] = o.how.alpha;
  c["smooth"] = o.how.smoothing_voxels;
  c["max-ratio"] = o.max_ratio;
  c["order"] = o.solver.order;
  c["tolerance"] = args.get<double>("tolerance");
  c["in-place"] = o.solver.in_place;
  c["paths"] = !o.paths.empty();
  c["bootstrap"] = o.bootstrap.replicates;
  if (o.bootstrap.replicates > 0) {
    c["bootstrap-seed"] = o.bootstrap.seed;
    c["interval"] = o.bootstrap.interval_percent;
  }
  if (o.connectome) {
    c["labels"] = o.labels;
    return;
  }
  for (const auto& [side, end] : {std::pair{"from", o.from}, std::pair{"to", o.to}}) {
    if (end.file.empty()) {
      c[std::string(side) + "-point"] = end.point_mm;
    } else {
      c[std::string(side) + "-labels"] = end.labels;
    }
  }
  if (o.from.file.empty() || o.to.file.empty()) c["ball"] = o.ball_voxels;
  c["epsilon"] = o.epsilon;
  if (!o.paths.empty()) c["path-count"] = o.path_count;
}

/// Lengths are in mm, D in mm2/s: G = D^-1, and Jeong's, which has the same determinant, give mm / (mm2/s)^(1/2).
std::string cost_unit(const geodesic::preparation& how) {
  return how.metric == metric_kind::inverse || how.metric == metric_kind::jeong ? "s^(1/2)" : "metric";
}

}  // namespace voxherd
