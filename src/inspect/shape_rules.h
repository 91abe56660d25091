// Rules that infer the shapes of an operator's outputs from its inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/kept.h"
#include "base/keyed_hash.h"
#include "inspect/shapes.h"

namespace onnxar::shape_rules {

using Integers = std::vector<std::int64_t>;
using Sizes = std::vector<Size>;

/// The largest number in the computation of slices: a sum or product of two such numbers cannot overflow.
inline constexpr std::int64_t largest_dim = 1LL << 30U;

/// Returns the sizes as numbers; empty if one of them is not a number.
std::optional<Integers> numbers_of(const std::optional<Sizes>& sizes);

/// A node and the known values of its inputs.
class Call {
 public:
  Call(const Attributes& attributes, base::Kept<const Values> values) : attributes_(attributes), values_(values) {}

  [[nodiscard]] const KnownValue& input(int index) const {
    static const KnownValue nothing;
    return index < node().input_size() ? values_.at(node().input(index)) : nothing;
  }
  [[nodiscard]] const std::optional<Shape>& shape(int index) const { return input(index).shape; }
  /// Returns the shape of the first output, after it was inferred.
  [[nodiscard]] const std::optional<Shape>& result() const { return values_.at(node().output(0)).shape; }
  [[nodiscard]] bool has(int index) const { return index < node().input_size() && !node().input(index).empty(); }
  [[nodiscard]] int inputs() const { return node().input_size(); }
  [[nodiscard]] int outputs() const { return node().output_size(); }
  [[nodiscard]] const Attributes& attributes() const { return attributes_; }

  [[nodiscard]] OpenDimensions& open() const { return values_.open(); }

  /// Returns a parameter such as the ends of a slice, which is an attribute in older operator sets and an input in
  /// newer ones.
  [[nodiscard]] std::optional<Sizes> sizes(std::string_view attribute, int index) const {
    if (const auto values = attributes_.integers(attribute)) return Sizes(values->begin(), values->end());
    return has(index) ? input(index).integers : std::nullopt;
  }
  /// Returns parameters such as axes. Empty if one is not a number.
  [[nodiscard]] std::optional<Integers> integers(std::string_view attribute, int index) const {
    if (auto values = attributes_.integers(attribute)) return values;
    return has(index) ? numbers_of(input(index).integers) : std::nullopt;
  }

 private:
  [[nodiscard]] const schema::NodeProto& node() const { return attributes_.node(); }

  Attributes attributes_;
  const Values& values_;
};

using Known = std::vector<KnownValue>;
using Rule = std::function<Known(const Call&)>;
using Rules = base::KeyedMap<std::string_view, Rule>;

inline Known one(std::optional<Shape> shape) { return {{std::move(shape), std::nullopt}}; }

/// Returns the index of an axis, which may count from the end. Empty if it is out of range.
std::optional<std::size_t> place(std::int64_t axis, std::size_t rank);

// Add the rules of the sources shapes_of_*.cc.
void add_layers(Rules& rules);
void add_parts(Rules& rules);
void add_arithmetic(Rules& rules);

}  // namespace onnxar::shape_rules
