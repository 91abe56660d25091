// Replaces fields deep in a message, and updates the lengths of the messages around them.
#include "onnx/splice.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "base/byte_range.h"
#include "base/checked.h"
#include "base/kept.h"
#include "base/sources.h"
#include "onnx/rope.h"
#include "onnx/wire.h"

namespace onnxar::onnx {
namespace {

/// Returns the width of a padded varint, which is kept; 1 for a varint of the shortest form, which may grow or shrink.
std::size_t width_to_keep(Range length, std::uint64_t old_size) {
  return base::in_memory(length.size() > varint_size(old_size) ? length.size() : 1);
}

}  // namespace

// No length is stated for the outermost message, so nothing of its frame is used.
Splice::Splice(base::Kept<Bytes> message) : message_(message), frames_{Enclosing{}} {}

Splice::Frame Splice::enter(Frame parent, const Field& field) {
  frames_.push_back({field.length, field.value.size(), parent, 0, 0});
  return static_cast<Frame>(frames_.size() - 1);
}

void Splice::replace(Frame frame, Range range, std::string text, std::shared_ptr<const ByteSource> source) {
  if (range.size() == 0 && text.empty() && !source) return;
  frames_[frame].removed += range.size();
  std::uint64_t& added = frames_[frame].added;
  added = base::add_announced(added + text.size(), source ? source->size() : 0);
  edits_.push_back({range, edits_.size(), std::move(text), std::move(source)});
}

void Splice::update_lengths() {
  // A frame has a higher number than its parent, so in descending order each size is final before the parent needs it.
  for (std::size_t i = frames_.size() - 1; i > 0; --i) {
    const Enclosing frame = frames_[i];
    if (frame.removed == 0 && frame.added == 0) continue;
    std::string length;
    append_varint(length, frame.old_size - frame.removed + frame.added, width_to_keep(frame.length, frame.old_size));
    frames_[frame.parent].removed += frame.removed;
    std::uint64_t& added = frames_[frame.parent].added;
    added = base::add_announced(added, frame.added);
    replace(frame.parent, frame.length, std::move(length));
  }
}

Rope Splice::result() && {
  // An insertion comes before a removal at the same position, as its range ends first.
  const auto place = [](const Edit& edit) { return std::tuple(edit.range.begin, edit.range.end, edit.sequence); };
  if (!std::ranges::is_sorted(edits_, {}, place)) std::ranges::sort(edits_, {}, place);
  const auto made = static_cast<std::ptrdiff_t>(edits_.size());
  update_lengths();
  // Lengths come in descending order. To sort all at once would take much longer than to merge two sorted parts.
  std::ranges::reverse(edits_.begin() + made, edits_.end());
  std::ranges::inplace_merge(edits_, edits_.begin() + made, {}, place);
  Rope rope;
  std::uint64_t position = 0;
  for (Edit& edit : edits_) {
    // An insertion may lie within a range that the edit before it removed.
    if (edit.range.begin > position) rope.append(base::section(message_, position, edit.range.begin - position));
    rope.append(std::move(edit.text));
    if (edit.source) rope.append(std::move(edit.source));
    position = std::max(position, edit.range.end);
  }
  rope.append(base::section(message_, position));
  return rope;
}

}  // namespace onnxar::onnx
