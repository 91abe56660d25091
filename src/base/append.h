// Joins lists.
#pragma once

#include <iterator>
#include <vector>

namespace onnxar::base {

/// Moves the elements of `more` to the end of `list`.
template <typename T>
void append_all(std::vector<T>& list, std::vector<T> more) {
  list.insert(list.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
}

}  // namespace onnxar::base
