// Moving tensors out of a model and back in, on the wire.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "onnx/external_data.h"
#include "onnx/sites.h"
#include "onnxar/bytes.h"
#include "wire/rope.h"

namespace onnxar::onnx {

/// What becomes of one tensor's data.
struct TensorEdit {
  enum class Action : std::uint8_t { keep, link, put_inline };
  Action action = Action::keep;
  ExternalLink link;                          ///< of `link`: the external_data it gets
  std::shared_ptr<const ByteSource> payload;  ///< of `put_inline`: the raw_data it gets

  static TensorEdit keep() { return {}; }
  static TensorEdit link_to(ExternalLink link) { return {Action::link, std::move(link), nullptr}; }
  static TensorEdit put_inline(std::shared_ptr<const ByteSource> payload) {
    return {Action::put_inline, {}, std::move(payload)};
  }
};

/// What becomes of the model's metadata_props.
struct MetadataEdit {
  std::string_view drop = {};      ///< entries whose key begins so go; empty: none does
  std::string add = {};            ///< fields that come after those that stay, encoded
  std::string_view drop_key = {};  ///< entries of exactly this key go, too; empty: none does
};

/// The model with an edit made at every tensor; `decide` is called once for each, in wire order. All else keeps its
/// order and encoding. New fields stand where ascending field order has them, so that a link and its inverse give the
/// first bytes back. `model` must outlive the result. Errors: as `walk_tensors`.
wire::Rope rewrite_tensors(Bytes model, const std::function<TensorEdit(const TensorSite&)>& decide,
                           const WalkLimits& limits = {}, const MetadataEdit& metadata = {});

}  // namespace onnxar::onnx
