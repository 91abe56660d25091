// The C interface with hostile bytes, as Python and other languages call it. No call reports a fault of this library or
// a misuse, each result is consistent with the others, and an error can be asked everything.
//
// Input: the archive; a name to look up; 2 bytes: the length of the name.
#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "fuzz/fuzz.h"
#include "fuzz/reader.h"
#include "fuzz/scratch.h"
#include "onnxar/onnxar_c.h"

namespace onnxar::fuzz::c_interface_target {
namespace {

bool is_text(const char* text) { return text != nullptr && std::strlen(text) < (std::size_t{1} << 24U); }

/// Frees the error and returns the status, which `error` must agree with.
onnxar_status judged(onnxar_status status, onnxar_error* error) {
  require((status == ONNXAR_OK) == (error == nullptr), "an error comes with a failure, and only then");
  require(onnxar_error_status(error) == status, "an error has its status");
  require(status != ONNXAR_INTERNAL, std::string("no input is a fault of the library: ") + onnxar_error_line(error));
  for (const char* text :
       {onnxar_error_code(error), onnxar_error_message(error), onnxar_error_line(error), onnxar_error_hint(error),
        onnxar_error_hint_value(error), onnxar_error_entry(error), onnxar_error_path(error)}) {
    require(is_text(text), "every part of an error is text");
  }
  std::uint64_t offset = 0;
  onnxar_error_offset(error, &offset);
  onnxar_error_free(error);
  return status;
}

/// The status of a call that only the bytes may make fail.
template <typename Call>
bool done(const Call& call) {
  onnxar_error* error = nullptr;
  const onnxar_status status = call(&error);
  const std::string line = onnxar_error_line(error);
  judged(status, error);
  require(status == ONNXAR_OK || status == ONNXAR_FORMAT, "only the bytes are at fault: " + line);
  return status == ONNXAR_OK;
}

/// A lookup by a name that need not exist.
template <typename Call>
bool found(std::string_view missing, const Call& call) {
  onnxar_error* error = nullptr;
  const onnxar_status status = call(&error);
  const std::string code = onnxar_error_code(error);
  judged(status, error);
  const bool is_ambiguous = code == "usage.ambiguous_tensor";
  require(status == ONNXAR_OK || code == missing || is_ambiguous, "what is not found is reported as that: " + code);
  return status == ONNXAR_OK || is_ambiguous;
}

void use_entry(const onnxar_archive* archive, std::uint64_t index, Bytes file) {
  onnxar_entry entry{};
  require(done([&](onnxar_error** error) { return onnxar_get_entry(archive, index, &entry, error); }),
          "an entry is there");
  onnxar_entry again{};
  require(
      done([&](onnxar_error** error) { return onnxar_find(archive, entry.name, entry.name_length, &again, error); }) &&
          again.index == index,
      "it is found by its name");
  onnxar_location place{};
  const bool located = done([&](onnxar_error** error) { return onnxar_locate(archive, index, &place, error); });
  onnxar_bytes bytes{};
  const bool usable = done([&](onnxar_error** error) { return onnxar_get_bytes(archive, index, &bytes, error); });
  require(located == usable, "what can be located can be read");
  std::vector<std::byte> copy(entry.size);
  const bool read = done([&](onnxar_error** error) {
    return onnxar_read_entry(archive, index, copy.empty() ? &place : static_cast<void*>(copy.data()), copy.size(),
                             error);
  });
  const bool verified = done([&](onnxar_error** error) { return onnxar_verify(archive, index, error); });
  require(read == verified, "reading compares what verifying compares");
  if (!usable) return;
  require(bytes.size == entry.size && static_cast<const std::byte*>(bytes.data) == file.data() + place.offset,
          "in place");
  require(!read || bytes.size == 0 || std::memcmp(copy.data(), bytes.data, copy.size()) == 0, "a copy is the same");
}

void use_tensor(onnxar_tensors* tensors, std::uint64_t index) {
  onnxar_tensor tensor{};
  require(done([&](onnxar_error** error) { return onnxar_get_tensor(tensors, index, &tensor, error); }),
          "a tensor is there");
  for (std::size_t i = 0; i < tensor.dims_count; ++i) require(tensor.dims[i] >= 0, "M17: no dimension is negative");
  std::uint64_t by_name = 0;
  const bool named = found("usage.no_such_tensor", [&](onnxar_error** error) {
    return onnxar_lookup(tensors, tensor.name, tensor.name_length, &by_name, error);
  });
  require(named == (tensor.name_length != 0), "a tensor with a name is found by it");
  std::array<onnxar_bytes, 2> bytes{};
  for (onnxar_bytes& each : bytes) {
    if (!done([&](onnxar_error** error) { return onnxar_get_tensor_bytes(tensors, index, &each, error); })) return;
  }
  require(bytes[0].data == bytes[1].data && bytes[0].size == bytes[1].size, "asked twice, the bytes are the same");
}

void use_tensors(const onnxar_archive* archive) {
  onnxar_tensors* tensors = nullptr;
  if (!done([&](onnxar_error** error) { return onnxar_get_tensors(archive, &tensors, error); })) return;
  for (std::uint64_t i = 0; i < onnxar_tensor_count(tensors); ++i) use_tensor(tensors, i);
  onnxar_tensors_free(tensors);
}

void resolve(const onnxar_archive* archive, std::string_view name, Bytes file) {
  onnxar_bytes bytes{};
  const bool resolved = done([&](onnxar_error** error) {
    return onnxar_resolve(archive, name.data(), name.size(), 0, ONNXAR_TO_END, &bytes, error);
  });
  onnxar_entry entry{};
  const bool exists = found("usage.no_such_entry", [&](onnxar_error** error) {
    return onnxar_find(archive, name.data(), name.size(), &entry, error);
  });
  require(exists || !resolved, "what resolves is an entry");
  if (!resolved) return;
  const auto* const data = static_cast<const std::byte*>(bytes.data);
  require(lies_in(Bytes(data, bytes.size), file), "in the archive");
}

void use(onnxar_archive* archive, std::string_view name, Bytes file) {
  for (std::uint64_t i = 0; i < onnxar_count(archive); ++i) use_entry(archive, i, file);
  resolve(archive, name, file);
  use_tensors(archive);
  onnxar_bytes model{};
  done([&](onnxar_error** error) { return onnxar_model(archive, &model, error); });
}

/// Runs a verb, whose failure must lie in the bytes.
template <typename Verb>
bool ran(const Verb& verb) {
  onnxar_report* report = nullptr;
  onnxar_options options{};
  options.struct_size = sizeof options;
  const bool good = done([&](onnxar_error** error) { return verb(options, &report, error); });
  for (std::uint64_t i = 0; i < onnxar_finding_count(report); ++i) {
    onnxar_finding finding{};
    require(done([&](onnxar_error** error) { return onnxar_get_finding(report, i, &finding, error); }),
            "a finding is there");
    for (const char* text : {finding.code, finding.entry, finding.message, finding.line})
      require(is_text(text), "as text");
  }
  const bool passes = good && onnxar_passed(report) == 1;
  onnxar_report_free(report);
  return passes;
}

void run_verbs(Bytes input) {
  const std::string path = put("in", input);
  const std::string out = scratch() / "out";
  const bool sound = ran([&](onnxar_options options, onnxar_report** report, onnxar_error** error) {
    options.data = 1;
    return onnxar_check(ONNXAR_C_ABI, path.c_str(), &options, report, error);
  });
  std::string refusal;
  const bool unpacked = ran([&](onnxar_options options, onnxar_report** report, onnxar_error** error) {
    options.overwrite = options.no_sync = 1;
    const onnxar_status status = onnxar_unpack(ONNXAR_C_ABI, path.c_str(), out.c_str(), &options, report, error);
    refusal = onnxar_error_code(*error);
    return status;
  });
  // Of a name that is defined twice, `check` only warns, and unpacking its data into the model is refused.
  require(unpacked || !sound || refusal == "onnx.graph.duplicate",
          "an archive that passes can be unpacked: " + refusal);
}

}  // namespace

void run(Bytes input) {
  const auto both = two_of(input);
  if (!both) return;
  const Bytes file = both->first;
  onnxar_archive* archive = nullptr;
  const bool opened = done([&](onnxar_error** error) {
    return onnxar_open_memory(ONNXAR_C_ABI, file.empty() ? input.data() : file.data(), file.size(), nullptr, nullptr,
                              nullptr, &archive, error);
  });
  if (!opened) return;
  use(archive, as_text(both->second), file);
  onnxar_close(archive);
  run_verbs(file);
}

}  // namespace onnxar::fuzz::c_interface_target
