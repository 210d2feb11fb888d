#include "kernels/perfusion/perfusion.hpp"
#include "core/command.hpp"
#include "src/analyses/perfusion/run_perfusion.hpp"

namespace voxherd {

extern const command perfusion_command = make_command<perfusion_options, run_perfusion>(
    {"perfusion", "liver perfusion maps of a dynamic series: flows, transit times, delays",
     "--dynamic FILE (--times FILE | --spacing S) [--mask FILE] (--arterial-voi FILE --portal-voi FILE | "
     "--arterial-curve FILE --portal-curve FILE | --curves FILE) --out FILE",
     ""},
    [] { return output_specs<perfusion::fit_outputs>(); });

}  // namespace voxherd
