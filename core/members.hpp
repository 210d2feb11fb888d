#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace voxherd {

/// A type that lists its members once, for everything that goes through a value member by member, such as sending it to
/// other ranks:
///   static constexpr auto members() { return std::tuple(&T::first, &T::second); }
template <class T>
concept has_members = requires {
  T::members();
};

namespace members_detail {

/// Initializes a member of any type; never called.
struct any_value {
  template <class T>
  operator T&() const&;
  template <class T>
  operator T&&() const&&;
};

template <class T, class... Values>
consteval std::size_t count_values() {
  if constexpr (requires { T{Values{}..., any_value{}}; }) {
    return count_values<T, Values..., any_value>();
  } else {
    return sizeof...(Values);
  }
}

/// A built-in array is initialized element by element.
template <class T>
consteval std::size_t values_of() {
  if constexpr (std::is_array_v<T>) {
    return std::extent_v<T> * values_of<std::remove_extent_t<T>>();
  } else {
    return 1;
  }
}

template <class Pointer>
struct member;
template <class T, class Class>
struct member<T Class::*> {
  using type = T;
};

template <class... Pointers>
consteval std::size_t listed_values(const std::tuple<Pointers...>&) {
  return (values_of<typename member<Pointers>::type>() + ... + 0);
}

}  // namespace members_detail

/// The type of the member that a pointer of members() points to.
template <class Pointer>
using member_type = typename members_detail::member<Pointer>::type;

/// Whether members() of an aggregate lists as many members as there are: false if one was added and forgotten there.
template <has_members T>
consteval bool lists_all_members() {
  if constexpr (std::is_aggregate_v<T>) {
    return members_detail::listed_values(T::members()) == members_detail::count_values<T>();
  } else {
    return true;
  }
}

}  // namespace voxherd
