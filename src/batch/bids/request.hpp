#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/options.hpp"
#include "mpi/comm/session.hpp"
#include "src/batch/bids/series.hpp"
#include "src/batch/cohort/manifest.hpp"
#include "src/batch/cohort/run_all.hpp"
#include "src/export/export_record.hpp"

namespace voxherd {

enum class bids_level { participant, group };

/// Words for each analysis, by its number in the list of those that `voxherd bids` computes. Options of a table fill
/// members, so that each number has one.
template <std::size_t Number>
struct analysis_words {
  std::vector<std::string> words;
};
template <class Numbers>
struct all_analysis_words;
template <std::size_t... Number>
struct all_analysis_words<std::index_sequence<Number...>> : analysis_words<Number>... {};
using analysis_numbers = std::make_index_sequence<16>;

/// Options of `voxherd bids`.
struct bids_request : all_analysis_words<analysis_numbers> {
  std::string bids_dir, out_dir;
  bids_level level = bids_level::participant;
  std::vector<std::string> analyses;  ///< in the order in which they are computed
  std::vector<std::string> subjects, sessions, derivatives;
  std::string filter_file, work_dir = "work";
  std::string series;             ///< name or series_id() of the only one; "" for all
  std::vector<std::string> more;  ///< options added to all of them
  std::optional<int> threads_of_all, threads_per_rank;
  std::optional<double> memory_mb;
  std::size_t per_gpu = cohort_run().per_gpu, per_node = cohort_run().per_node;
  bool skip_validation = false, stop_on_first_crash = false, no_tracking = false;
  bool paths = false, half_positions = false;
};

/// Where a request has the words of each analysis, by number. (Inside the class the offsets would not be known.)
template <std::size_t... Number>
auto list_word_members(std::index_sequence<Number...>) {
  using member = std::vector<std::string> bids_request::*;
  return std::array<member, sizeof...(Number)>{static_cast<member>(&analysis_words<Number>::words)...};
}
inline const auto word_members = list_word_members(analysis_numbers());

const option_table<bids_request>& bids_options();

/// The options that the user adds to an analysis.
const std::vector<std::string>& options_of(const bids_request& request, const std::string& analysis);

/// The spellings of other BIDS apps: -w, -d, and _ instead of - in the names of options.
std::vector<std::string> from_bids_app(const std::vector<std::string>& words);

/// One analysis of one series, as a subject of a cohort.
struct bids_step {
  std::string analysis;
  cohort_subject run;
  std::string fibres = {};  ///< file of its streamlines or paths; "" for none
};

/// Whether an analysis is one of dynamic series; the others are of diffusion series.
bool is_dynamic(const std::string& analysis);

/// Whether an analysis is one of this kind of series.
bool applies(const bids_series& series, const std::string& analysis);

/// The user's options of an analysis: its own, and those of all.
std::vector<std::string> user_words(const bids_request& request, const std::string& analysis);

/// The steps of a series, in their order; their results are in the work folder. Throws failure (bad_data) if an
/// analysis needs a file that the series does not have.
std::vector<bids_step> plan_steps(const bids_request& request, const bids_series& series);

/// Options of every step: threads and memory. `ranks_per_node` share the threads of a node.
std::vector<std::string> common_words(const bids_request& request, int ranks_per_node);

/// The result of an analysis of a series.
std::string result_path(const bids_request& request, const bids_series& series, const std::string& analysis);

/// logs/methods/NAME_ANALYSIS.json: the methods of a result, and which derivatives were made from it.
std::string methods_note(const bids_request& request, const bids_series& series, const std::string& analysis);
/// Notes the methods of a step's complete result. For one process.
void note_methods(export_record& record, const bids_series& series, const bids_step& step);
/// Writes logs/CITATION.md: methods, references and data of all results that have been noted. For one process.
void write_citation(const bids_request& request);

/// The file of a subject's page in the folder of derivatives. Throws failure as own_path() does.
std::string subject_page(const bids_request& request, const std::string& subject);
/// Writes that page unless it was made from the results of the subject that are in the work folder now. For one
/// process.
void update_subject_page(const bids_request& request, const std::string& subject);

/// Computes all series on all ranks, one after another, and writes their derivatives. A series that fails does not stop
/// the others. Collective. Throws failure with the first failed series' status if any has failed.
exit_status run_participants(session& s, const bids_request& request, std::vector<bids_series> all);

}  // namespace voxherd
