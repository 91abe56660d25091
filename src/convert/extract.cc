// Writes selected tensors and entries of a model into files.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "archive/output_options.h"
#include "archive/tensor_text.h"
#include "base/annotated.h"
#include "base/checked.h"
#include "base/file_origin.h"
#include "base/folder.h"
#include "base/glob.h"
#include "base/kept.h"
#include "base/near_names.h"
#include "base/paths.h"
#include "base/progress.h"
#include "base/text.h"
#include "convert/expansion.h"
#include "convert/numpy_format.h"
#include "convert/open.h"
#include "convert/publish.h"
#include "onnx/tensor_values.h"
#include "onnx/typed_data.h"
#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "os/names.h"

namespace onnxar {
namespace {

namespace fs = std::filesystem;
using base::concat;

/// Selects tensors by their numbers in the order of the walk. Repeats the walk instead of keeping its sites, because a
/// site holds views that are valid only during the visit.
class Selection {
 public:
  Selection(base::Kept<const ModelSource> source, base::Kept<std::string_view> which)
      : source_(source), which_(which), site_(which.substr(0, which.find_last_not_of('~') + 1)) {
    if (base::is_pattern(which)) pattern_.emplace(which);
    std::size_t number = 0;
    walk([&](const onnx::TensorSite& site) { consider(site, number++); });
  }

  /// True if `which` is a pattern.
  [[nodiscard]] bool is_pattern() const { return exact() == nullptr; }
  /// True if `which` is a pattern that matches strings and other tensors.
  [[nodiscard]] bool skips_strings() const { return is_pattern() && !only_strings_; }

  /// Returns the numbers of the selected tensors. Throws usage.no_such_tensor and usage.ambiguous_tensor.
  [[nodiscard]] const std::vector<std::size_t>& chosen() const {
    if (const auto* one = exact()) {
      if (one->size() > 1) refuse_ambiguous(*one);
      return *one;
    }
    if (by_pattern_.empty()) refuse_unknown();
    return by_pattern_;
  }

 private:
  void consider(const onnx::TensorSite& site, std::size_t number) {
    const std::string path = site.path();
    const std::string_view name = site.tensor.name;
    const std::string_view output = site.constant_output();
    if (name == which_) (site.is_main_initializer() ? initializers_ : by_name_).push_back(number);
    if (is_key(site)) by_key_.push_back(number);
    if (output == which_) by_output_.push_back(number);
    if (path == site_) by_site_.push_back(number);
    if (!pattern_ || !(pattern_->matches(name.empty() && output.empty() ? path : name) || pattern_->matches(output)))
      return;
    by_pattern_.push_back(number);
    only_strings_ = only_strings_ && site.tensor.type == DataType::string;
  }

  [[nodiscard]] bool is_key(const onnx::TensorSite& site) const {
    return archive_of(source_) != nullptr && site.tensor.linked_location() == which_;
  }

  /// Returns the tensors that have `which` as their name (initializers of the main graph, else others), else as their
  /// key, else as their site, else as the output of their Constant node; null if there are no such tensors.
  [[nodiscard]] const std::vector<std::size_t>* exact() const {
    if (which_.empty()) return nullptr;  // matches every tensor without a name
    // Names come first, because users know them. Every tensor has a site, so every tensor can be named.
    for (const auto* list : {&initializers_, &by_name_, &by_key_, &by_site_, &by_output_}) {
      if (!list->empty()) return list;
    }
    return nullptr;
  }

  [[noreturn]] void refuse_ambiguous(const std::vector<std::size_t>& candidates) const {
    std::vector<std::string> sites;
    std::size_t number = 0;
    walk([&](const onnx::TensorSite& site) {
      if (!std::ranges::binary_search(candidates, number++) || sites.size() == most_candidates) return;
      sites.push_back(site.path());
    });
    throw ambiguous_tensor(which_, candidates.size(), "name one of them by its site", sites);
  }

  [[noreturn]] void refuse_unknown() const {
    base::NearNames near(which_);
    walk([&near](const onnx::TensorSite& site) { near.consider(site.tensor.name); });
    throw Error(Code::usage_no_such_tensor,
                concat("no tensor of the model has ", base::quoted(which_),
                       " as its name, key, site or output, or matches it as a pattern", near.text()));
  }

  void walk(const std::function<void(const onnx::TensorSite&)>& visit) const {
    onnx::walk_tensors(source_.model(), visit);
  }

  const ModelSource& source_;
  std::string which_;
  std::string site_;                   // `which_` without the `~` that may follow a site
  std::optional<base::Glob> pattern_;  // empty if `which` has no wildcard
  std::vector<std::size_t> initializers_, by_name_, by_key_, by_output_, by_site_, by_pattern_;
  bool only_strings_ = true;  // true if all of by_pattern_ are strings
};

/// Plans the files of all tensors, writes them one by one, and publishes them together.
class Extractor {
 public:
  Extractor(base::Kept<ModelSource> source, base::Kept<const fs::path> output, bool to_folder, bool skips_strings,
            base::Kept<const ExtractOptions> options)
      : source_(source),
        output_(output),
        to_folder_(to_folder),
        skips_strings_(skips_strings),
        options_(options),
        files_(options_.output, existing_of(options_.output)) {}

  /// Reserves the file name of an initializer of the main graph. Called for all tensors before `add`, so that such a
  /// tensor gets the plain name, and not another tensor of the same name.
  void claim(const onnx::TensorSite& site) {
    if (to_folder_ && site.is_main_initializer()) claimed_.push_back(file_name_of(info_of(site)));
  }

  void add(const onnx::TensorSite& site) try {
    const std::string name = name_for(site);
    if (skips_strings_ && site.tensor.type == DataType::string) {
      skipped_.emplace_back().tensor = info_of(site);
      return;
    }
    std::shared_ptr<const ByteSource> bytes = payload_of(site);
    const NumpyType numpy = numpy_type(site.tensor.type);
    std::string header;
    if (!options_.raw) {
      if (numpy.descr.empty()) {
        throw Error(Code::onnx_tensor_not_converted,
                    concat("NumPy has no type for the data type ", to_string(site.tensor.type)),
                    {"", site.tensor.range.begin}, {}, {Hint::raw_bytes});
      }
      header = numpy_header(numpy.descr, site.tensor.dims);
      bytes = numpy_elements(std::move(bytes), site.tensor.type, elements_of(site.tensor));
    }
    ExtractedTensor& row = extracted_.emplace_back();
    row.tensor = info_of(site);
    row.path = to_folder_ ? output_ / os::path_of(name) : output_;
    row.file_bytes = header.size() + bytes->size();
    if (!options_.raw) std::tie(row.descr, row.as_integers) = std::pair(numpy.descr, numpy.as_integers);
    contents_.push_back({std::move(header), std::move(bytes)});
  } catch (const Error& error) {
    if (kind(error.code()) != Kind::format) throw;  // usage and io errors name their own place
    throw source_.with_place(error, &site);
  }

  /// Writes the added tensors. Throws onnx.model.expansion before anything is written.
  void write() {
    // A hostile model may name the same bytes in a million tensors, or have a million empty ones, and each would become
    // a file. Every file therefore counts at least the size of an array header, even without one.
    constexpr std::uint64_t least = 128;
    Expansion expansion(source_.input_size(), options_.load.max_expansion);
    for (const ExtractedTensor& row : extracted_) expansion.add(std::max(row.file_bytes, least));
    // Checks the targets even in a dry run, so that a target that cannot be written is reported.
    check_targets();
    if (options_.output.dry_run) return;
    if (to_folder_) enter_folder();
    base::Progress progress(options_.progress, total_bytes());
    for (std::size_t i = 0; i < contents_.size(); ++i) write(extracted_[i], contents_[i], progress);
  }

  /// Publishes all files. Called when all are complete, so that a tensor that cannot be read leaves no files of other
  /// tensors.
  std::vector<ExtractedTensor> publish() && {
    files_.publish();
    std::ranges::move(skipped_, std::back_inserter(extracted_));
    return std::move(extracted_);
  }

 private:
  [[nodiscard]] base::Existing existing() const { return existing_of(options_.output); }
  /// Returns the path of the output folder, without a slash at its end.
  [[nodiscard]] fs::path folder() const { return output_.has_filename() ? output_ : output_.parent_path(); }

  /// Makes the checks that are possible before the first file is opened. Throws what base::find_target throws.
  void check_targets() const {
    for (const ExtractedTensor& row : extracted_) {
      if (base::are_same(row.path, source_.path())) {
        throw Error(Code::usage_argument, "is the model that the tensor is read from; choose a different name", {},
                    row.path);
      }
    }
    if (!to_folder_) {
      static_cast<void>(base::find_target(output_, existing()));
      return;
    }
    if (!base::status_if_there(folder())) {  // it will be made: its parent must exist
      static_cast<void>(base::Folder::open(base::folder_of(folder())));
      return;
    }
    for (const ExtractedTensor& row : extracted_) base::expect_writable(row.path, existing());
  }

  void enter_folder() {
    const fs::path path = folder();
    base::is_folder(path) ? files_.set_folder(base::Folder::open(path))
                          : files_.make_folder(base::Folder::open(base::folder_of(path)), os::text_of(path.filename()));
  }

  std::string file_name_of(const TensorInfo& tensor) {
    return concat(keys_.make(tensor.label()), options_.raw ? ".bin" : npy_suffix);
  }

  /// Returns the name of the file in the folder; empty if the output is a file.
  std::string name_for(const onnx::TensorSite& site) {
    if (!to_folder_) return {};
    return site.is_main_initializer() ? claimed_[next_claimed_++] : file_name_of(info_of(site));
  }

  static std::uint64_t elements_of(const onnx::TensorView& tensor) {
    const auto bytes = payload_size(DataType::uint8, tensor.dims);  // one byte per element
    return bytes.value_or(0);
  }

  std::shared_ptr<const ByteSource> payload_of(const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    onnx::prove_type(tensor);
    if (tensor.is_external()) return source_.payload_of(site).source;
    onnx::prove_values(site.model, tensor);
    if (tensor.type == DataType::string) onnx::refuse_conversion(tensor);
    if (tensor.raw_data) {
      const Bytes raw = tensor.raw_data->of(site.model);
      const std::uint64_t size = tensor.expected_size().value_or(raw.size());  // R8: surplus bytes have no meaning
      return std::make_shared<base::MappedSource>(raw.first(base::in_memory(size)), source_.graph().file);
    }
    // A tensor without elements needs no data field.
    if (tensor.expected_size() == 0) return std::make_shared<SpanSource>(Bytes());
    if (!tensor.typed_data) {
      throw Error(Code::onnx_tensor_no_data, "the model has no data for this tensor", {"", tensor.range.begin});
    }
    if (auto typed = onnx::typed_data_source(site.model, tensor)) return typed;
    onnx::refuse_conversion(tensor);
  }

  struct Content {
    std::string header;
    std::shared_ptr<const ByteSource> bytes;
  };

  [[nodiscard]] std::uint64_t total_bytes() const {
    std::uint64_t sum = 0;
    for (const Content& content : contents_) sum += content.bytes->size();
    return sum;
  }

  void write(const ExtractedTensor& row, const Content& content, base::Progress& progress) {
    const auto fill = [&](base::BufferedOutput& out) {
      out.append(as_bytes(content.header));
      out.append(base::CountedSource(*content.bytes, progress));
    };
    to_folder_ ? files_.write(os::text_of(row.path.filename()), row.file_bytes, fill)
               : files_.write(base::find_target(row.path, existing()), row.file_bytes, fill);
  }

  ModelSource& source_;
  const fs::path& output_;
  bool to_folder_;
  bool skips_strings_;
  const ExtractOptions& options_;
  KeyMaker keys_;
  std::vector<std::string> claimed_;  // names of files, in the order of the tensors
  std::size_t next_claimed_ = 0;
  std::vector<ExtractedTensor> extracted_, skipped_;
  std::vector<Content> contents_;  // by index in extracted_
  FileSet files_;
};

bool names_a_folder(const fs::path& path) { return !path.has_filename() || base::is_folder(path); }

}  // namespace

std::vector<ExtractedTensor> extract(const fs::path& model, std::string_view which, const fs::path& output,
                                     const ExtractOptions& options) {
  if (output.empty()) throw Error(Code::usage_argument, "the path of the output is empty; name a file or a folder");
  const auto lock = lock_output(output, options.output);
  const auto source = open_source(model, options.load);
  try {
    const Selection selection(*source, which);
    const std::vector<std::size_t>& chosen = selection.chosen();
    const bool to_folder = names_a_folder(output);
    if (selection.is_pattern() && !to_folder) {
      throw Error(Code::usage_argument,
                  concat("a pattern can match several tensors: the output must be a folder, such as \"",
                         escaped_path(output), "/\""),
                  {}, output);
    }
    Extractor extractor(*source, output, to_folder, selection.skips_strings(), options);
    for (const auto action : {&Extractor::claim, &Extractor::add}) {
      std::size_t number = 0;
      const auto visit = [&](const onnx::TensorSite& site) {
        if (std::ranges::binary_search(chosen, number++)) (extractor.*action)(site);
      };
      onnx::walk_tensors(source->model(), visit);
    }
    extractor.write();
    return std::move(extractor).publish();
  } catch (const Error& error) {
    throw kind(error.code()) == Kind::format ? source->with_place(error) : error.with_path(model);
  }
}

}  // namespace onnxar
