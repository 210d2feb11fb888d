#include "core/device_record.hpp"

#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace voxherd {

namespace {

device_record from_sentence(const std::string& text) {
  device_record d;
  if (text.find(" CPU thread") != std::string::npos) {
    std::from_chars(text.data(), text.data() + text.size(), d.threads);
    return d;
  }
  const std::size_t comma = text.rfind(", ");
  d.kind = "cuda";
  d.name = text.substr(0, comma);
  if (comma != std::string::npos) d.uuid = text.substr(comma + 2);
  return d;
}

}  // namespace

std::string describe(const device_record& d) {
  if (d.kind == "cuda") return fmt::format("{}, {}", d.name, d.uuid);
  return fmt::format("{} CPU thread{}", d.threads, d.threads == 1 ? "" : "s");
}

nlohmann::json as_json(const device_record& d) {
  if (d.kind == "cuda") return {{"kind", d.kind}, {"name", d.name}, {"uuid", d.uuid}};
  return {{"kind", d.kind}, {"threads", d.threads}};
}

device_record device_from_json(const nlohmann::json& j) {
  if (j.is_string()) return from_sentence(j.get<std::string>());
  return {j.value("kind", std::string("cpu")), j.value("threads", 0), j.value("name", std::string()),
          j.value("uuid", std::string())};
}

}  // namespace voxherd
