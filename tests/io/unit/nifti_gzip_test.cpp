#include "tests/io/support/nifti_case.hpp"

#include <random>

namespace voxherd {
namespace {

using testing::bytes;
using testing::crafted_nifti;
using testing::good;
using testing::gzipped;
using testing::joined;
using testing::member_with_wrong_checksum;
using testing::NiftiFile;

TEST_F(NiftiFile, MembersOfAGzipFileFollowEachOther) {
  const bytes all = good().content();
  bytes packed = gzipped(bytes(all.begin(), all.begin() + 400));
  const bytes rest = gzipped(bytes(all.begin() + 400, all.end()));
  packed.insert(packed.end(), rest.begin(), rest.end());
  EXPECT_EQ(read_volume(read_nifti_header(put(packed, "image.nii.gz")))[23], 23);
}

TEST_F(NiftiFile, DamageThatMakesTheStreamLongerThanTheImageIsRejected) {
  bytes longer = good().content();
  longer.resize(longer.size() + 9);
  const auto reason = [&](const bytes& packed) { return refusal(put(packed, "image.nii.gz"), exit_status::bad_data); };
  EXPECT_NE(reason(member_with_wrong_checksum(longer)).find("wrong checksum or length"), std::string::npos);
  const bytes second = member_with_wrong_checksum(bytes(9, 'x'));
  EXPECT_NE(reason(joined({gzipped(good().content()), second})).find("damaged"), std::string::npos);
  bytes cut = gzipped(longer);
  cut.resize(cut.size() - 8);
  EXPECT_NE(reason(cut).find("truncated"), std::string::npos);
}

TEST_F(NiftiFile, BytesAfterACompressedImageAreCounted) {
  bytes longer = good().content();
  longer.resize(longer.size() + 9);
  nifti_reader reader(read_nifti_header(put(joined({gzipped(longer), bytes(4, 'x')}), "image.nii.gz")));
  std::vector<float> part(3);
  reader.read(0, 5, 3, part.data());
  EXPECT_EQ(part[2], 7);
  const bytes_after_image after = reader.check_end();
  EXPECT_EQ(after.inflated, 9U);
  EXPECT_EQ(after.stored, 4U);
}

TEST_F(NiftiFile, DamagedGzipIsRejected) {
  std::vector<float> noise(24);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<float>(std::sin(static_cast<double>(i * i)));
  const bytes packed = gzipped(crafted_nifti().append(noise).content());
  const bytes cut(packed.begin(), packed.end() - 20);
  EXPECT_NE(refusal(put(cut, "a.nii.gz"), exit_status::bad_data).find("truncated"), std::string::npos);
  bytes crc = packed;
  crc[crc.size() - 6] ^= 1;
  EXPECT_NE(refusal(put(crc, "a.nii.gz"), exit_status::bad_data).find("damaged"), std::string::npos);
  bytes flipped = packed;
  flipped[flipped.size() / 2] ^= 0x10;
  refusal(put(flipped, "a.nii.gz"), exit_status::bad_data);
  const bytes all = good().content();
  const bytes short_data = gzipped(bytes(all.begin(), all.end() - 4));
  EXPECT_NE(refusal(put(short_data, "a.nii.gz"), exit_status::bad_data).find("truncated"), std::string::npos);
}

TEST_F(NiftiFile, HeaderTooLargeForItsGzipFileIsRejectedBeforeAnyAllocation) {
  auto bomb = good().dimensions({30000, 30000, 30000});
  EXPECT_NE(refusal(put(gzipped(bomb.content()), "a.nii.gz"), exit_status::bad_data).find("compressed bytes"),
            std::string::npos);
}

TEST_F(NiftiFile, RandomDamageIsReadOrRejected) {
  std::mt19937 random(20120814);
  int refused = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    bytes content = good(1 + trial % 2, trial % 3 == 0 ? std::endian::big : std::endian::little).content();
    for (unsigned i = 0, changes = 1 + random() % 4; i < changes; ++i) {
      content[random() % (i == 0 ? 360 : content.size())] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    if (trial % 5 == 0) content.resize(random() % content.size());
    const auto path = put(trial % 7 == 0 ? gzipped(content) : content);
    try {
      EXPECT_LE(read_volume(read_nifti_header(path)).size(), 24U * 1024U);
    } catch (const failure&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, trials / 4);
  EXPECT_LT(refused, trials);
}

}  // namespace
}  // namespace voxherd
