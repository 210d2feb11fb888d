#include "kernels/perfusion/perfusion.hpp"
#include "core/command.hpp"
#include "src/analyses/perfusion/run_perfusion.hpp"

namespace voxherd {

extern const command perfusion_command = make_command<perfusion_options, run_perfusion>(
    {"perfusion", "liver perfusion maps of a dynamic series: flows, transit times, delays",
     "--dynamic FILE (--times FILE | --spacing S) [--mask FILE] (--arterial-voi FILE --portal-voi FILE | "
     "--arterial-curve FILE --portal-curve FILE | --curves FILE) --out FILE",
     "",
     "voxherd perfusion --dynamic dynamic.nii.gz --times times.txt \\\n"
     "  --mask liver.nii.gz --arterial-voi aorta.nii.gz \\\n"
     "  --portal-voi portal_vein.nii.gz --signal spgr --tr 4 --flip-angle 20 \\\n"
     "  --relaxivity 3.4 --t1 0.6 --t1-blood 1.4 --arterial-baseline portal \\\n"
     "  --haematocrit 0.42 --delays two-stage --out liver.h5\n"
     "voxherd export liver.h5 --to nifti maps"},
    [] { return output_specs<perfusion::fit_outputs>(); });

}  // namespace voxherd
