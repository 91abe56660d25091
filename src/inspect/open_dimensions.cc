// Keeps the dimensions that the inputs of a model leave open, with their names and values.
#include "inspect/open_dimensions.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <set>
#include <utility>

#include "base/checked.h"
#include "base/kept.h"
#include "base/text.h"

namespace onnxar {
namespace {

using base::CheckedInt;

/// Dimensions with longer names stay unknown: a polynomial repeats a name in many terms.
constexpr std::size_t longest_name = 256;

/// `polynomial`, in which each variable is counted from the start of its range.
std::optional<Polynomial> counted_from(const std::vector<SizeRange>& variables, const Polynomial& polynomial) {
  Polynomial sum;
  for (const auto& [factors, coefficient] : polynomial) {
    std::optional<Polynomial> term = Polynomial{{Monomial(), coefficient}};
    for (const std::uint32_t variable : factors) {
      const Polynomial shifted = {{Monomial{variable}, 1}, {Monomial(), variables[variable].least}};
      term = term ? product_of(*term, shifted) : std::nullopt;
    }
    if (!term || !add_multiple(sum, *term, 1)) return std::nullopt;
  }
  return sum;
}

/// a * x + b, if the polynomial has this form.
struct Line {
  std::uint32_t variable = 0;
  std::int64_t slope = 0, constant = 0;
};

std::optional<Line> line_of(const Polynomial& polynomial) {
  Line line;
  for (const auto& [factors, coefficient] : polynomial) {
    if (factors.size() > 1 || line.slope != 0) return std::nullopt;  // the constant comes first
    if (factors.empty()) {
      line.constant = coefficient;
    } else {
      line = {factors.front(), coefficient, line.constant};
    }
  }
  return line.slope == 0 ? std::nullopt : std::optional(line);
}

}  // namespace

OpenDimensions::OpenDimensions(base::Kept<const schema::GraphProto> graph, Bindings bindings, Unbound unbound)
    : bindings_(std::move(bindings)) {
  if (unbound == Unbound::unknown) return;
  for (const auto& input : graph.get().input()) {
    if (input.type().tensor_type().shape().dim_size() > static_cast<int>(most_values) ||
        input.name().size() > longest_name)
      continue;
    std::size_t axis = 0;
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      if (!dim.has_dim_value()) {
        add(!dim.dim_param().empty() ? std::string_view(dim.dim_param())
                                     : names_.emplace_back(name_of(input.name(), axis)));
      }
      ++axis;
    }
  }
}

void OpenDimensions::add(std::string_view name) {
  if (bindings_.contains(name) || name.size() > longest_name) return;
  if (by_name_.try_emplace(name, static_cast<std::uint32_t>(variables_.size())).second) {
    variables_.push_back({std::string(name)});
  }
}

std::string OpenDimensions::name_of(std::string_view input, std::size_t axis) {
  return base::concat(input, "[", axis, "]");
}

Size OpenDimensions::size(std::string_view name) const {
  if (const auto bound = bindings_.find(name); bound != bindings_.end()) return bound->second;
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? Size() : Size::of_variable(found->second);
}

std::optional<std::int64_t> OpenDimensions::value(std::string_view input) const {
  const auto found = bindings_.find(input);
  return found == bindings_.end() ? std::nullopt : std::optional(found->second);
}

/// Ignores positive terms: each variable, counted from the start of its range, is 0 or more, so only negative terms go
/// below the constant.
std::optional<std::int64_t> OpenDimensions::lower_bound(const Polynomial& polynomial) const {
  const auto counted = counted_from(variables_, polynomial);
  if (!counted) return std::nullopt;
  CheckedInt bound = 0;
  for (const auto& [factors, coefficient] : *counted) {
    if (coefficient > 0 && !factors.empty()) continue;
    CheckedInt least = coefficient;
    for (const std::uint32_t variable : factors) {
      least = least * (CheckedInt(variables_[variable].most) - variables_[variable].least);
    }
    bound = bound + least;
  }
  return bound.value();
}

bool OpenDimensions::is_at_least(const Size& size, std::int64_t least) const {
  if (const auto number = size.number()) return *number >= least;
  const auto bound = size.is_known() ? lower_bound(size.polynomial()) : std::nullopt;
  return bound && *bound >= least;
}

bool OpenDimensions::narrow_to(const Size& size, std::int64_t least) {
  if (is_at_least(size, least)) return true;
  const auto line = size.is_open() ? line_of((size - least).polynomial()) : std::nullopt;
  if (!line || std::min(line->slope, line->constant) == std::numeric_limits<std::int64_t>::min()) return false;
  SizeRange narrowed = variables_[line->variable];
  if (line->slope > 0) {  // a * x + b >= 0 is x >= -b / a, rounded up
    narrowed.least =
        std::max(narrowed.least, -line->constant / line->slope + (-line->constant % line->slope > 0 ? 1 : 0));
  } else {  // x <= b / -a, rounded down, where b is positive if there is such an x
    narrowed.most = std::min(narrowed.most, line->constant < 0 ? 0 : line->constant / -line->slope);
  }
  if (narrowed.least > narrowed.most) return false;
  variables_[line->variable] = narrowed;
  return true;
}

void OpenDimensions::make_proper(Shape& shape) {
  for (Size& dim : shape) {
    if (!(dim.is_open() ? narrow_to(dim, 1) : is_at_least(dim, 0))) dim = Size();
  }
}

CostPolynomial OpenDimensions::with_names(const Polynomial& polynomial) const {
  CostPolynomial named;
  for (const auto& [factors, coefficient] : std::views::reverse(polynomial)) {
    CostTerm& to = named.terms.emplace_back();
    to.coefficient = coefficient;
    for (const std::uint32_t variable : factors) {
      const std::string& name = variables_[variable].name;
      if (to.factors.empty() || to.factors.back().first != name) to.factors.emplace_back(name, 0);
      ++to.factors.back().second;
    }
  }
  std::set<std::uint32_t> used;
  for (const auto& [factors, coefficient] : polynomial) used.insert(factors.begin(), factors.end());
  for (std::uint32_t i = 0; i < variables_.size(); ++i) {
    const bool is_narrowed = variables_[i].least != SizeRange().least || variables_[i].most != SizeRange().most;
    if (is_narrowed || used.contains(i)) named.sizes.push_back(variables_[i]);
  }
  return named;
}

}  // namespace onnxar
