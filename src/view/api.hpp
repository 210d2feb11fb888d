#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "src/view/connection.hpp"
#include "src/view/page_grid.hpp"
#include "src/view/request_gate.hpp"
#include "src/view/result_details.hpp"
#include "src/view/shown_data.hpp"

namespace voxherd::view {

struct region_entry {
  std::int32_t label;
  std::string name;
};

struct page_regions {
  std::vector<region_entry> list;
  std::optional<label_image> image;  ///< if there is no solver, which has its own

  std::map<std::int32_t, std::string> names() const;
};

/// What the page can ask for; the server sends it as JSON, NIfTI, or a block of JSON and numbers (answers.hpp).
/// For one thread.
class api {
 public:
  /// `solver` null: without connections, and `why_none` says why. `rays`: null unless they can be traced.
  /// `scene`: what the page shows first, or null.
  api(shown_data& data, std::unique_ptr<connection_solver> solver, std::string why_none, page_regions regions,
      std::unique_ptr<ray_panel> rays, std::string device_text, nlohmann::json scene = nullptr);

  /// Never throws. Once `is_replaced()` is true, a solve ends soon with 409.
  http_answer answer(const http_request& request, const std::function<bool()>& is_replaced = {});

 private:
  nlohmann::json describe() const;
  http_answer send_map(std::string_view number) const;
  http_answer send_passable() const;
  http_answer send_regions() const;
  http_answer send_arrivals(std::string_view end) const;
  http_answer solve(const std::string& body, const std::function<bool()>& is_replaced);
  http_answer trace(const std::string& body);
  http_answer save_trx(const std::string& body);
  http_answer send_glyphs(const std::string& body) const;
  http_answer route(const http_request& request, const std::function<bool()>& is_replaced);
  connection_solver& solver() const;
  const label_image* labels() const;  ///< null if there is no parcellation

  shown_data& data_;
  std::unique_ptr<connection_solver> solver_;
  std::string why_none_;
  page_regions regions_;
  std::unique_ptr<ray_panel> rays_;
  std::string device_;
  nlohmann::json scene_;
  page_grid grid_;
  result_details details_;
};

}  // namespace voxherd::view
