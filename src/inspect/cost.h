// An estimate of a model's multiply-adds.
#pragma once

#include <functional>
#include <string_view>
#include <variant>

#include "base/keyed_hash.h"
#include "inspect/open_dimensions.h"
#include "inspect/shapes.h"
#include "inspect/size.h"
#include "onnxar/model/inspect.h"
#include "onnxar/onnx.pb.h"

namespace onnxar {

// How many multiply-adds a node takes, operator by operator.

/// The number of multiply-adds, or the reason why it is unknown.
using Estimate = std::variant<Size, std::string_view>;

/// A node whose output shapes have been inferred.
class Product {
 public:
  Product(const schema::NodeProto& node, const Attributes& attributes, const Values& values)
      : node_(node), attributes_(attributes), values_(values) {}

  [[nodiscard]] const std::optional<Shape>& input(int index) const {
    static const std::optional<Shape> none;
    return index < node_.input_size() ? values_.shape(node_.input(index)) : none;
  }
  [[nodiscard]] const std::optional<Shape>& output() const { return values_.shape(node_.output(0)); }
  [[nodiscard]] const Attributes& attributes() const { return attributes_; }

 private:
  const schema::NodeProto& node_;
  const Attributes& attributes_;
  const Values& values_;
};

using Counter = std::function<Estimate(const Product&)>;

/// The operators that are counted.
const base::KeyedMap<std::string_view, Counter>& counters();

/// Expensive operators that have no estimate. The result lists them, so that a total without them is not taken as
/// complete.
bool is_uncounted(std::string_view op);

/// Whether the domain is one of ONNX.
bool is_standard(std::string_view domain);

/// Whether the operator's cost is negligible, as it is for all standard operators that are not counted or uncounted.
bool is_free(const schema::NodeProto& node);

/// Estimates within the budget for the model's size, for the given sizes of dimensions and values of inputs. Nodes
/// beyond the budget are listed as unknown.
CostEstimate estimate_cost(const schema::ModelProto& model, const Bindings& bindings = {});
/// As above, within a given budget.
CostEstimate estimate_cost(const schema::ModelProto& model, Budget& budget, const Bindings& bindings = {});

}  // namespace onnxar
