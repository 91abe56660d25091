// Makes the compiler refuse a temporary as the argument of a parameter that is kept.
#pragma once

#include <concepts>
#include <functional>
#include <ranges>
#include <type_traits>
#include <utility>

#include "onnxar/bytes.h"

namespace onnxar::base {

/// A view that cannot be made from a temporary that owns the elements.
template <typename View>
class KeptView : public View {
 public:
  KeptView() = default;
  template <typename T>
    requires std::convertible_to<T, View> && (!TemporaryContainer<T>)
  KeptView(T&& viewed) : View(std::forward<T>(viewed)) {}  // NOLINT(google-explicit-constructor): stands for the view
};

/// The type of a parameter that is kept: a reference (`Kept<const Archive>`) or a view (`Kept<Bytes>`) which the new
/// object, or the result, uses as long as it lives. The caller keeps what it refers to alive and does not move it.
/// Takes no temporary, nor what a conversion would make into one. Costs what a reference or view costs.
template <typename T>
using Kept = std::conditional_t<std::ranges::enable_borrowed_range<T>, KeptView<T>, std::reference_wrapper<T>>;

}  // namespace onnxar::base
