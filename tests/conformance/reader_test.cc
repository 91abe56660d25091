// The vectors of the specification, read by the reader of reader/ and by the library. Both find what the manifest
// states.
#include "conformance/vectors.h"
#include "onnx/sites.h"
#include "onnxar/archive.h"
#include "reader/reading.h"
#include "support/guarded_buffer.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

/// A reader may ignore checksums, and this one does: a file with a wrong one passes.
bool passes(const Vector& vector) { return vector.stage().empty() || vector.row["rule"] == "M22"; }

ReaderFault stated_fault(const Json& row) {
  const Fault fault = expected_fault(row);
  return {fault.code, fault.entry.substr(0, 1024), fault.offset};
}

onnxar_reader_options reader_options_of(const Json& row) {
  onnxar_reader_options options = {};
  const Json given = row.value("options", Json::object());
  options.max_entries = given.value("max_entries", std::uint64_t{0});
  options.max_directory = given.value("max_directory_size", std::uint64_t{0});
  options.max_model = given.value("max_model_size", std::uint64_t{0});
  return options;
}

/// The fault of the first stage that refuses the archive, and the stage.
struct Verdict {
  std::string stage;
  std::optional<ReaderFault> fault;
};

Verdict verdict_of(const Reader& archive, const std::optional<ReaderFault>& of_opening) {
  if (!archive) return {"open", of_opening};
  if (const auto fault = fault_of_use(archive.get())) return {"use", fault};
  if (const auto fault = fault_of_check(archive.get(), 0)) return {"check", fault};
  if (const auto fault = fault_of_check(archive.get(), OAR_CHECK_DATA)) return {"data", fault};
  for (std::size_t i = 0; i < onnxar_reader_count(archive.get()); ++i) {
    EXPECT_EQ(onnxar_reader_verify(archive.get(), i, nullptr), 0);
  }
  return {};
}

void expect_stated_verdict(const Vector& vector, const Reader& archive, const std::optional<ReaderFault>& of_opening) {
  const Verdict verdict = verdict_of(archive, of_opening);
  if (passes(vector)) {
    EXPECT_EQ(verdict.fault, std::nullopt);
    return;
  }
  EXPECT_EQ(verdict.stage, vector.stage());
  EXPECT_EQ(verdict.fault, stated_fault(vector.row));
}

void expect_stated_verdict(const Vector& vector, const std::filesystem::path& path) {
  const onnxar_reader_options options = reader_options_of(vector.row);
  const Blob bytes = read_file(path);
  std::optional<ReaderFault> fault;
  for (const GuardedBuffer& guarded :
       {GuardedBuffer::ending_at_guard(bytes), GuardedBuffer::starting_after_guard(bytes)}) {
    const Reader archive = opened(guarded.bytes(), fault, options);
    expect_stated_verdict(vector, archive, fault);
  }
  ByteSource source(bytes);
  const Reader by_callbacks = opened(source, fault, options);
  expect_stated_verdict(vector, by_callbacks, fault);
  onnxar_reader* mapped = nullptr;
  onnxar_reader_error error = {};
  fault = fault_after(onnxar_reader_open(path.string().c_str(), &options, &mapped, &error), error);
  expect_stated_verdict(vector, Reader(mapped), fault);
}

// --- Both readers ----------------------------------------------------------------------------------------------------

/// A tensor as both readers describe it.
struct Described {
  std::string name;
  int site = 0;
  std::int32_t type = 0;
  std::vector<std::int64_t> dims;
  const void* data = nullptr;  ///< of raw data or in an entry
  std::uint64_t size = 0;

  friend bool operator==(const Described&, const Described&) = default;
  friend void PrintTo(const Described& tensor, std::ostream* out) {  // NOLINT(readability-identifier-naming)
    *out << tensor.name << " site " << tensor.site << " type " << tensor.type << ' ' << shape_text(tensor.dims) << ' '
         << tensor.size << " bytes at " << tensor.data;
  }
};

int site_of(onnx::SiteKind kind) {
  switch (kind) {
    case onnx::SiteKind::initializer: return OAR_INITIALIZER;
    case onnx::SiteKind::attribute: return OAR_ATTRIBUTE;
    case onnx::SiteKind::sparse_values: return OAR_SPARSE_VALUES;
    case onnx::SiteKind::sparse_indices: return OAR_SPARSE_INDICES;
    case onnx::SiteKind::function_default: return OAR_FUNCTION_DEFAULT;
    case onnx::SiteKind::training: return OAR_TRAINING;
  }
  return -1;
}

std::vector<Described> described_by_library(const Archive& archive, const ArchiveEntry& entry) {
  std::vector<Described> all;
  onnx::walk_tensors(archive.bytes(entry), [&](const onnx::TensorSite& site) {
    const onnx::TensorView& tensor = site.tensor;
    Described one = {std::string(tensor.name), site_of(site.kind), static_cast<std::int32_t>(tensor.type), tensor.dims};
    Bytes bytes;
    if (tensor.is_external()) {
      const onnx::ExternalSlice link = onnx::parse_external_data(tensor.external, 0);
      bytes = archive.resolve(link.location, link.offset, link.length ? link.length : tensor.expected_size());
    } else if (tensor.raw_data && !tensor.typed_data) {
      bytes = tensor.raw_data->of(site.model);
    }
    if (!bytes.empty()) one.data = bytes.data();
    one.size = bytes.size();
    all.push_back(std::move(one));
  });
  return all;
}

std::vector<Described> described_by_reader(const onnxar_reader* archive, std::size_t index) {
  std::vector<Described> all;
  const auto visit = [&all](const onnxar_reader_walk* /*walk*/, const onnxar_reader_tensor& tensor) {
    const bool has_bytes = tensor.kind == OAR_INLINE || tensor.kind == OAR_LINKED;
    all.push_back({std::string(name_of(tensor)), tensor.site, tensor.data_type,
                   std::vector(tensor.dims, tensor.dims + tensor.rank),
                   has_bytes && tensor.size > 0 ? tensor.data : nullptr, has_bytes ? tensor.size : 0});
  };
  EXPECT_EQ(walk_model(archive, index, visit), std::nullopt);
  return all;
}

void expect_same_reading(const Blob& bytes) {
  const Archive library = Archive::open(Bytes(bytes), nullptr);
  const Reader archive = opened(bytes);
  ASSERT_EQ(onnxar_reader_count(archive.get()), library.size());
  for (std::size_t i = 0; i < library.size(); ++i) {
    const ArchiveEntry expected = library.entry(i);
    onnxar_reader_entry entry = {};
    onnxar_reader_range range = {};
    ASSERT_EQ(onnxar_reader_get_entry(archive.get(), i, &entry, nullptr), 0);
    ASSERT_EQ(onnxar_reader_get_data(archive.get(), i, &range, nullptr), 0);
    EXPECT_EQ(std::string_view(entry.name, entry.name_length), expected.name);
    EXPECT_EQ(entry.size, expected.size);
    EXPECT_EQ(entry.crc32, expected.crc32);
    EXPECT_EQ(range.offset, library.locate(expected).offset);
    EXPECT_EQ(range.data, bytes.data() + range.offset);
    EXPECT_EQ(onnxar_reader_find(archive.get(), entry.name, entry.name_length), i);
    const bool is_model = i + 1 == library.size();
    if (is_model || onnxar_reader_is_graph(archive.get(), i) != 0) {
      EXPECT_EQ(described_by_reader(archive.get(), i), described_by_library(library, expected));
    }
  }
}

// --- Tests -----------------------------------------------------------------------------------------------------------

class ReaderVectors : public ::testing::TestWithParam<Vector> {};

TEST_P(ReaderVectors, HaveTheStatedVerdict) { expect_stated_verdict(GetParam(), folder() / GetParam().file); }

INSTANTIATE_TEST_SUITE_P(Spec, ReaderVectors, ::testing::ValuesIn(kept()), test_name);

class ReaderValidVectors : public ::testing::TestWithParam<Vector> {};

TEST_P(ReaderValidVectors, AreReadAsTheLibraryReadsThem) {
  if (passes(GetParam())) expect_same_reading(read_file(folder() / GetParam().file));
}

INSTANTIATE_TEST_SUITE_P(Spec, ReaderValidVectors, ::testing::ValuesIn(kept()), test_name);

TEST(ReaderLargeVectorsSlow, HaveTheStatedVerdict) {
  const TempDir dir;
  ASSERT_TRUE(generate_large(dir.path()));
  for (const Vector& vector : large()) {
    SCOPED_TRACE(vector.file);
    expect_stated_verdict(vector, dir.path() / vector.file);
    if (passes(vector)) expect_same_reading(read_file(dir.path() / vector.file));
  }
}

}  // namespace
}  // namespace onnxar::testing
