"""What is measured: one run of a benchmark program per experiment, in order of importance."""
import dataclasses

CORE, CORES, GPU, GPUS = "core", "cores", "gpu", "gpus"
SCHEMES = ("selling1", "selling2", "godunov27", "hl26")


@dataclasses.dataclass(frozen=True)
class experiment:
    name: str  # of its result file, without the place
    program: str
    pattern: str  # of Google Benchmark names
    places: tuple
    options: tuple = ()
    seconds: float = 0.05  # least time of a benchmark
    threads_per_core: int = 1


def list_experiments():
    both = (CORE, GPU)
    found = [
        experiment("hernandez-grid", "ballstick_bench", "ballstick/grid/", both),
        experiment("hernandez-voxels", "ballstick_bench", "ballstick/by_voxels", both),
        experiment("hernandez-burn-in", "ballstick_bench", "ballstick/by_burn_in", both),
        experiment("hernandez-devices-fibres", "threads_bench", "ballstick/fibres_by_", (CORES, GPUS)),
        experiment("hernandez-devices", "threads_bench", "ballstick/by_(cores|devices)/", (CORES, GPUS)),
        experiment("jeong-table1", "connect_bench", "connect/(solve|set_up)/(const/64|helix/100|brain/1|philips/1)/.*/repeatable", (GPU,)),
    ]
    # One process per scheme: the slowest takes most of a minute on one core.
    found += [experiment(f"jeong-table1-{scheme}", "connect_bench",
                         f"connect/(solve|set_up)/(const/64|helix/100|brain/1|philips/1)/{scheme}/repeatable", (CORE,))
              for scheme in SCHEMES]
    found += [experiment(f"jeong-example2-{scheme}", "connect_bench", f"connect/solve/helix/10000/{scheme}/repeatable", both)
              for scheme in SCHEMES]
    found += [
        experiment("van-aart-benchmark", "geodesic_bench", "geodesic/(paper_2048|by_step)/", (GPU,)),
        experiment("van-aart-bytes", "geodesic_bytes_bench", "geodesic/bytes/", (GPU,)),
        experiment("van-aart-seeds", "geodesic_brain_bench", "geodesic/(seeds|callosum)/christoffel.*/(scores|points)", (CORES, GPU),
                   threads_per_core=2),
        experiment("wang-cao-frames", "perfusion_bench", "perfusion/by_frames/(simplex-paper|simplex-paper-fft|lm)/", both),
        experiment("wang-cao-voxels", "perfusion_bench", "perfusion/by_voxels/(simplex-paper|simplex-paper-fft|lm)/", both),
        experiment("wang-cao-convolution", "perfusion_convolution_bench", "perfusion_convolution/(convolve|by_curves)/", (GPU,)),
        experiment("wang-cao-devices", "threads_bench", "perfusion/by_(cores|devices)/", (CORES, GPUS)),
        experiment("wang-cao-rates", "perfusion_bench", "perfusion/rate/(simplex-paper|lm)/48/", (CORES, GPU)),
    ]
    # Lax-Friedrichs takes more than four minutes in example 2 itself.
    found += [experiment(f"jeong-sweeping-{scheme}-{volume.replace('/', '-')}", "connect_bench",
                         f"connect/sweeping/{volume}/{scheme}/", (CORE,), seconds=0.001)
              for scheme in ("godunov", "lax_friedrichs") for volume in ("const/64", "helix/100", "philips/1")]
    found.append(experiment("jeong-sweeping-godunov-helix-10000", "connect_bench", "connect/sweeping/helix/10000/godunov/",
                            (CORE,), seconds=0.001))
    return found
