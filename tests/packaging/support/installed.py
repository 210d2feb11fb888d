"""The program and its files, installed from the build folder of VOXHERD to another place."""
import filecmp
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.path.dirname(os.path.abspath(os.environ["VOXHERD"]))


def require(*programs):
    """Skips the test if one of the programs or the install rules of the build folder are missing."""
    for program in programs:
        if shutil.which(program) is None:
            raise unittest.SkipTest(f"{program} is not installed")
    if not os.path.exists(os.path.join(BUILD, "cmake_install.cmake")):
        raise unittest.SkipTest(f"{os.environ['VOXHERD']} is not in its build folder")


def run_checked(*words, seconds=300, **settings):
    """The output of a command; fails with the complete output if the command fails."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, **settings)
    assert done.returncode == 0, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def cache_entry(name):
    """The value in CMakeCache.txt, "" if there is none."""
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        found = re.search(rf"^{name}:\w+=(.*)$", file.read(), re.MULTILINE)
    return found[1] if found else ""


def require_viewer():
    """Skips the test if the build folder has no page of the viewer."""
    if not os.path.exists(os.path.join(BUILD, "view_page", "files", "view.js.gz")):
        raise unittest.SkipTest("built without the viewer")


def without_network():
    """Words in front of a command that run it in a namespace of its own, without a network. Open MPI needs the loopback."""
    require("unshare", "ip")
    words = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--net",
             "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    tried = subprocess.run([*words, "true"], capture_output=True, text=True, timeout=60, check=False)
    if tried.returncode != 0:
        raise unittest.SkipTest(f"the kernel forbids namespaces: {tried.stderr.strip()}")
    return words


def compare_folders(here, there):
    """Names below `here`, and those that have the same bytes below both, and that have not."""
    names = sorted(os.path.relpath(os.path.join(at, name), here) for at, _, found in os.walk(here) for name in found)
    same, different, missing = filecmp.cmpfiles(here, there, names, shallow=False)
    return names, same, different + missing


def require_build_without_line_info():
    """Skips the test if CUDA kernels contain the names of their sources, as with the preset cuda for profilers."""
    if cache_entry("CMAKE_CUDA_COMPILER") and cache_entry("VOXHERD_LINEINFO") == "ON":
        raise unittest.SkipTest("built with VOXHERD_LINEINFO, which adds the name of the source folder to the program")


def install(prefix, destdir=None):
    """`cmake --install` with a strict umask."""
    environment = dict(os.environ)
    environment.pop("DESTDIR", None)
    if destdir:
        environment["DESTDIR"] = destdir
    run_checked("cmake", "--install", BUILD, "--prefix", prefix, env=environment, umask=0o077)


def make_deb(folder, environment=None):
    """The path of the .deb; the program is packed as it was built."""
    run_checked("cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", folder, umask=0o077, env=environment)
    [deb] = glob.glob(os.path.join(folder, "*.deb"))
    return deb


def temporary_folder(case):
    folder = os.path.realpath(tempfile.mkdtemp())
    case.addClassCleanup(shutil.rmtree, folder)
    return folder


def find_names(folder, *names):
    """(file, name) for each file in the folder that contains one of the names in its bytes, or in the target of a
    link."""
    found = []
    for at, _, files in os.walk(folder):
        for path in (os.path.join(at, file) for file in files):
            if os.path.islink(path):
                content = os.readlink(path).encode()
            else:
                with open(path, "rb") as file:
                    content = file.read()
            found += [(path, name) for name in names if name.encode() in content]
    return found


def fit_a_phantom(case, program, configs, folder):
    """Runs the installed program on a new phantom with an installed configuration, on two ranks."""
    phantom, result = os.path.join(folder, "phantom"), os.path.join(folder, "fibres.h5")
    run_checked(program, "phantom", "dwi", "--preset", "toy", "--out", phantom)
    inputs = [word for option, name in (("dwi", "data.nii"), ("bvals", "bvals"), ("bvecs", "bvecs"),
                                        ("mask", "nodif_brain_mask.nii.gz"))
              for word in (f"--{option}", os.path.join(phantom, name))]
    run_checked("mpirun", "--oversubscribe", "-n", "2", program, "ballstick", "--config",
         os.path.join(configs, "ballstick-quick.cfg"), *inputs, "--out", result)
    case.assertIn("complete", run_checked(program, "info", result))
    run_checked(program, "verify", result)
