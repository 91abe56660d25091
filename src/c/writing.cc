// Writing archives, and the keys of their entries.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "base/text.h"
#include "c/boundary.h"
#include "onnxar/archive_writer.h"
#include "onnxar/error.h"
#include "os/names.h"

struct onnxar_writer {  // NOLINT(readability-identifier-naming): a name of C
  onnxar::ArchiveWriter writer;
};

struct onnxar_keys {  // NOLINT(readability-identifier-naming): a name of C
  onnxar::KeyMaker maker;
  std::deque<std::string> made;  // a deque: growing moves no key that the caller has a pointer to
};

namespace onnxar::c {
namespace {

constexpr std::size_t first_writer_options = offsetof(onnxar_writer_options, reserved) + sizeof(std::int32_t);
static_assert(sizeof(void*) != 8 || first_writer_options == 40);

WriterOptions writer_options_of(const onnxar_writer_options* given) {
  const onnxar_writer_options known = known_part(given, first_writer_options);
  // A later version may give this padding a meaning, so a caller that leaves it uninitialised is told now.
  if (known.reserved != 0) {
    throw Error(Code::usage_argument, "`reserved` of the options of a writer is set; set it to 0");
  }
  WriterOptions options;
  // 0 is not an alignment, so it means the default.
  if (known.alignment != 0) options.alignment = known.alignment;
  options.output = {
      .overwrite = known.overwrite != 0, .sync = known.no_sync == 0, .threads = thread_count(known.threads)};
  options.verify_model = known.no_verify_model == 0;
  return options;
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
    *writer = new onnxar_writer{ArchiveWriter::create(os::path_of(path), writer_options_of(options))};
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_reserve(onnxar_writer* writer, uint64_t bytes, onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(writer != nullptr, "writer");
    writer->writer.reserve(bytes);
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_add(onnxar_writer* writer, const char* name, size_t name_length, const void* data,
                                         size_t size, onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(writer != nullptr, "writer");
    writer->writer.add(text_of(name, name_length, "name"), bytes_of(data, size, "data"));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_add_stream(onnxar_writer* writer, const char* name, size_t name_length,
                                                uint64_t size, onnxar_read_callback read, void* context,
                                                onnxar_error** error) {
  return guarded(error, [&] {
    check_given("writer", writer, "read", read);
    writer->writer.add(text_of(name, name_length, "name"), size, stream_of(read, context));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_add_graph(onnxar_writer* writer, const char* name, size_t name_length,
                                               const void* model, size_t size, onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(writer != nullptr, "writer");
    writer->writer.add_graph(text_of(name, name_length, "name"), bytes_of(model, size, "model"));
  });
}

ONNXAR_C_EXPORT onnxar_status onnxar_finish(onnxar_writer* writer, const void* model, size_t size,
                                            onnxar_error** error) {
  return guarded(error, [&] {
    check_argument(writer != nullptr, "writer");
    writer->writer.finish(bytes_of(model, size, "model"));
  });
}

ONNXAR_C_EXPORT void onnxar_writer_free(onnxar_writer* writer) { delete writer; }

ONNXAR_C_EXPORT onnxar_status onnxar_keys_create(uint32_t abi, onnxar_keys** keys, onnxar_error** error) {
  return guarded(abi, error, [&] {
    check_argument(keys != nullptr, "keys");
    *keys = new onnxar_keys;
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
