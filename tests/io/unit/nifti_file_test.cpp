#include "tests/io/support/nifti_case.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace voxherd {
namespace {

using testing::bytes;
using testing::good;
using testing::gzipped;
using testing::NiftiFile;

TEST_F(NiftiFile, CompressionIsDetectedFromTheContentNotTheName) {
  EXPECT_EQ(read_volume(read_nifti_header(put(gzipped(good().content()), "packed.nii")))[5], 5);
  EXPECT_EQ(read_volume(read_nifti_header(put(good().content(), "plain.nii.gz")))[5], 5);
}

TEST_F(NiftiFile, OddNamesAreReadAndNamedInMessages) {
  EXPECT_EQ(read_volume(read_nifti_header(put(good().content(), "a b\xc3\xa9\n.nii")))[1], 1);
  EXPECT_NE(refusal(folder_ / "not\nthere.nii", exit_status::missing_input).find("not\\x0athere.nii: "),
            std::string::npos);
  refusal(folder_ / std::string(4096, 'x'), exit_status::missing_input);
}

TEST_F(NiftiFile, UnopenableFilesAreMissingInput) {
  refusal(folder_ / "absent.nii", exit_status::missing_input);
  EXPECT_NE(refusal(folder_.path().string(), exit_status::missing_input).find("directory"), std::string::npos);
  ASSERT_EQ(::symlink((folder_ / "loop.nii").c_str(), (folder_ / "loop.nii").c_str()), 0);
  refusal(folder_ / "loop.nii", exit_status::missing_input);
  ASSERT_EQ(::mkfifo((folder_ / "pipe.nii").c_str(), 0600), 0);
  refusal(folder_ / "pipe.nii", exit_status::missing_input);
}

TEST_F(NiftiFile, AnUnreadableFileIsMissingInput) {
  const auto path = put(good().content());
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  // Root may read every file, so this test drops its privileges.
  const bool root = ::geteuid() == 0;
  constexpr uid_t nobody = 65534;
  if (root) {
    ASSERT_EQ(::seteuid(nobody), 0);
  }
  const std::string line = refusal(path, exit_status::missing_input);
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_NE(line.find("ermission"), std::string::npos) << line;
}

TEST_F(NiftiFile, ShortFilesAreRejected) {
  const bytes all = good().content();
  EXPECT_NE(refusal(put({}), exit_status::bad_data).find("empty"), std::string::npos);
  for (const long length : {1L, 3L, 4L, 347L, 348L, 352L, static_cast<long>(all.size()) - 1}) {
    refusal(put(bytes(all.begin(), all.begin() + length)), exit_status::bad_data);
  }
}

TEST_F(NiftiFile, FileTruncatedWhileReadIsADiskFailure) {
  const auto path = put(good().content());
  nifti_reader reader(read_nifti_header(path));
  std::filesystem::resize_file(path, 360);
  std::vector<float> values(24);
  try {
    reader.read(0, 0, 24, values.data());
    ADD_FAILURE() << "read without complaint";
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::disk);
  }
}

}  // namespace
}  // namespace voxherd
