// Opens a model of any form as a source, and determines its form by the content of the file.
#include "convert/open.h"

#include <optional>
#include <utility>
#include <vector>

#include "archive/access.h"
#include "archive/evidence.h"
#include "archive/file_kind.h"
#include "archive/foreign_zip.h"
#include "archive/local_entry.h"
#include "base/annotated.h"
#include "base/file_origin.h"
#include "base/text.h"
#include "convert/foreign_source.h"
#include "convert/package_files.h"
#include "zip/end_records.h"

namespace onnxar {
namespace {

/// Returns the graph in `bytes`, parsed if they are text.
GraphBytes graph_in(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options,
                    const base::FileOrigin* file = nullptr) {
  if (!looks_like_text(bytes)) {
    refuse_other_kind(bytes);
    return {bytes, std::move(owner), file};
  }
  if (!options.text_parser) {
    throw Error(Code::usage_no_text_parser, "this is a model in protobuf's text format, and no parser for it was given",
                {}, {}, {Hint::text_parser});
  }
  const auto parsed = std::make_shared<const std::vector<std::byte>>(options.text_parser(bytes));
  return {*parsed, parsed, nullptr, {}, std::nullopt};
}

GraphBytes graph_in(const OpenedInput& input, const LoadOptions& options) {
  const auto& file = input.file();
  return base::annotated(input.path(), [&] {
    if (file->bytes().empty())
      throw Error(Code::onnx_model_invalid, "the file is empty", {"", 0}, {}, {Hint::get_model_again});
    return graph_in(file->bytes(), file, options, file->origin());
  });
}

void expect_archive_for_graph(const LoadOptions& options, const std::filesystem::path& path) {
  if (options.graph.empty()) return;
  throw Error(Code::usage_argument,
              base::concat("only an archive has several graphs, so there is none to choose by the name ",
                           base::quoted(options.graph)),
              {}, path);
}

/// Returns the source of a model whose links lead to files beside `path` or in LoadOptions::external_data_dir, or may
/// not lead to files.
std::unique_ptr<FileSource> file_source(GraphBytes graph, const std::filesystem::path& path, const LoadOptions& options,
                                        FileLinks links) {
  expect_archive_for_graph(options, path);
  std::optional<ExternalFiles> files;
  if (links == FileLinks::allowed) files.emplace(path, options.external_data_dir);
  return std::make_unique<FileSource>(std::move(graph), path, options, std::move(files));
}

/// Returns the path of the model in a folder that PyTorch exported; nothing for other paths. It is named like the model
/// entry of an archive.
std::optional<std::filesystem::path> model_in_folder(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path model = path / model_entry_name;
  if (std::filesystem::is_directory(path, failed) && std::filesystem::exists(model, failed)) return model;
  return std::nullopt;
}

/// True if the file is a zip with other bytes in front of it (a self-extractor, for example).
bool is_zip_in_disguise(const OpenedInput& input) {
  return !input.is_zip() && zip::has_end_record(input.file()->bytes());
}

}  // namespace

std::unique_ptr<ModelSource> open_source(const std::filesystem::path& path, const LoadOptions& options) {
  return source_of(OpenedInput(path, options.open_ranges), options);
}

std::unique_ptr<ModelSource> open_any_source(const std::filesystem::path& path, const LoadOptions& options) {
  if (!options.foreign_zips) return open_source(path, options);
  if (const auto model = model_in_folder(path)) {
    expect_archive_for_graph(options, *model);
    return open_foreign_folder(*model, options);
  }
  const OpenedInput input(path, options.open_ranges);
  if (is_zip_in_disguise(input)) {
    expect_archive_for_graph(options, path);
    return open_foreign_zip(input, options);
  }
  if (input.file() == nullptr || !input.is_zip()) return source_of(input, options);
  try {
    auto source = source_of(input.archive(AdviceOn::cuts), options);
    // Local headers are proved at their first use, when it would be too late to open the file as a foreign zip.
    locate_all(source->archive());
    return source;
  } catch (const Error& fault) {
    if (!may_be_foreign_zip(fault.code())) throw;
    // If both readers find the same fault of the file, that of the archive says more: the name of the missing model, or
    // if an earlier state can be restored.
    const auto better = [&](const Error& error) {
      const bool is_same = error.code() == fault.code() && error.entry().empty();
      return Evidence{.path = &path, .zip = input.file().get()}(is_same ? fault : error);
    };
    return base::annotated(better, [&] {
      expect_archive_for_graph(options, path);
      return open_foreign_zip(input, options);
    });
  }
}

std::unique_ptr<ModelSource> source_of(const OpenedInput& input, const LoadOptions& options) {
  if (input.is_zip()) return source_of(input.archive(), options);
  return file_source_of(input, options);
}

std::unique_ptr<ModelSource> source_of(Bytes bytes, std::shared_ptr<const void> owner, const LoadOptions& options) {
  if (looks_like_zip(bytes)) return source_of(Archive::open(bytes, std::move(owner)), options);
  if (bytes.empty()) throw Error(Code::onnx_model_invalid, "the model is empty", {"", 0}, {}, {Hint::get_model_again});
  return file_source_of(bytes, std::move(owner), options);
}

std::unique_ptr<ArchiveSource> source_of(Archive archive, const LoadOptions& options) {
  std::vector<ArchiveEntry> chosen = chosen_graphs(archive, options);
  if (!chosen.empty()) archive = ArchiveAccess::view(archive, chosen.front());
  return std::make_unique<ArchiveSource>(std::move(archive), options, std::move(chosen));
}

std::unique_ptr<FileSource> file_source_of(const OpenedInput& input, const LoadOptions& options, FileLinks links) {
  return file_source(graph_in(input, options), input.path(), options, links);
}

std::unique_ptr<FileSource> file_source_of(Bytes model, std::shared_ptr<const void> owner, const LoadOptions& options,
                                           FileLinks links) {
  // Bytes have no folder for relative locations, and the working folder would be a guess.
  if (options.external_data_dir.empty()) links = FileLinks::refused;
  return file_source(graph_in(model, std::move(owner), options), {}, options, links);
}

}  // namespace onnxar
