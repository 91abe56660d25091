// Moves the data of tensors out of a model and back in, on the wire.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/kept.h"
#include "onnx/external_data.h"
#include "onnx/rope.h"
#include "onnx/sites.h"
#include "onnxar/bytes.h"

namespace onnxar::onnx {

/// The edit of one tensor's data.
struct TensorEdit {
  enum class Action : std::uint8_t { keep, link, put_inline };
  Action action = Action::keep;
  std::string fields;                         ///< for `link`: its new external_data
  std::shared_ptr<const ByteSource> payload;  ///< for `put_inline`: its new raw_data

  static TensorEdit keep() { return {}; }
  static TensorEdit link_to(const ExternalLink& link) { return {Action::link, external_data_fields(link), nullptr}; }
  static TensorEdit put_inline(std::shared_ptr<const ByteSource> payload) {
    return {Action::put_inline, {}, std::move(payload)};
  }
};

/// The edit of the model's metadata_props.
struct MetadataEdit {
  std::string_view drop = {};      ///< removes pairs whose key begins with this; empty: none
  std::string add = {};            ///< encoded fields, added after the others
  std::string_view drop_key = {};  ///< removes pairs with exactly this key; empty: none
};

/// Applies an edit to every tensor of the model. Calls `decide` once for each, in wire order. All other fields keep
/// their order and encoding. New fields are inserted in ascending field order, a link also after a data_location of
/// DEFAULT, so that removing data and inserting it again gives the original bytes. Throws what `walk_tensors` throws.
Rope rewrite_tensors(base::Kept<Bytes> model, const std::function<TensorEdit(const TensorSite&)>& decide,
                     const MetadataEdit& metadata = {});

}  // namespace onnxar::onnx
