#include "core/escape.hpp"

#include <gtest/gtest.h>

#include "core/failure.hpp"
#include "core/plain_text.hpp"
#include "core/text.hpp"
#include "core/utf8.hpp"

namespace voxherd {
namespace {

TEST(Escape, InvalidUtf8IsFoundWhereItBegins) {
  for (const char* text : {"", "plain", "\xc3\xa9", "\xe6\xbc\xa2", "\xf0\x9f\xa7\xa0", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(find_invalid_utf8(text), std::string_view::npos) << text;
  // Latin-1, a long form, a surrogate, beyond Unicode, cut off, a continuation without a beginning.
  for (const char* text : {"ab\xe9zz", "ab\xc0\xaf", "ab\xed\xa0\x80", "ab\xf4\x90\x80\x80", "ab\xe6\xbc", "ab\x80"})
    EXPECT_EQ(find_invalid_utf8(text), 2u) << one_line(text);
  EXPECT_EQ(valid_utf8("r\xe9gion"), "r\uFFFDgion");
  EXPECT_EQ(valid_utf8("r\xc3\xa9gion"), "r\xc3\xa9gion");
}

TEST(Escape, AMessageIsOneLineOfUtf8) {
  EXPECT_EQ(one_line("a\nb\tc\x1b[31m"), "a\\x0ab\\x09c\\x1b[31m");
  EXPECT_EQ(one_line("\xe9t\xe9 \xc3\xa9"), "\\xe9t\\xe9 \xc3\xa9");
}

TEST(Escape, AShellCommentIsOneLine) {
  EXPECT_EQ(shell_comment("samples\ntouch INJECTED\n#"), "# samples\\x0atouch INJECTED\\x0a#");
}

TEST(Escape, CellsAreOneLineAndNoFormulas) {
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_cell("a\nb\tc\r"), "a b c");
  EXPECT_EQ(tsv_cell("a\nb\tc,d"), "a b c,d");
  EXPECT_EQ(tsv_cell("\"x\" y"), "\"\"\"x\"\" y\"");
  EXPECT_EQ(bids_cell(" \t "), "n/a");
  for (const char* name : {"=1+1", "@SUM(1)", "-dash", "+plus", "=", "\t=1+1"}) {
    const std::string trimmed = plain_name(name);
    EXPECT_EQ(csv_cell(name), "'" + trimmed);
    EXPECT_EQ(tsv_cell(name), "'" + trimmed);
    EXPECT_EQ(bids_cell(name), trimmed);
    EXPECT_EQ(text_of_cell(tsv_cell(name)), trimmed);
  }
  for (const char* name : {"-1.5", "+3", "-inf", "1e-5", "-1e400", "'quoted'", "'"}) {
    EXPECT_EQ(csv_cell(name), name);
    EXPECT_EQ(text_of_cell(tsv_cell(name)), name);
  }
}

TEST(Escape, MarkdownHasNoMarkupOfNames) {
  EXPECT_EQ(markdown_text("<script>&lt;&#9;"), "&lt;script&gt;&amp;lt;&amp;\\#9;");
  EXPECT_EQ(markdown_text("ball & stick"), "ball & stick");
  EXPECT_EQ(markdown_text("[x](y) *b* `c` _d_\n# e"), "\\[x\\](y) \\*b\\* \\`c\\` \\_d\\_ \\# e");
  EXPECT_EQ(markdown_text("sub-01_ses-1 https://doi.org/10.1007/978_94"),
            "sub-01_ses-1 https://doi.org/10.1007/978_94");
  EXPECT_EQ(markdown_text("- item"), "\\- item");
}

TEST(Escape, MarkupIsEscapedAndControlCharactersAreReplaced) {
  EXPECT_EQ(html_text("<a b=\"c\" d='e'>&\x01\n"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\uFFFD\n");
  EXPECT_EQ(xml_text("<a b=\"c\">&\x01\n\xef\xbf\xbf"), "&lt;a b=&quot;c&quot;&gt;&amp;  \uFFFD");
  EXPECT_EQ(xml_text("\xe9"), "\uFFFD");
}

TEST(Escape, ATextThatMustBeUtf8IsRefusedWithItsLineAndPlace) {
  require_utf8("7 A\n8 \xc3\xa9\n", "names.txt", "names");
  try {
    require_utf8(
        "7 A\n8 Gyrus pr\xe9"
        "central\n9 B\n",
        "names.txt", "names");
    FAIL() << "accepted";
  } catch (const failure& f) {
    EXPECT_EQ(f.status, exit_status::bad_data);
    EXPECT_STREQ(f.what(),
                 "names.txt: line 2: \"8 Gyrus pr\\xe9"
                 "central\" is not in UTF-8, expected names in UTF-8; convert it, for "
                 "example with iconv -f LATIN1 -t UTF-8 FILE");
  }
}

}  // namespace
}  // namespace voxherd
