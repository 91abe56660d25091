// Compares two models: a model does not differ from itself, and both orders of comparison find the same differences.
//
// Input: both models; 2 bytes: the length of the second.
#include <google/protobuf/stubs/logging.h>

#include <filesystem>

#include "fuzz/models.h"
#include "fuzz/reader.h"
#include "fuzz/scratch.h"
#include "model/front_end.h"

namespace onnxar::fuzz::diff_target {
namespace {

std::optional<Difference> found(const std::filesystem::path& before, const std::filesystem::path& after) {
  return accepted([&] { return diff(before, after, loaded_as(true)); });
}

void check_numbers(const Difference& difference) {
  for (const TensorChange& change : difference.tensors) {
    require(change.before || change.after, "a change is of some tensor");
    if (!change.data) continue;
    const DataDifference& data = *change.data;
    require(data.differing != 0 && data.differing <= data.elements && data.first < data.elements, "elements differ");
    require(data.not_finite <= data.differing, "of those that differ, some are not finite");
    require(data.max_absolute.value_or(0) >= 0 && data.max_relative.value_or(0) >= 0, "differences are magnitudes");
    require(data.max_relative.value_or(0) <= 2, "to the larger of two, none is more than twice as much");
  }
}

}  // namespace

void run(Bytes input) {
  const google::protobuf::LogSilencer silent;  // it reports names that are not UTF-8, in builds with assertions
  const auto both = two_of(input);
  if (!both) return;
  const std::filesystem::path before = put("before", both->first);
  if (is_turn(input, 0, 2)) {
    const auto difference = found(before, before);
    require(!difference || difference->none(), "a model is the same as itself");
  }
  if (!is_turn(input, 1, 2)) return;
  const std::filesystem::path after = put("after", both->second);
  const auto there = found(before, after);
  const auto back = found(after, before);
  require(there.has_value() == back.has_value(), "models compare either way or not at all");
  if (!there) return;
  check_numbers(*there);
  check_numbers(*back);
  require(there->graph.size() == back->graph.size(), "the graphs differ as much the other way");
  require(there->tensors.size() == back->tensors.size(), "so do the tensors");
  require(there->files.size() == back->files.size(), "and the side files");
  require(there->compared == back->compared, "as many tensors are in both");
}

}  // namespace onnxar::fuzz::diff_target
