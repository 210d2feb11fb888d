#pragma once

#include <string>
#include <vector>

namespace voxherd {

/// One line of a cohort's manifest: what to compute for one subject.
struct cohort_subject {
  std::size_t task = 0;            ///< from 1, in the order of the manifest: SLURM_ARRAY_TASK_ID
  std::size_t line = 0;            ///< line of the manifest, from 1; 0: not from a manifest
  std::string name;                ///< column subject (or participant_id)
  std::string out;                 ///< the result file
  std::vector<std::string> words;  ///< the command and its options, including --out and --resume
};

/// A manifest is text: a line of column names, then one line per subject, cells separated by tabs. Empty lines and
/// lines that begin with # are skipped, but `# template: WORDS` before the column names is a template. `text` is the
/// file's content, `path` its name for messages. `given_template`, "" for none, overrides the file's.
///
/// Columns: subject (or participant_id); command, the subject's command line, unless there is a template; out, the
/// result file, unless the command line has --out or the command chooses the name itself; further columns are values
/// for {NAME} in the template. Throws failure: usage for a wrong template, bad_data with line and column for everything
/// else.
std::vector<cohort_subject> parse_manifest(const std::string& path, const std::string& text,
                                           const std::string& given_template);

}  // namespace voxherd
