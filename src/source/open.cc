#include "source/open.h"

#include <utility>
#include <vector>

#include "archive/file_kind.h"
#include "archive/opening.h"
#include "base/text.h"
#include "onnx/text_format.h"
#include "source/archive_resolver.h"
#include "source/file_resolver.h"
#include "source/foreign_zip_resolver.h"
#include "source/link_marker.h"
#include "zip/end_records.h"

namespace onnxar {
namespace {

using Mapping = std::shared_ptr<const base::MappedFile>;

Mapping map(const std::filesystem::path& path) {
  return std::make_shared<const base::MappedFile>(base::MappedFile::open(path));
}

/// The graph in `bytes`, parsed if they are text.
GraphBytes graph_in(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options,
                    const base::FileOrigin* file = nullptr) {
  if (!onnx::looks_like_text(bytes)) {
    refuse_other_kind(bytes);
    return {bytes, std::move(owner), false, file};
  }
  if (!options.text_parser) {
    throw Error(Code::usage_no_text_parser, "this is a model in protobuf's text format, and no parser for it was given",
                {}, {}, {Hint::text_parser});
  }
  const auto parsed = std::make_shared<const std::vector<std::byte>>(options.text_parser(bytes));
  return {*parsed, parsed, true};
}

GraphBytes graph_in(const Mapping& file, const std::filesystem::path& path, const LoadOptions& options) {
  if (file->bytes().empty())
    throw Error(Code::onnx_model_invalid, "the file is empty", {"", 0}, path, {Hint::make_anew});
  try {
    return graph_in(file->bytes(), file, options, file->origin());
  } catch (const Error& error) {
    throw error.with_path(path);
  }
}

void expect_archive_for_graph(const LoadOptions& options, const std::filesystem::path& path) {
  if (options.graph.empty()) return;
  throw Error(Code::usage_argument,
              base::concat("only an archive has several graphs, so there is none to choose by the name ",
                           base::quoted(options.graph)),
              {}, path);
}

/// A resolver for links to files, or to an archive if the model has a link marker.
std::unique_ptr<Resolver> with_files(GraphBytes graph, const std::filesystem::path& path, const LoadOptions& options) {
  expect_archive_for_graph(options, path);
  if (LinkMarker::is_in(graph.bytes)) return std::make_unique<LinkResolver>(std::move(graph), path, options);
  return std::make_unique<FileResolver>(std::move(graph), path, options);
}

/// The model of a folder that PyTorch exported. It has the name of the model entry of an archive.
std::optional<std::filesystem::path> model_in_folder(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path model = path / model_entry_name;
  if (std::filesystem::is_directory(path, failed) && std::filesystem::exists(model, failed)) return model;
  return std::nullopt;
}

/// Whether a file is a zip that does not begin as one: other programs may put bytes before it.
bool is_zip_in_disguise(const std::filesystem::path& path) {
  const Mapping file = map(path);
  return !looks_like_zip(file->bytes()) && zip::has_end_record(file->bytes());
}

template <typename ForeignResolver>
std::unique_ptr<Resolver> open_foreign(const std::filesystem::path& path, const LoadOptions& options) {
  expect_archive_for_graph(options, path);
  return std::make_unique<ForeignResolver>(path, options);
}

void prove_local_headers(const Archive& archive) {
  for (std::size_t i = 0; i < archive.size(); ++i) static_cast<void>(archive.locate(archive.entry(i)));
}

/// Opens a foreign zip. `fault` is the first fault of the file as an archive.
std::unique_ptr<Resolver> open_foreign_zip(const std::filesystem::path& path, const LoadOptions& options,
                                           const Error& fault) {
  try {
    return open_foreign<ForeignZipResolver>(path, options);
  } catch (const Error& error) {
    // Neither reader found a model. The fault as an archive names the entry that is missing.
    const bool none = error.code() == Code::archive_model_missing && error.entry().empty();
    if (none && fault.code() == Code::archive_model_missing) throw fault;
    if (none) throw with_kind(error, map(path)->bytes());
    // Edits write the end records last. The archive's fault also says whether there is an earlier state to go back to.
    if (error.code() == fault.code() && id(fault.code()).starts_with("zip.end.")) throw fault;
    throw;
  }
}

}  // namespace

std::unique_ptr<Resolver> open_resolver(const std::filesystem::path& path, const LoadOptions& options) {
  if (auto archive = open_by_ranges(path, options.open_ranges)) return resolver_of(std::move(*archive), options);
  const Mapping file = map(path);
  if (looks_like_zip(file->bytes())) return resolver_of(Archive::open(path), options);
  return resolver_of(file, path, options);
}

std::unique_ptr<Resolver> open_any_resolver(const std::filesystem::path& path, const LoadOptions& options) {
  if (!options.foreign_zips) return open_resolver(path, options);
  if (auto archive = open_by_ranges(path, options.open_ranges)) return resolver_of(std::move(*archive), options);
  if (const auto model = model_in_folder(path)) return open_foreign<ForeignFolderResolver>(*model, options);
  if (is_zip_in_disguise(path)) return open_foreign<ForeignZipResolver>(path, options);
  try {
    auto resolver = open_resolver(path, options);
    // Local headers are proved at their first use. A fault found that late could no longer make the file a foreign zip.
    if (resolver->archive() != nullptr) prove_local_headers(*resolver->archive());
    return resolver;
  } catch (const Error& error) {
    if (may_be_foreign_zip(error.code())) return open_foreign_zip(path, options, error);
    throw;
  }
}

std::unique_ptr<Resolver> resolver_of(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options) {
  if (looks_like_zip(bytes)) return resolver_of(Archive::open(bytes, std::move(owner)), options);
  if (bytes.empty()) throw Error(Code::onnx_model_invalid, "the model is empty", {"", 0});
  GraphBytes graph = graph_in(bytes, std::move(owner), options);
  // Bytes have no folder that locations could count from, and the working folder would be a guess.
  if (!options.external_data_dir.empty()) return with_files(std::move(graph), {}, options);
  expect_archive_for_graph(options, {});
  return std::make_unique<MemoryResolver>(std::move(graph), options);
}

std::unique_ptr<Resolver> resolver_of(Archive archive, const LoadOptions& options) {
  if (!options.graph.empty()) archive = archive.graph(options.graph);
  return std::make_unique<ArchiveResolver>(std::move(archive), options);
}

std::unique_ptr<Resolver> resolver_of(const Mapping& file, const std::filesystem::path& path,
                                      const LoadOptions& options) {
  return with_files(graph_in(file, path, options), path, options);
}

std::unique_ptr<Resolver> open_resolver_for(const Archive& target, const std::filesystem::path& path,
                                            FileLinks file_links, const LoadOptions& options) {
  const Mapping file = map(path);
  if (looks_like_zip(file->bytes())) return resolver_of(Archive::open(path), options);
  GraphBytes graph = graph_in(file, path, options);
  auto model = file_links == FileLinks::allowed ? with_files(std::move(graph), path, options)
                                                : std::make_unique<MemoryResolver>(std::move(graph), options, path);
  return std::make_unique<TargetResolver>(target, std::move(model), file_links, options);
}

std::unique_ptr<Resolver> resolver_for(const Archive& target, Bytes model, FileLinks file_links,
                                       const LoadOptions& options) {
  GraphBytes graph = graph_in(model, nullptr, options);
  if (options.external_data_dir.empty()) file_links = FileLinks::refused;
  auto inner = file_links == FileLinks::allowed ? with_files(std::move(graph), {}, options)
                                                : std::make_unique<MemoryResolver>(std::move(graph), options);
  return std::make_unique<TargetResolver>(target, std::move(inner), file_links, options);
}

}  // namespace onnxar
