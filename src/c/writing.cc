// Writes and edits archives for C, and makes the keys of their entries.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "c/boundary.h"
#include "c/sized_struct.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "onnxar/error.h"
#include "os/names.h"

struct onnxar_writer {  // NOLINT(readability-identifier-naming): a name of C
  std::variant<onnxar::ArchiveWriter, onnxar::ArchiveEditor> writer;
};

struct onnxar_keys {  // NOLINT(readability-identifier-naming): a name of C
  onnxar::KeyMaker maker;
  std::deque<std::string> made;  // a deque: growing moves no key that the caller has a pointer to
};

namespace onnxar::c {
namespace {

constexpr std::size_t first_writer_options = offsetof(onnxar_writer_options, reserved) + sizeof(std::int32_t);
static_assert(sizeof(void*) != 8 || first_writer_options == 40);

onnxar_writer_options checked(const onnxar_writer_options* given) {
  const onnxar_writer_options known = known_part(given, first_writer_options);
  // A later version may give this padding a meaning, so a caller that leaves it uninitialised gets an error now.
  if (known.reserved != 0) {
    throw Error(Code::usage_argument, "`reserved` of the options of a writer is set; set it to 0");
  }
  return known;
}

OutputOptions output_of(const onnxar_writer_options& options) {
  return {.overwrite = options.overwrite != 0, .sync = options.no_sync == 0, .threads = thread_count(options.threads)};
}

WriterOptions writer_options_of(const onnxar_writer_options& given) {
  WriterOptions options;
  // 0 is not an alignment, so it means the default.
  if (given.alignment != 0) options.alignment = given.alignment;
  options.output = output_of(given);
  options.verify_model = given.no_verify_model == 0;
  return options;
}

EditOptions edit_options_of(const onnxar_writer_options& given) {
  if (given.alignment != 0 || given.overwrite != 0) {
    throw Error(Code::usage_argument,
                base::concat("`", given.alignment != 0 ? "alignment" : "overwrite",
                             "` is only for new archives, because an edit keeps the archive's own; set it to 0"));
  }
  return {.output = output_of(given), .verify_model = given.no_verify_model == 0};
}

/// Returns what an ArchiveWriter and an ArchiveEditor have in common. Throws usage.argument (NULL).
EntryWriter& entries_of(onnxar_writer* writer) {
  check_argument(writer != nullptr, "writer");
  return std::visit([](EntryWriter& used) -> EntryWriter& { return used; }, writer->writer);
}

StreamReader stream_of(onnxar_read_callback read, void* context) {
  return [read, context](std::span<std::byte> buffer) {
    const std::size_t count = read(context, buffer.data(), buffer.size());
    // Checked before the writer compares the count with the buffer's size: SIZE_MAX is not a count.
    if (count == ONNXAR_READ_FAILED) throw CallbackFailed("the callback that reads an entry's bytes failed");
    return count;
  };
}

}  // namespace
}  // namespace onnxar::c

using namespace onnxar;
using namespace onnxar::c;

ONNXAR_C_EXPORT onnxar_status onnxar_create(uint32_t abi, const char* path, const onnxar_writer_options* options,
                                            onnxar_writer** writer, onnxar_error** error) {
  return guarded(abi, error, [&] {
    check_given("path", path, "writer", writer);
    *writer = new onnxar_writer{ArchiveWriter::create(os::path_of(path), writer_options_of(checked(options)))};
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_edit(uint32_t abi, const char* path, const onnxar_writer_options* options,
                                          onnxar_writer** writer, onnxar_archive** before, onnxar_error** error) {
  return guarded(abi, error, [&] {
    check_given("path", path, "writer", writer);
    ArchiveEditor editor = ArchiveEditor::open(os::path_of(path), edit_options_of(checked(options)));
    std::unique_ptr<onnxar_archive> archive;
    if (before != nullptr) {
      // NOLINTNEXTLINE(modernize-make-unique): make_unique of an aggregate needs a newer clang
      archive.reset(new onnxar_archive{editor.archive().graph(model_entry_name)});
    }
    *writer = new onnxar_writer{std::move(editor)};
    if (before != nullptr) *before = archive.release();
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_remove(onnxar_writer* writer, const char* name, size_t name_length,
                                            onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(writer != nullptr, "writer");
    auto* editor = std::get_if<ArchiveEditor>(&writer->writer);
    if (editor == nullptr) throw Error(Code::usage_argument, "a new archive has nothing to remove");
    editor->remove(text_of(name, name_length, "name"));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_reserve(onnxar_writer* writer, uint64_t bytes, onnxar_error** error) {
  return guarded(error, [&] { entries_of(writer).reserve(bytes); });
}

ONNXAR_C_EXPORT onnxar_status onnxar_add(onnxar_writer* writer, const char* name, size_t name_length, const void* data,
                                         size_t size, onnxar_error** error) {
  return guarded(error,
                 [&] { entries_of(writer).add(text_of(name, name_length, "name"), bytes_of(data, size, "data")); });
}

ONNXAR_C_EXPORT onnxar_status onnxar_add_stream(onnxar_writer* writer, const char* name, size_t name_length,
                                                uint64_t size, onnxar_read_callback read, void* context,
                                                onnxar_error** error) {
  return guarded(error, [&] {
    check_given("writer", writer, "read", read);
    entries_of(writer).add(text_of(name, name_length, "name"), size, stream_of(read, context));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_begin(onnxar_writer* writer, const char* name, size_t name_length, uint64_t size,
                                           onnxar_error** error) {
  return guarded(error, [&] { entries_of(writer).begin(text_of(name, name_length, "name"), size); });
}

ONNXAR_C_EXPORT onnxar_status onnxar_write(onnxar_writer* writer, const void* data, size_t size, onnxar_error** error) {
  return guarded(error, [&] { entries_of(writer).write(bytes_of(data, size, "data")); });
}

ONNXAR_C_EXPORT onnxar_status onnxar_end(onnxar_writer* writer, onnxar_error** error) {
  return guarded(error, [&] { entries_of(writer).end(); });
}

ONNXAR_C_EXPORT onnxar_status onnxar_add_graph(onnxar_writer* writer, const char* name, size_t name_length,
                                               const void* model, size_t size, onnxar_error** error) {
  return guarded(
      error, [&] { entries_of(writer).add_graph(text_of(name, name_length, "name"), bytes_of(model, size, "model")); });
}

ONNXAR_C_EXPORT onnxar_status onnxar_finish(onnxar_writer* writer, const void* model, size_t size,
                                            onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(writer != nullptr, "writer");
    const Bytes bytes = bytes_of(model, size, "model");
    auto* editor = std::get_if<ArchiveEditor>(&writer->writer);
    editor != nullptr ? editor->commit(bytes) : std::get<ArchiveWriter>(writer->writer).finish(bytes);
  });
}

ONNXAR_C_EXPORT void onnxar_writer_free(onnxar_writer* writer) { delete writer; }

ONNXAR_C_EXPORT onnxar_status onnxar_keys_create(uint32_t abi, onnxar_keys** keys, onnxar_error** error) {
  return guarded(abi, error, [&] {
    check_argument(keys != nullptr, "keys");
    *keys = new onnxar_keys;
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_keys_for(const onnxar_archive* archive, onnxar_keys** keys, onnxar_error** error) {
  return guarded(error, [&] {
    check_given("archive", archive, "keys", keys);
    *keys = new onnxar_keys{KeyMaker(archive->archive), {}};
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_make_key(onnxar_keys* keys, const char* tensor_name, size_t name_length,
                                              const char** key, onnxar_error** error) {
  return guarded(error, [&] {
    check_given("keys", keys, "key", key);
    const std::string_view name = text_of(tensor_name, name_length, "tensor_name");
    *key = keys->made.emplace_back(keys->maker.make(name)).c_str();
  });
}

ONNXAR_C_EXPORT void onnxar_keys_free(onnxar_keys* keys) { delete keys; }
