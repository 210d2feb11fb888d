// Changes a result as somebody would who knows the format: a value of a dataset, a part of a text, a name, the image;
// then stores the checksums of what is in the file now. Other bytes change as libFuzzer wants, without new checksums.
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "mpi/result/checksums.hpp"
#include "mpi/result/result_reader.hpp"
#include "mpi/result/rows.hpp"
#include "mpi/result/table_checksum.hpp"
#include "tests/fuzz/targets/input.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace voxherd::fuzz {

namespace {

using chance = std::minstd_rand;
using nlohmann::json;

std::size_t draw(chance& c, std::size_t below) { return below == 0 ? 0 : c() % below; }

/// Another value of a dataset's element, of `bytes` bytes.
void change_bytes(chance& c, std::vector<std::uint8_t>& values, std::size_t at, std::size_t bytes) {
  constexpr double reals[] = {-1, 0, 0.5, 1, 2, 1e18, -1e300, 4294967296., 65536, HUGE_VAL, 1e-300};
  constexpr std::uint64_t numbers[] = {0, 1, 2, 255, 65536, 0x7fffffff, 0xffffffff, 1ULL << 32, 1ULL << 62, ~0ULL};
  std::uint64_t number = numbers[draw(c, std::size(numbers))];
  double real = reals[draw(c, std::size(reals))];
  if (draw(c, 8) == 0) real = std::numeric_limits<double>::quiet_NaN();
  const auto narrow = static_cast<float>(real);
  switch (draw(c, 4)) {
    case 0:
      std::memcpy(&values[at], &number, std::min<std::size_t>(bytes, sizeof number));
      break;
    case 1:
      bytes == 4 ? std::memcpy(&values[at], &narrow, 4)
                 : std::memcpy(&values[at], &real, std::min<std::size_t>(bytes, sizeof real));
      break;
    case 2:
      std::memmove(&values[at], &values[draw(c, values.size() / bytes) * bytes], bytes);
      break;
    default:
      values[at + draw(c, bytes)] += static_cast<std::uint8_t>(1 + draw(c, 255));
  }
}

void change_value(chance& c, hid_t file) {
  const std::vector<std::string> names = hdf5::dataset_paths(file);
  const std::string& name = names.at(draw(c, names.size()));
  const hdf5::handle dataset = hdf5::open_dataset(file, name), type(H5Dget_type(dataset), H5Tclose, name);
  const std::size_t bytes = H5Tget_size(type), count = hdf5::count_values(file, dataset, name);
  if (count == 0 || bytes > 4096) return;
  std::vector<std::uint8_t> values(count * bytes);
  hdf5::checked(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
  for (std::size_t n = 1 + draw(c, 2); n > 0; --n) change_bytes(c, values, draw(c, count) * bytes, bytes);
  hdf5::checked(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
}

/// A part of the value, chosen level by level.
json* find_part(chance& c, json& value) {
  json* at = &value;
  while (at->is_structured() && !at->empty() && draw(c, 6) != 0)
    at = &*std::next(at->begin(), static_cast<std::ptrdiff_t>(draw(c, at->size())));
  return at;
}

void change_text(chance& c, hid_t file) {
  constexpr const char* texts[] = {"contents", "contents", "configuration", "provenance", "analysis"};
  const std::string name = texts[draw(c, std::size(texts))];
  json value = json::parse(hdf5::read_text_attribute(file, name), nullptr, false);
  const json others[] = {nullptr,
                         -1,
                         0,
                         1,
                         7,
                         "../../x",
                         "",
                         "a/b",
                         ".",
                         "x",
                         1e300,
                         18446744073709551615ULL,
                         json::array(),
                         json::object(),
                         true,
                         json::array({3}),
                         json::array({0}),
                         json::array({1ULL << 40}),
                         *find_part(c, value)};
  json& part = *find_part(c, value);
  if (part.is_object() && !part.empty() && draw(c, 2) == 0) {
    part.erase(std::next(part.begin(), static_cast<std::ptrdiff_t>(draw(c, part.size()))));
  } else {
    part = others[draw(c, std::size(others))];
  }
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  H5Adelete(file, name.c_str());
  hdf5::write_attribute(file, name, text);
}

void change_image(chance& c, hid_t file) {
  const hdf5::handle image = hdf5::open_group(file, "image");
  std::uint64_t size[3];
  hdf5::read_attribute(image, "size", H5T_STD_U64LE, 3, size);
  constexpr std::uint64_t numbers[] = {0, 1, 2, 5, 6, 30, 1000, 1ULL << 20, 1ULL << 40};
  size[draw(c, 3)] = numbers[draw(c, std::size(numbers))];
  constexpr std::uint64_t three[] = {3};
  H5Adelete(image, "size");
  hdf5::write_attribute(image, "size", H5T_STD_U64LE, three, size);
}

/// One dataset in the place of another, or none.
void change_name(chance& c, hid_t file) {
  const std::vector<std::string> names = hdf5::dataset_paths(file);
  const std::string from = names.at(draw(c, names.size())), to = names.at(draw(c, names.size()));
  if (from == to) return;
  H5Ldelete(file, to.c_str(), H5P_DEFAULT);
  if (draw(c, 3) == 0) return;
  draw(c, 3) == 0 ? H5Lcreate_soft(from.c_str(), file, to.c_str(), H5P_DEFAULT, H5P_DEFAULT)
                  : H5Lcreate_hard(file, from.c_str(), file, to.c_str(), H5P_DEFAULT, H5P_DEFAULT);
}

void store_dataset_checksums(hid_t file) {
  for (const std::string& name : hdf5::dataset_paths(file)) {
    const hdf5::handle dataset = hdf5::open_dataset(file, name);
    if (H5Aexists(dataset, checksum_name) > 0) update_checksum(dataset, name);
  }
  const std::uint64_t texts = text_checksum(file);
  const hdf5::handle a(H5Aopen(file, text_checksum_name, H5P_DEFAULT), H5Aclose, "text checksum");
  H5Awrite(a, H5T_STD_U64LE, &texts);
}

/// The journal's, if the file can still be read.
void store_batch_checksums(const std::string& path) {
  std::vector<journal_entry> journal;
  {
    const result_reader reader(path, result_reader::checksums::ignored);
    journal = reader.journal();
    for (const batch& b : reader.batches()) journal[b.number].checksum = reader.compute_checksum(b);
  }
  change_tables(path, [&](hid_t file) {
    const hdf5::handle dataset = hdf5::open_dataset(file, journal_path);
    H5Dwrite(dataset, hdf5::journal_type(), H5S_ALL, H5S_ALL, H5P_DEFAULT, journal.data());
    update_checksum(dataset, journal_path);
  });
}

void change_file(chance& c, const std::string& path) {
  check_tables(path);  // HDF5 does not survive damaged tables
  change_tables(path, [&](hid_t file) {
    const std::size_t kind = draw(c, 20);
    kind < 11   ? change_value(c, file)
    : kind < 17 ? change_text(c, file)
    : kind < 18 ? change_image(c, file)
                : change_name(c, file);
    store_dataset_checksums(file);
  });
  store_batch_checksums(path);
}

}  // namespace

}  // namespace voxherd::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace voxherd;
  fuzz::chance c(seed + 1);
  if (fuzz::draw(c, 30) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const fuzz::input changed(fuzz::as_text(data, size), "_mutated");
  try {
    fuzz::change_file(c, changed.path());
  } catch (const failure&) {  // it could be changed, but not be read any more
  } catch (const nlohmann::json::exception&) {
  }
  std::ifstream file(changed.path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty() || bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
