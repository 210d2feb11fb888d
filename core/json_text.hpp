#pragma once

#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace voxherd {

/// JSON that this process did not write itself: of files, attributes of results, requests. Discarded for what is no
/// JSON. Throws failure (bad_data) for more than max_json_levels: printing and comparing call themselves for each
/// level. `name`: of the file, for the message.
nlohmann::json parse_json(std::string_view text, const std::string& name);
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& name);

/// The text of a document, of which all are written here: bytes that are not UTF-8, as in the name of a file, are
/// replaced. `indent`: blanks per level; -1 for one line.
std::string dump_json(const nlohmann::json& value, int indent = -1);
std::string dump_json(const nlohmann::ordered_json& value, int indent = -1);

inline constexpr int max_json_levels = 100;

/// The file whose JSON is used from now on; for the message about JSON that has another form than expected.
void note_json_source(const std::string& name);
/// What is wrong with JSON of another form than expected, without the name of the C++ exception.
std::string json_error_text(const std::exception& error);
/// "subject.h5: its JSON has another form than expected (type must be string, but is number)"
std::string describe_json_error(const std::exception& error);

}  // namespace voxherd
