// The dimensions that the inputs of a model leave open.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/kept.h"
#include "base/keyed_hash.h"
#include "inspect/inspection.h"
#include "inspect/polynomial.h"
#include "inspect/size.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

/// Sizes for named dimensions, or for those without a name by `input[0]`, and values of inputs that are one integer.
using Bindings = base::KeyedMap<std::string_view, std::int64_t>;

/// Gives each open dimension its bound size or a variable. A variable has a range of sizes; conclusions hold within the
/// ranges, and may narrow them. Dimensions of the same name have the same size. Not thread-safe.
class OpenDimensions {
 public:
  enum class Unbound : bool { unknown, variable };

  /// Open dimensions without a binding become `unbound`. Keeps views of the names in the graph and the bindings.
  OpenDimensions(base::Kept<const schema::GraphProto> graph, Bindings bindings, Unbound unbound);

  /// Returns unknown if no input of the graph has the dimension.
  [[nodiscard]] Size size(std::string_view name) const;
  /// Returns the bound value of an input that is one integer.
  [[nodiscard]] std::optional<std::int64_t> value(std::string_view input) const;
  /// Returns the name of a dimension without one: `x[0]`.
  [[nodiscard]] static std::string name_of(std::string_view input, std::size_t axis);
  [[nodiscard]] bool has_bindings() const noexcept { return !bindings_.empty(); }
  [[nodiscard]] bool has_variables() const noexcept { return !variables_.empty(); }

  /// True if `size` is proved to be `least` or more.
  [[nodiscard]] bool is_at_least(const Size& size, std::int64_t least) const;
  /// Makes `is_at_least` true by narrowing the range of a variable, if necessary. Returns false if it cannot.
  [[nodiscard]] bool narrow_to(const Size& size, std::int64_t least);
  /// Makes every dimension that may be negative unknown, and narrows ranges so that polynomials are positive.
  void make_proper(Shape& shape);

  /// Replaces variables by names.
  [[nodiscard]] CostPolynomial with_names(const Polynomial& polynomial) const;

 private:
  [[nodiscard]] std::optional<std::int64_t> lower_bound(const Polynomial& polynomial) const;
  void add(std::string_view name);

  Bindings bindings_;
  std::vector<SizeRange> variables_;
  std::deque<std::string> names_;  // made for dimensions without one
  base::KeyedMap<std::string_view, std::uint32_t> by_name_;
};

}  // namespace onnxar
