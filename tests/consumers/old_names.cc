// A program that uses the deprecated names of verbs.
//
//   old_names FOLDER
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string_view>
#include <vector>

#include "onnxar/archive_writer.h"
#include "onnxar/convert.h"
#include "onnxar/link.h"
#include "onnxar/listing.h"
#ifdef WITH_MODEL
#include "onnxar/model/inspect.h"
#include "onnxar/model/model.h"
#endif

namespace {

/// A model without tensors, so that replacing it adds no entry.
constexpr std::string_view empty_graph("\x08\x08\x3a\x00", 4);

int use_old_names(const std::filesystem::path& folder) {
  const std::filesystem::path first = folder / "a.onnxar", second = folder / "b.onnxar";
  onnxar::ArchiveWriter writer = onnxar::ArchiveWriter::create(first);
  writer.add("tokenizer.json", std::vector<std::byte>(16));
  writer.finish(onnxar::as_bytes(empty_graph));
  if (onnxar::convert(first, second, {}).side_files != 1) return 1;
  if (onnxar::list(second).entries.size() != 1) return 2;
  if (onnxar::write_link(second, folder / "b.onnx").tensors != 0) return 3;
  if (onnxar::replace_model(second, onnxar::as_bytes(empty_graph)).entries_added != 0) return 4;
  onnxar::ReplaceOptions remove;
  remove.remove = {"tokenizer.json"};
  onnxar::replace_files(second, remove);
  if (!onnxar::ls(second).entries.empty()) return 5;
  const onnxar::Feed feed = onnxar::make_feed(onnxar::Archive::open(second));
  if (!feed.tensors.empty()) return 9;
#ifdef WITH_MODEL
  if (onnxar::inspect(second).tensors.tensors != 0) return 6;
  if (onnxar::print_text(second, [](onnxar::Bytes) {}).left_out != 0) return 7;
  onnxar::convert_to_text(second, folder / "b.textproto", {});
  if (!std::filesystem::exists(folder / "b.textproto")) return 8;
#endif
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 255;
  try {
    std::filesystem::remove_all(argv[1]);
    std::filesystem::create_directories(argv[1]);
    const int failed = use_old_names(argv[1]);
    std::filesystem::remove_all(argv[1]);
    return failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 254;
  }
}
