#include "src/show/analysis_views.hpp"

namespace voxherd {

extern const analysis_views noddi_views{
    .analysis = "noddi",
    .maps = {{.output = "NDI", .note = "It is high in white matter.", .bids_parameter = "icvf"},
             {.output = "ODI", .note = "It is low where neurites are parallel.", .bids_parameter = "od"},
             {.output = "FWF", .note = "It is high in fluid.", .bids_parameter = "isovf"}}};

}  // namespace voxherd
