// Bad arguments, and guarantees about the memory of payloads.
#include <gmock/gmock.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "inspect/inspection.h"
#include "model/front_end.h"
#include "onnxar/resolve.h"
#include "support/model_samples.h"
#include "support/refusal.h"

namespace onnxar::testing {
namespace {

// --- Where payloads lie ----------------------------------------------------------------------------------------------

TEST(Payload, OfAMessageIsAViewOfItAndNotACopy) {
  Model model;
  schema::TensorProto& tensor = add_initializer(model, "w", dtype::float32, {4});
  tensor.set_raw_data(std::string(16, 'x'));
  const ByteSpan payload = model.payload(tensor);
  EXPECT_EQ(payload.bytes().data(), as_bytes(tensor.raw_data()).data());
  EXPECT_FALSE(payload.owned());
  EXPECT_EQ(payload.owner(), nullptr);
}

TEST(Payload, ReportsTheAlignmentThatItsAddressHas) {
  const Blob bytes = pattern(256);
  Model model;
  schema::TensorProto& tensor = add_initializer(model, "w", dtype::uint8, {64});
  for (std::size_t begin = 0; begin < 130; ++begin) {
    const Bytes part = Bytes(bytes).subspan(begin, 64);
    model.set_payload(tensor, ByteSpan::borrow(part));
    const ByteSpan payload = model.payload(tensor);
    ASSERT_EQ(payload.bytes().data(), part.data()) << "it is not copied";
    const auto address = reinterpret_cast<std::uintptr_t>(part.data());
    EXPECT_EQ(address % payload.alignment(), 0U);
    const bool to_twice_as_much = address % (2 * payload.alignment()) == 0;
    EXPECT_FALSE(to_twice_as_much && payload.alignment() < 4096);
  }
}

TEST(Payload, OfAFileIsAsAlignedAsItsEntry) {
  const TempDir folder;
  const auto path = folder.write_file(
      "a.onnxar", archive_of(model_of({linked_floats("w", 4, "k")}), {zip_entry("k", pattern(16))}).bytes);
  const Model model = Model::load(path);
  EXPECT_GE(model.payload(initializer(model, 0)).alignment(), 64U);
}

// --- Functions that are empty ----------------------------------------------------------------------------------------

void expect_refused(const std::function<void()>& action) {
  expect_error(error_of(action), {.code = Code::usage_argument, .says = {"is empty"}});
}

TEST(EmptyFunction, IsRefusedBeforeTheWorkBegins) {
  const TempDir folder;
  const auto path = folder.write_file("m.onnx", model_of({floats("w", 4)}).view());
  Model model = Model::load(path);
  const Model& constant = model;
  expect_refused([&] { onnxar::dump(path, ByteSink()); });
  expect_refused([&] { static_cast<void>(shape_text({Dimension{{}, "n"}}, nullptr)); });
  expect_refused([&] { for_each_tensor(model.proto(), std::function<void(schema::TensorProto&)>()); });
  expect_refused(
      [&] { for_each_tensor(model.proto(), std::function<void(schema::TensorProto&, const TensorInfo&)>()); });
  expect_refused(
      [&] { for_each_tensor(constant.proto(), std::function<void(const schema::TensorProto&, const TensorInfo&)>()); });
  const Built archive = archive_of(model_of({floats("w", 4)}));
  const Archive open = Archive::open(archive.bytes, nullptr);
  const std::function<void(const schema::TensorProto&, std::optional<Bytes>)> nothing;
  expect_refused([&] { resolve_all(open, model.proto(), nothing); });
  expect_refused([] { SpanSource(Bytes()).read(nullptr); });
}

// --- What std::filesystem throws -------------------------------------------------------------------------------------

/// Sets an environment variable for its own lifetime.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(FileSystem, MissingTemporaryFolderIsAnIoError) {
  const TempDir folder;
  Model model;
  const FreezeOptions options = {.weights = folder.write_file("w.npz", Bytes(ZipBuilder().build()))};
  const Environment tmpdir("TMPDIR", "/none/at/all");
  const Error error = error_of([&] { freeze(model, options); });
  EXPECT_EQ(kind(error.code()), Kind::io) << error.what();
}

TEST(Enumeration, UnknownNumbersHaveAText) {
  EXPECT_EQ(to_string(static_cast<DataType>(-5)), "-5");
  EXPECT_EQ(to_string(static_cast<BlockKind>(99)), "");
  EXPECT_EQ(to_string(static_cast<ModelForm>(99)), "");
}

}  // namespace
}  // namespace onnxar::testing
