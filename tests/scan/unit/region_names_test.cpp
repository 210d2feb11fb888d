#include "src/scan/region_names.hpp"

#include <gtest/gtest.h>

#include "core/failure.hpp"
#include "tests/io/support/crafted_nifti.hpp"

namespace voxherd {
namespace {

using name_list = std::vector<std::string>;

class RegionNames : public ::testing::Test {
 protected:
  name_list read(const std::string& text, const std::vector<std::int32_t>& known) {
    testing::write_file(folder_ / "names", text);
    return read_region_names(folder_ / "names", known);
  }
  std::string refusal(const std::string& text, const std::vector<std::int32_t>& known) {
    try {
      (void)read(text, known);
    } catch (const failure& f) {
      EXPECT_EQ(f.status, exit_status::bad_data);
      return f.what();
    }
    return "accepted";
  }
  testing::scratch_folder folder_;
};

TEST_F(RegionNames, OfItkSnapAreBehindTheColours) {
  EXPECT_EQ(read("################\n# ITK-SnAP Label Description File\n"
                 "    0     0    0    0        0  0  0    \"Clear Label\"\n"
                 "    2   255    0    0        1  1  1    \"Left thalamus\"\n"
                 "    5    20  255    0      0.5  1  1    \"Corpus callosum\"\n"
                 "    9    30    0  255        1  1  1    \"VPL 2\"\n",
                 {2, 5, 9}),
            (name_list{"Left thalamus", "Corpus callosum", "VPL 2"}));
}

TEST_F(RegionNames, OfFslEyesAreBehindTheColours) {
  EXPECT_EQ(read("1 0.10000 0.20000 1 Left thalamus\n2 0.5 0.5 0 B\n", {1, 2}), (name_list{"Left thalamus", "B"}));
}

TEST_F(RegionNames, OfFreeSurferAndMrtrixAreBeforeTheColours) {
  EXPECT_EQ(read("#No. Label Name:      R   G   B   A\n17 Left-Hippocampus 220 216 20 0\n", {17}),
            (name_list{"Left-Hippocampus"}));
  EXPECT_EQ(read("1 L.BSTS ctx-lh-bankssts 25 5 25 255\n2 L.CACG ctx-lh-caudal 125 100 160 255\n", {1, 2}),
            (name_list{"L.BSTS", "L.CACG"}));
  EXPECT_EQ(read("3 Left thalamus proper 25 5 25 255\n", {3}), (name_list{"Left thalamus proper"}));
}

TEST_F(RegionNames, OfAALAreBeforeTheLabel) {
  EXPECT_EQ(read("FAG\tPrecentral_L\t2001\nFAD\tPrecentral_R\t2002\n", {2001, 2002}),
            (name_list{"Precentral_L", "Precentral_R"}));
  EXPECT_EQ(read("FAG Precentral_L 2001\nFAD Precentral_R 2002\n", {2002}), (name_list{"Precentral_R"}));
  EXPECT_EQ(read("1 Precentral_L 2001\n2 Precentral_R 2002\n", {1, 2}), (name_list{"Precentral_L", "Precentral_R"}));
  EXPECT_EQ(read("Left thalamus\t10\nRight thalamus\t49\n", {49}), (name_list{"Right thalamus"}));
  // A name with a blank is no short name and a name.
  EXPECT_NE(refusal("Left Thalamus 10\nLeft Caudate 11\n", {10}).find("expected a label and a name"),
            std::string::npos);
}

TEST_F(RegionNames, OfWorkbenchAreInLinesOfTheirOwn) {
  EXPECT_EQ(read("L_V1_ROI\n1 255 0 0 255\nRight area 17\n181 0 30 255 255\n", {1, 181}),
            (name_list{"L_V1_ROI", "Right area 17"}));
}

TEST_F(RegionNames, AreFoundByTheHeaderInAnyOrder) {
  EXPECT_EQ(read("index,name,R,G,B\n3,A,1,2,3\n", {3}), (name_list{"A"}));
  EXPECT_EQ(read("acronym,ID,Name,structure_id_path\nVPL,718,\"Ventral, lateral\",/997/718/\n"
                 "x,312782546,Visual area,/997/\n",
                 {718, 312782546}),
            (name_list{"Ventral, lateral", "Visual area"}));
  EXPECT_EQ(read("R;G;B;Region name;Label ID\n1;2;3;Left thalamus;7\n", {7}), (name_list{"Left thalamus"}));
  EXPECT_EQ(read("index\tlabel\tname\n1\t20\tA\n2\t10\tB\n", {10, 20}), (name_list{"B", "A"}));
  EXPECT_EQ(read("index\tlabel\n1\tA\n2\tB\n", {1, 2}), (name_list{"A", "B"}));
  EXPECT_EQ(read("label,region\n1,A\n2,B\n", {1, 2}), (name_list{"A", "B"}));
  EXPECT_EQ(read("label name\n1 Left thalamus\n", {1}), (name_list{"Left thalamus"}));
}

TEST_F(RegionNames, AreNotGuessedFromNumbers) {
  // nodes.tsv without names: its labels are no names of the rows' numbers.
  EXPECT_NE(refusal("index\tlabel\n1\t2\n2\t5\n", {1, 2}).find("line 2"), std::string::npos);
  EXPECT_NE(refusal("1 255 0 0 255\n2 0 255 0 255\n", {1, 2}).find("expected a label and a name"), std::string::npos);
  EXPECT_NE(refusal("index,name,Name\n1,A,B\n", {1}).find("columns 2 and 3 are both named Name"), std::string::npos);
  EXPECT_NE(refusal("index,colour\n1,A\n", {1}).find("line 1"), std::string::npos);
}

TEST_F(RegionNames, MayEndInANumber) {
  EXPECT_EQ(read("3 Left area 17\n4 Left area 18\n", {3, 4}), (name_list{"Left area 17", "Left area 18"}));
}

TEST_F(RegionNames, AreReadWithAByteOrderMarkAndLineEndsOfWindows) {
  EXPECT_EQ(read("\xef\xbb\xbfindex\tname\r\n1\tA\r\n2\tB\r\n", {1, 2}), (name_list{"A", "B"}));
  EXPECT_EQ(read(std::string("\xef\xbb\xbf") + "1 A\r\n2 B", {1, 2}), (name_list{"A", "B"}));
}

TEST_F(RegionNames, AreFoundBehindEmptyCells) {
  EXPECT_EQ(read("\tindex\tname\n0\t5\tA\n1\t7\tB\n", {5, 7}), (name_list{"A", "B"}));
  EXPECT_EQ(read("parent_id\tid\tname\n\t1\tRoot\n1\t2\tB\n", {1, 2}), (name_list{"Root", "B"}));
}

TEST_F(RegionNames, InLinesWithMoreCellsThanNamesAreRefused) {
  for (const char* text : {"\"label\"\t\"name\"\n\"1\"\t5\t\"C\"\n\"2\"\t3\t\"D\"\n", "label,name\n1,5,C\n2,3,D\n",
                           "label name\n1 5 C\n2 3 D\n"})
    EXPECT_NE(refusal(text, {1, 2}).find("line 2"), std::string::npos) << text << refusal(text, {1, 2});
}

TEST_F(RegionNames, KeepRowsOfRegionsThatFewImagesLack) {
  testing::write_file(folder_ / "names", "1 A\n2 B\n5 C\n7 D\n");
  label_image image;
  image.values = {1, 5, 7}, image.voxel_count = {10, 50, 70};
  keep_named_regions(folder_ / "names", {}, image);
  EXPECT_EQ(image.values, (std::vector<std::int32_t>{1, 2, 5, 7}));
  EXPECT_EQ(image.voxel_count, (std::vector<std::uint64_t>{10, 0, 50, 70}));
}

TEST_F(RegionNames, OfAllLabelsOfAProgramKeepNoRows) {
  testing::write_file(folder_ / "names", "1 A\n2 B\n5 C\n7 D\n");
  label_image image;
  image.values = {5}, image.voxel_count = {50};
  keep_named_regions(folder_ / "names", {}, image);
  EXPECT_EQ(image.values, (std::vector<std::int32_t>{5}));
}

TEST_F(RegionNames, TwiceForOneLabelAreRefusedWithBothLinesIfTheyDiffer) {
  EXPECT_EQ(read("1 A\n2 B\n1 A\n", {1, 2}), (name_list{"A", "B"}));
  EXPECT_EQ(read("1 A\n9 C\n9 D\n", {1}), (name_list{"A"}));  // a label of other parcellations
  const std::string message = refusal("1 A\n2 B\n1 C\n", {1, 2});
  EXPECT_NE(message.find("line 3: label 1 already has a name, A in line 1, not C"), std::string::npos) << message;
}

TEST_F(RegionNames, OfExportedTablesAreAsTheyWere) {
  EXPECT_EQ(
      read("index\tlabel\tname\n1\t7\t'=cmd|x\n2\t8\t'-dash\n3\t9\t-1.5\n4\t10\t\"\"\"x\"\" y\"\n", {7, 8, 9, 10}),
      (name_list{"=cmd|x", "-dash", "-1.5", "\"x\" y"}));
  EXPECT_EQ(read("7,\"say \"\"a,b\"\"\"\n8,'quoted'\n", {7, 8}), (name_list{"say \"a,b\"", "'quoted'"}));
}

TEST_F(RegionNames, AreUtf8) {
  EXPECT_EQ(read("7 Gyrus pr\xc3\xa9"
                 "central\n",
                 {7}),
            (name_list{"Gyrus pr\xc3\xa9"
                       "central"}));
  EXPECT_NE(refusal("6 A\n7 Gyrus pr\xe9"
                    "central\n",
                    {7})
                .find("names: line 2: \"7 Gyrus pr\\xe9"
                      "central\" is not in UTF-8, expected"),
            std::string::npos);
}

TEST_F(RegionNames, AreListedWithoutLabels) {
  testing::write_file(folder_ / "names", "index\tname\n2\tWM\n1\tGM\n2\tCSF\n");
  EXPECT_EQ(list_region_names(folder_ / "names"), (name_list{"GM", "WM", "CSF"}));
}

}  // namespace
}  // namespace voxherd
