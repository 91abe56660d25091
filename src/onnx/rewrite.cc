// Moves the data of tensors out of a model and back in, on the wire.
#include "onnx/rewrite.h"

#include <algorithm>
#include <ranges>

#include "base/kept.h"
#include "onnx/external_data.h"
#include "onnx/fields.h"
#include "onnx/rope.h"
#include "onnx/splice.h"
#include "onnx/string_entry.h"
#include "onnx/wire.h"

namespace onnxar::onnx {
namespace {

/// Returns the position for a new field `number`: after the last field with a smaller number, so that fields stay in
/// ascending order.
std::uint64_t place_for(Bytes model, Range message, std::uint32_t number) {
  std::uint64_t place = message.begin;
  Cursor cursor(model, message);
  for (Field field; cursor.next(field);) {
    if (field.number < number) place = field.whole.end;
  }
  return place;
}

/// Returns the position for the fields of a link: also after a data_location of DEFAULT, since the last one counts.
std::uint64_t place_for_link(Bytes model, Range tensor) {
  std::uint64_t place = place_for(model, tensor, tensor_field::external_data);
  Cursor cursor(model, tensor);
  for (Field field; cursor.next(field);) {
    if (data_location_of(field) == location_default) place = std::max(place, field.whole.end);
  }
  return place;
}

class Rewriter {
 public:
  explicit Rewriter(base::Kept<Bytes> model) : model_(model), splice_(model) {}

  void apply(const TensorSite& site, TensorEdit edit) {
    if (edit.action == TensorEdit::Action::keep) return;
    const Splice::Frame frame = enter(site.levels);
    remove_data(frame, site.tensor.range);
    if (edit.action == TensorEdit::Action::link) {
      insert(frame, place_for_link(model_, site.tensor.range), external_data_fields(edit.link), nullptr);
    } else {
      std::string head;
      append_tag(head, tensor_field::raw_data, Type::length_delimited);
      append_varint(head, edit.payload->size());
      insert(frame, place_for(model_, site.tensor.range, tensor_field::raw_data), std::move(head),
             std::move(edit.payload));
    }
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
    const std::uint64_t place = place_for(model_, {0, model_.size()}, model_field::metadata_props + 1);
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

  void remove_data(Splice::Frame frame, Range tensor) {
    Cursor cursor(model_, tensor);
    Range run{tensor.begin, tensor.begin};  // adjacent fields become one edit: unpacked values may be a million fields
    for (Field field; cursor.next(field);) {
      if (!moves_with_data(field)) continue;
      if (field.whole.begin != run.end) {
        splice_.replace(frame, run, {});
        run.begin = field.whole.begin;
      }
      run.end = field.whole.end;
    }
    splice_.replace(frame, run, {});
  }

  void insert(Splice::Frame frame, std::uint64_t place, std::string text, std::shared_ptr<const ByteSource> source) {
    splice_.replace(frame, {place, place}, std::move(text), std::move(source));
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
