#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>

#include "core/escape.hpp"
#include "src/show/chart.hpp"
#include "src/show/colours.hpp"
#include "src/show/distribution.hpp"
#include "src/show/fibres.hpp"
#include "src/show/grid_view.hpp"
#include "src/show/page.hpp"

namespace voxherd::report {
namespace {

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

/// The rows of the only IDAT chunk, each with its filter.
std::string inflated_rows(const std::string& png, std::size_t size) {
  constexpr std::size_t after_header = 8 + 25;
  EXPECT_EQ(png.substr(after_header + 4, 4), "IDAT");
  std::string rows(size, '\0');
  uLongf found = size;
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &found,
                       reinterpret_cast<const Bytef*>(png.data() + after_header + 8), big_endian(png, after_header)),
            Z_OK);
  EXPECT_EQ(found, size);
  return rows;
}

TEST(ReportPng, RowsAreDifferencesFromTheRowAbove) {
  rgb_image image(2, 2);
  image.set(0, 0, {1, 2, 3});
  image.set(1, 0, {250, 0, 9});
  image.set(0, 1, {4, 2, 0});
  image.set(1, 1, {5, 7, 9});
  const std::string png = encode_png(image);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(big_endian(png, 16), 2u);
  EXPECT_EQ(png[25], 2);  // colour
  const std::string expected{2, 1, 2, 3, static_cast<char>(250), 0, 9, 2, 3, 0, static_cast<char>(-3), 11, 7, 0};
  EXPECT_EQ(inflated_rows(png, expected.size()), expected);
}

TEST(ReportPng, AGreyImageHasOneNumberPerPixel) {
  rgb_image image(3, 1);
  image.set(1, 0, {7, 7, 7});
  const std::string png = encode_png(image);
  EXPECT_EQ(png[25], 0);
  EXPECT_EQ(inflated_rows(png, 4), std::string({2, 0, 7, 0}));
}

TEST(ReportPng, ChunksHaveTheirChecksums) {
  const std::string png = encode_png(rgb_image(5, 4));
  std::size_t at = 8, chunks = 0;
  for (; at < png.size(); ++chunks) {
    const std::size_t length = big_endian(png, at);
    const auto* data = reinterpret_cast<const Bytef*>(png.data() + at + 4);
    EXPECT_EQ(big_endian(png, at + 8 + length), crc32(0, data, static_cast<uInt>(length + 4)));
    at += 12 + length;
  }
  EXPECT_EQ(at, png.size());
  EXPECT_EQ(chunks, 3u);
}

TEST(ReportBase64, IsThatOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(ReportPage, TextsAreEscapedAlsoInsideQuotes) {
  EXPECT_EQ(html_text("<a href='x'>\"&amp;"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;amp;");
  EXPECT_EQ(html_text("a\x01\x7f\n"), "a\uFFFD\uFFFD\n");
  EXPECT_EQ(html_text("\xff"), "\uFFFD");
}

TEST(ReportPage, NoTextOfATablesOrJsonBecomesMarkup) {
  page p;
  const std::string evil = "</script></title></table><script>alert(1)</script>";
  p.title = p.lead = p.methods = evil;
  p.warnings = {evil};
  p.facts = {evil, {evil}, {{evil, evil}}};
  p.sections = {{evil, {evil}, {{evil, "", evil, {{evil, {}, {{evil}}}}, true}}, {}}};
  p.references = {{evil, evil}};
  p.numbers = {{evil, evil}};
  const std::string html = write_page(p);
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = html.find("<script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 1u);
  EXPECT_EQ(html.find("<script>"), std::string::npos);
  EXPECT_EQ(html.rfind("</script>"), html.find("</script>"));
}

/// A grid whose axes run to the left, downwards and to the front.
image_grid turned_grid() {
  image_grid grid;
  grid.size = {4, 3, 2};
  grid.voxel_to_world = {-2, 0, 0, 10, 0, 0, 5, -7, 0, -3, 0, 20, 0, 0, 0, 1};
  return grid;
}

TEST(ReportView, ShowsTheSubjectsRightOnTheRightAndTheHeadAtTheTop) {
  const grid_view view(turned_grid());
  EXPECT_EQ(view.file_axes(), (std::array<int, 3>{-1, 3, -2}));
  EXPECT_EQ(view.size(1), 2u);
  EXPECT_EQ(view.spacing_mm(2), 3);
  // The rightmost, frontmost, highest voxel is (0, 0, 1).
  EXPECT_EQ(view.voxel({3, 1, 2}), 0u + 4 * (0 + 3 * 1));
  for (std::uint64_t v = 0; v < 24; ++v) EXPECT_EQ(view.voxel(view.place(v)), v);
}

TEST(ReportView, DirectionsAndPointsAreTurnedLikeVoxels) {
  const grid_view view(turned_grid());
  // Its axes are left-handed. FSL reverses x of right-handed ones.
  EXPECT_DOUBLE_EQ(view.in_world({1, 0, 0})[0], -1);
  image_grid straight;
  straight.size = {2, 2, 2};
  straight.voxel_to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  EXPECT_DOUBLE_EQ(grid_view(straight).in_world({1, 0, 0})[0], -1);
  EXPECT_DOUBLE_EQ(grid_view(straight).in_world({0, 1, 0})[1], 1);
  EXPECT_DOUBLE_EQ(view.seen({0, 1, 0})[2], -1);
  EXPECT_DOUBLE_EQ(view.in_world({0, 0, 1})[1], 1);
  const auto place = view.place_mm({10, -7 + 5, 20});  // of voxel (0, 0, 1)
  EXPECT_DOUBLE_EQ(place[0], 6);
  EXPECT_DOUBLE_EQ(place[1], 5);
  EXPECT_DOUBLE_EQ(place[2], 6);
}

TEST(ReportView, ARadiologicalViewIsMirroredAndItsLettersAndPositionsBelongToTheVoxels) {
  const grid_view plain(turned_grid()), mirrored(turned_grid(), view_sides::radiological);
  EXPECT_EQ(mirrored.voxel({0, 1, 2}), plain.voxel({3, 1, 2}));
  EXPECT_STREQ(plain.letters(0)[0], "L");
  EXPECT_STREQ(mirrored.letters(0)[0], "R");
  EXPECT_STREQ(mirrored.letters(1)[0], "P");
  EXPECT_DOUBLE_EQ(plain.world_mm(0, 3), 10);  // the rightmost voxel
  EXPECT_DOUBLE_EQ(mirrored.world_mm(0, 0), 10);
  EXPECT_DOUBLE_EQ(plain.world_mm(1, 0), -7);
  EXPECT_DOUBLE_EQ(plain.world_mm(2, 2), 20);
}

TEST(ReportView, OnlyAxesAlongTheWorldFromTheOriginLookMadeUp) {
  image_grid grid;
  grid.voxel_to_world = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1};
  EXPECT_TRUE(is_made_up(grid));
  grid.size = {3, 3, 3};
  EXPECT_STREQ(grid_view(grid).letters(0)[0], "L?");
  grid.voxel_to_world[3] = -90;
  EXPECT_FALSE(is_made_up(grid));
  EXPECT_FALSE(is_made_up(turned_grid()));
}

TEST(ReportView, ATilesPixelsAreItsVoxelsAndEmptySlicesAreLeftOut) {
  image_grid grid;
  grid.size = {3, 3, 9};
  grid.voxel_to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const grid_view view(grid);
  std::vector<std::uint64_t> voxels;
  for (const std::uint64_t z : {1, 3, 5})
    for (std::uint64_t i = 0; i < 6; ++i) voxels.push_back(i + 9 * z);
  const mosaic m = plan_mosaic(view, voxels, 15);
  EXPECT_EQ(m.slices, (std::vector<std::uint64_t>{1, 3, 5}));
  EXPECT_EQ(m.tile_height(), 2u);
  std::size_t shown = 0;
  m.for_each_pixel([&](std::size_t x, std::size_t y, const auto& place) {
    EXPECT_EQ(place[0], x % 3);
    EXPECT_EQ(place[1], 1 - y % 2);
    ++shown;
  });
  EXPECT_EQ(shown, voxels.size());
}

TEST(ReportNumbers, QuantilesLeaveOutWhatIsNotFinite) {
  std::vector<float> values{NAN, INFINITY};
  for (int i = 100; i >= 0; --i) values.push_back(static_cast<float>(i));
  const distribution d = describe_values(values);
  EXPECT_EQ(d.values, 101u);
  EXPECT_EQ(d.not_finite, 2u);
  EXPECT_EQ(d.min, 0);
  EXPECT_EQ(d.q02, 2);
  EXPECT_EQ(d.median, 50);
  EXPECT_EQ(d.q98, 98);
  EXPECT_EQ(d.max, 100);
  EXPECT_NEAR(d.mean, 50, 1e-9);
  EXPECT_EQ(describe_values({NAN}).values, 0u);
}

TEST(ReportNumbers, QuantilesAreBetweenTheNearestValues) {
  const distribution d = describe_values({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(d.median, 2.5);
  EXPECT_DOUBLE_EQ(d.q25, 1.75);
  EXPECT_DOUBLE_EQ(d.q75, 3.25);
  EXPECT_NEAR(d.q05, 1.15, 1e-12);
  EXPECT_NEAR(d.q95, 3.85, 1e-12);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(describe_values({7, 7}).q02, 7);
}

TEST(ReportNumbers, AHistogramCountsItsEndsAndWhatIsOutside) {
  const std::vector<float> values{-1, 0, 0.5f, 1, 2, 2.5f, NAN};
  const histogram h = count_values(values, 0, 2, 2);
  EXPECT_EQ(h.counts, (std::vector<std::uint64_t>{2, 2}));
  EXPECT_EQ(h.below, 1u);
  EXPECT_EQ(h.above, 1u);
}

TEST(ReportChart, ALineIsInterruptedWhereItIsNotFinite) {
  const line_chart chart{"t", "x", "y", {0, 1, 2, 3, 4}, {{"a<b", {1, 2, NAN, 2, 1}}}, {}};
  const std::string svg = draw_lines(chart, "d");
  const std::size_t path = svg.find("class=\"draw\" d=\"M");
  ASSERT_NE(path, std::string::npos);
  EXPECT_NE(svg.find('M', path + 16), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find("a&lt;b"), std::string::npos);
}

TEST(ReportFibres, ASegmentIsWalkedThroughEveryVoxelThatItPassesWithItsParts) {
  std::vector<std::array<int, 3>> places;
  std::vector<double> parts;
  walk_segment({0, 0, 0}, {2, 1, 0}, [&](const std::array<int, 3>& place, double part) {
    places.push_back(place);
    parts.push_back(part);
  });
  // Sides of voxels are crossed at x = 0.5, y = 0.5 (where x is 1) and x = 1.5.
  EXPECT_EQ(places, (std::vector<std::array<int, 3>>{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {2, 1, 0}}));
  ASSERT_EQ(parts.size(), 4u);
  for (const double part : parts) EXPECT_NEAR(part, 0.25, 1e-6);
}

TEST(ReportFibres, ASegmentWithAnEndThatIsNotFiniteIsNotWalked) {
  walk_segment({0, 0, 0}, {NAN, 1, 0}, [](const std::array<int, 3>&, double) { FAIL(); });
  walk_segment({0, 0, 0}, {HUGE_VAL, 1, 0}, [](const std::array<int, 3>&, double) { FAIL(); });
}

}  // namespace
}  // namespace voxherd::report
