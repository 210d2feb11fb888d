"""Spack recipe of the NIfTI C library, which is not in Spack's own repository. Never run by the project."""

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class NiftiClib(CMakePackage):
    """Reads and writes NIfTI-1 and NIfTI-2 images."""

    homepage = "https://nifti.nimh.nih.gov"
    git = "https://github.com/NIFTI-Imaging/nifti_clib.git"

    version("3.0.1", tag="v3.0.1")

    depends_on("c", type="build")
    depends_on("zlib-api")

    def cmake_args(self):
        # voxherd needs libnifti2 and libznz. As shared libraries they are linked with zlib.
        return [self.define("BUILD_SHARED_LIBS", True), self.define("USE_NIFTI2_CODE", True),
                self.define("NIFTI_BUILD_APPLICATIONS", False),
                self.define("NIFTI_BUILD_TESTING", False)]
