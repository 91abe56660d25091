// Moves the data of tensors out of a model and back in, on the wire.
#include "onnx/rewrite.h"

#include <algorithm>
#include <ranges>

#include "base/kept.h"
#include "onnx/fields.h"
#include "onnx/rope.h"
#include "onnx/splice.h"
#include "onnx/string_entry.h"
#include "onnx/wire.h"

namespace onnxar::onnx {
namespace {

/// Returns the position for new metadata: after the last field whose number is at most that of metadata_props, so that
/// fields stay in ascending order.
std::uint64_t place_for_metadata(Bytes model) {
  std::uint64_t place = 0;
  Cursor cursor(model, {0, model.size()});
  for (Field field; cursor.next(field);) {
    if (field.number <= model_field::metadata_props) place = field.whole.end;
  }
  return place;
}

class Rewriter {
 public:
  explicit Rewriter(base::Kept<Bytes> model) : model_(model), splice_(model) {}

  void apply(const TensorSite& site, TensorEdit edit) {
    if (edit.action == TensorEdit::Action::keep) return;
    const Splice::Frame frame = enter(site.levels);
    if (edit.action == TensorEdit::Action::put_inline) {
      append_tag(edit.fields, tensor_field::raw_data, Type::length_delimited);
      append_varint(edit.fields, edit.payload->size());
    }
    const std::uint64_t place = remove_data(frame, site.tensor.range, edit.action);
    splice_.replace(frame, {place, place}, std::move(edit.fields), std::move(edit.payload));
  }

  void apply(const MetadataEdit& edit) {
    if (!edit.drop.empty()) {
      for (const MetadataEntry& entry : find_metadata(model_, edit.drop)) {
        splice_.replace(Splice::outermost, entry.whole, {});
      }
    }
    if (!edit.drop_key.empty()) {
      for (const MetadataEntry& entry : find_metadata(model_, edit.drop_key)) {
        if (entry.entry.key == edit.drop_key) splice_.replace(Splice::outermost, entry.whole, {});
      }
    }
    if (edit.add.empty()) return;
    const std::uint64_t place = place_for_metadata(model_);
    splice_.replace(Splice::outermost, {place, place}, edit.add);
  }

  Rope result() && { return std::move(splice_).result(); }

 private:
  struct Entered {
    std::uint64_t begin;  // of the field; identifies the message
    Splice::Frame frame;
  };

  /// Returns the frame of the tensor. Frames that it shares with the last edited tensor are reused.
  Splice::Frame enter(std::span<const Level> levels) {
    const auto begin_of = [](const Level& level) { return level.field.whole.begin; };
    const auto [end_of_shared, rest] = std::ranges::mismatch(entered_, levels, {}, &Entered::begin, begin_of);
    entered_.erase(end_of_shared, entered_.end());
    for (const Level& level : std::ranges::subrange(rest, levels.end())) {
      const Splice::Frame parent = entered_.empty() ? Splice::outermost : entered_.back().frame;
      entered_.push_back({begin_of(level), splice_.enter(parent, level.field)});
    }
    return entered_.back().frame;
  }

  /// Removes the data of a tensor. Returns the position for its new fields: after the last field with a smaller number,
  /// so that fields stay in ascending order, and for a link also after a data_location of DEFAULT, since the last one
  /// counts.
  std::uint64_t remove_data(Splice::Frame frame, Range tensor, TensorEdit::Action action) {
    const bool is_link = action == TensorEdit::Action::link;
    const std::uint32_t number = is_link ? tensor_field::external_data : tensor_field::raw_data;
    std::uint64_t place = tensor.begin;
    Cursor cursor(model_, tensor);
    Range run{tensor.begin, tensor.begin};  // adjacent fields become one edit: unpacked values may be a million fields
    for (Field field; cursor.next(field);) {
      if (field.number < number || (is_link && data_location_of(field) == location_default)) place = field.whole.end;
      if (!moves_with_data(field)) continue;
      if (field.whole.begin != run.end) {
        splice_.replace(frame, run, {});
        run.begin = field.whole.begin;
      }
      run.end = field.whole.end;
    }
    splice_.replace(frame, run, {});
    return place;
  }

  Bytes model_;
  Splice splice_;
  std::vector<Entered> entered_;
};

}  // namespace

Rope rewrite_tensors(base::Kept<Bytes> model, const std::function<TensorEdit(const TensorSite&)>& decide,
                     const MetadataEdit& metadata) {
  Rewriter rewriter(model);
  walk_tensors(model, [&](const TensorSite& site) { rewriter.apply(site, decide(site)); });
  rewriter.apply(metadata);
  return std::move(rewriter).result();
}

}  // namespace onnxar::onnx
