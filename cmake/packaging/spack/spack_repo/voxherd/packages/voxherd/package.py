"""Spack recipe, for Spack 1.0 or newer.

Never run by the project, because Debian has no Spack package. tests/packaging/cli/recipes_test.py checks that it is
valid Python and that its dependencies and options match the CMake files.

    spack repo add cmake/packaging/spack/spack_repo/voxherd
    spack dev-build voxherd@main +cuda cuda_arch=80,90    # in the source tree
"""

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Voxherd(CMakePackage, CudaPackage):
    """Analyses of brain and liver scans on many GPUs and CPU cores."""

    license("Apache-2.0")

    # No download location; `spack dev-build` and `spack develop` use the source tree.
    version("main")

    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")

    depends_on("mpi@3:")
    depends_on("hdf5@1.10:+mpi")
    depends_on("boost+program_options")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10:+fmt_external")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("random123@1.13:", type="build")
    depends_on("xxhash@0.8:")
    depends_on("zlib-api")
    depends_on("isa-l")
    depends_on("nifti-clib@3.0.1:")  # in this repository, not in Spack's own
    depends_on("cuda@12:", when="+cuda")
    depends_on("googletest+gmock", type="build", when="+tests")

    conflicts("%gcc@:11", msg="C++20 requires GCC 12 or newer")
    conflicts("cuda_arch=none", when="+cuda", msg="set the GPU architectures, e.g. cuda_arch=80,90")

    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define("VOXHERD_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define_from_variant("VOXHERD_TESTS", "tests"),
            self.define("VOXHERD_BENCH", False),
            # CPU kernels use the vector instructions of Spack's target, not those of the build machine.
            self.define("VOXHERD_CPU_ARCH", cpu_arch(self.spec.target)),
        ]
        if self.spec.satisfies("+cuda"):
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return arguments


def cpu_arch(target):
    """The highest level that voxherd can be built for (script/setup --help) and that a Spack target supports."""
    if "avx512f" in target and "avx512vl" in target:
        return "x86-64-v4"
    if "avx2" in target:
        return "x86-64-v3"
    raise InstallError(f"voxherd's CPU kernels need AVX2, which {target} does not have; use target=x86_64_v3 or newer")
