#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/members.hpp"

namespace voxherd {

// Turns a value into bytes and back: numbers, texts, vectors, arrays, pairs, tuples, maps, optional values, JSON, and
// types that list their members (core/members.hpp). Anything else, such as a pointer or a class with a pointer, does
// not compile. A type with bit-fields, of which there are no pointers to members, says `bytes_are_value` if it has no
// pointers.

namespace value_bytes_detail {

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class T>
struct array_element : std::false_type {};
template <class T, std::size_t n>
struct array_element<std::array<T, n>> : std::true_type {
  using type = T;
};
template <class T, std::size_t n>
struct array_element<T[n]> : std::true_type {
  using type = T;
};

template <class T>
consteval bool is_flat();

template <class... Pointers>
consteval bool are_flat(const std::tuple<Pointers...>&) {
  return (is_flat<member_type<Pointers>>() && ...);
}

/// Whether the bytes of the object are the value.
template <class T>
consteval bool is_flat() {
  if constexpr (requires { T::bytes_are_value; }) {
    return T::bytes_are_value && std::is_trivially_copyable_v<T>;
  } else if constexpr (array_element<T>::value) {
    return is_flat<typename array_element<T>::type>();
  } else if constexpr (has_members<T>) {
    return std::is_trivially_copyable_v<T> && are_flat(T::members());
  } else {
    return is_number<T>;
  }
}

std::string json_bytes(const nlohmann::json& value);
void read_json_bytes(const std::string& bytes, nlohmann::json& value);

template <class T>
inline constexpr bool is_unknown = false;

}  // namespace value_bytes_detail

/// Collects the bytes of a value. Large arrays are not copied.
class value_writer {
 public:
  static constexpr bool reads = false;

  /// Numbers of bytes from which an array is sent by itself.
  static constexpr std::size_t large_bytes = std::size_t{64} << 10;

  void put(void* data, std::size_t bytes) {
    if (bytes >= large_bytes) {
      large_.push_back({static_cast<std::byte*>(data), bytes});
    } else {
      put_small(data, bytes);
    }
  }
  void put_small(const void* data, std::size_t bytes) { small_.append(static_cast<const char*>(data), bytes); }
  std::size_t count(std::uint64_t n) {
    put(&n, sizeof n);
    return n;
  }

  std::string& small() { return small_; }
  const std::vector<std::span<std::byte>>& large() const { return large_; }

 private:
  std::string small_;
  std::vector<std::span<std::byte>> large_;
};

/// Gives a value the bytes that value_writer collected; large() are the places of the large arrays, in the same order.
class value_reader {
 public:
  static constexpr bool reads = true;

  explicit value_reader(std::string small) : small_(std::move(small)) {}

  void put(void* data, std::size_t bytes) {
    if (bytes >= value_writer::large_bytes) {
      large_.push_back({static_cast<std::byte*>(data), bytes});
    } else {
      put_small(data, bytes);
    }
  }
  void put_small(void* data, std::size_t bytes) {
    std::copy_n(small_.data() + at_, bytes, static_cast<char*>(data));
    at_ += bytes;
  }
  std::size_t count(std::uint64_t) {
    std::uint64_t n = 0;
    put(&n, sizeof n);
    return n;
  }

  const std::vector<std::span<std::byte>>& large() const { return large_; }

 private:
  std::string small_;
  std::size_t at_ = 0;
  std::vector<std::span<std::byte>> large_;
};

template <class Bytes, class T>
void put_value(Bytes& bytes, T& value);

template <class Bytes>
void put_value(Bytes& bytes, std::string& text) {
  text.resize(bytes.count(text.size()));
  bytes.put(text.data(), text.size());
}

template <class Bytes, class T>
void put_value(Bytes& bytes, std::vector<T>& values) {
  static_assert(!std::is_same_v<T, bool>, "its elements have no addresses; use std::uint8_t");
  values.resize(bytes.count(values.size()));
  if constexpr (value_bytes_detail::is_flat<T>()) {
    bytes.put(values.data(), values.size() * sizeof(T));
  } else {
    for (T& value : values) put_value(bytes, value);
  }
}

template <class Bytes, class T>
void put_value(Bytes& bytes, std::optional<T>& value) {
  const bool has_value = bytes.count(value.has_value() ? 1 : 0) == 1;
  if (!has_value) return value.reset();
  if (!value) value.emplace();
  put_value(bytes, *value);
}

template <class Bytes, class A, class B>
void put_value(Bytes& bytes, std::pair<A, B>& value) {
  put_value(bytes, value.first);
  put_value(bytes, value.second);
}

/// Also of references, as std::tie() makes them.
template <class Bytes, class... T>
void put_value(Bytes& bytes, std::tuple<T...>& values) {
  std::apply([&](auto&... each) { (put_value(bytes, each), ...); }, values);
}

template <class Bytes, class Key, class T>
void put_value(Bytes& bytes, std::map<Key, T>& values) {
  const std::size_t n = bytes.count(values.size());
  if constexpr (Bytes::reads) {
    values.clear();
    for (std::size_t i = 0; i < n; ++i) {
      Key key{};
      put_value(bytes, key);
      put_value(bytes, values[key]);
    }
  } else {
    for (auto& [key, value] : values) {
      Key copy = key;
      put_value(bytes, copy);
      put_value(bytes, value);
    }
  }
}

/// As CBOR, which unlike text may have names in any encoding.
template <class Bytes>
void put_value(Bytes& bytes, nlohmann::json& value) {
  std::string cbor;
  if constexpr (!Bytes::reads) cbor = value_bytes_detail::json_bytes(value);
  cbor.resize(bytes.count(cbor.size()));
  bytes.put_small(cbor.data(), cbor.size());
  if constexpr (Bytes::reads) value_bytes_detail::read_json_bytes(cbor, value);
}

template <class Bytes, class T>
void put_value(Bytes& bytes, T& value) {
  if constexpr (value_bytes_detail::is_flat<T>()) {
    bytes.put(&value, sizeof value);
  } else if constexpr (has_members<T>) {
    std::apply([&](auto... member) { (put_value(bytes, value.*member), ...); }, T::members());
  } else if constexpr (value_bytes_detail::array_element<T>::value) {
    for (auto& one : value) put_value(bytes, one);
  } else {
    static_assert(value_bytes_detail::is_unknown<T>, "list the members of this type; see core/members.hpp");
  }
  if constexpr (has_members<T>) static_assert(lists_all_members<T>(), "members() of this type lacks a member");
}

}  // namespace voxherd
