// Writers whose caller loses an exception, calls on after the end, or calls from two places at once: nothing broken is
// published in the place of something good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/open_file.h"
#include "onnxar/archive.h"
#include "onnxar/archive_writer.h"
#include "os/error.h"
#include "os/folder.h"
#include "support/refusal.h"
#include "support/special_files.h"
#include "support/system_calls.h"
#include "support/temp_dir.h"
#include "support/zip_builder.h"

namespace onnxar::testing {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

constexpr std::string_view good = "the good archive that was there before";

/// Throws an exception that is not an onnxar::Error, after half of its bytes.
class BrokenSource final : public ByteSource {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 10; }
  void read(const ByteSink& sink) const override {
    sink(as_bytes("half."));
    throw std::domain_error("the device is gone");
  }
};

/// Calls `action` while it is read.
class CallingSource final : public ByteSource {
 public:
  explicit CallingSource(std::function<void()> action) : action_(std::move(action)) {}
  [[nodiscard]] std::uint64_t size() const override { return 4; }
  void read(const ByteSink& sink) const override {
    action_();
    sink(as_bytes("four"));
  }

 private:
  std::function<void()> action_;
};

/// Gives more bytes than it announces, and loses what it is told of that.
class LosingSource final : public ByteSource {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 4; }
  void read(const ByteSink& sink) const override {
    sink(as_bytes("four"));
    EXPECT_THROW(sink(as_bytes("more")), Error);  // and the error is lost
  }
};

/// A model that is small when it is first asked for its size, and larger than protobuf reads afterwards.
class GrowingModel final : public ByteSource {
 public:
  [[nodiscard]] std::uint64_t size() const override { return std::exchange(size_, 1ULL << 31U); }
  void read(const ByteSink& sink) const override { sink(Bytes()); }

 private:
  mutable std::uint64_t size_ = 10;
};

/// Swallows every exception, as a careless caller does.
void lose(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception&) {
    SUCCEED();
    return;
  }
  ADD_FAILURE() << "it did not fail";
}

template <typename Writer>
struct Fault {
  std::string name;
  std::function<void(Writer&)> add;
};

/// Whether the file system says that it has no room, when room is set aside.
bool promises_room() {
  const TempDir folder;
  const os::File file = base::open_file(folder.write_file("a", "text"), os::Access::read_and_write);
  return os::reason_of(os::set_aside(file, 4, 1U << 20U, os::FileSize::stays)) != os::Reason::unsupported;
}

/// Every way in which adding an entry may fail.
template <typename Writer>
std::vector<Fault<Writer>> faults() {
  const auto half = [given = false](std::span<std::byte> buffer) mutable {
    return std::exchange(given, true) ? std::size_t{0} : buffer.size() / 2;
  };
  const StreamReader thrower = [](std::span<std::byte>) -> std::size_t { throw 7; };
  return {
      {"a bad name", [](Writer& writer) { writer.add("../x", as_bytes("x")); }},
      {"a reserved name", [](Writer& writer) { writer.add("__MODEL_PROTO", as_bytes("x")); }},
      {"a name twice", [](Writer& writer) { writer.add("w", as_bytes("x")); }},
      {"a file that is missing", [](Writer& writer) { writer.add("x", FileRange("/none/at/all")); }},
      {"a file that is too short", [](Writer& writer) { writer.add("x", FileRange("/proc/self/exe", 0, ~0ULL)); }},
      {"a stream that ends", [half](Writer& writer) { writer.add("x", 1000, half); }},
      {"a source that throws", [](Writer& writer) { writer.add("x", BrokenSource()); }},
      {"a source that loses the error of its extra bytes", [](Writer& writer) { writer.add("x", LosingSource()); }},
      {"an empty StreamReader", [](Writer& writer) { writer.add("x", 4, StreamReader()); }},
      {"a size that is negative to the system", [](Writer& writer) { writer.reserve(~0ULL); }},
      // Where no room is promised, this is the fault before once more.
      {"a disk that is too small", [](Writer& writer) { writer.reserve(promises_room() ? 1ULL << 62U : ~0ULL); }},
  };
}

class FailedWriter : public ::testing::Test {
 protected:
  void SetUp() override { folder_.write_file("a", good); }

  [[nodiscard]] ArchiveWriter writer(bool with_weight = true) const {
    ArchiveWriter made = ArchiveWriter::create(folder_ / "a", {.output = {.overwrite = true, .sync = false}});
    if (with_weight) made.add("w", pattern(1024));
    return made;
  }
  void expect_nothing_published() const {
    EXPECT_EQ(folder_.read_text("a"), good);
    EXPECT_EQ(visible_names(folder_), Strings{"a"});
  }

  TempDir folder_;
};

TEST_F(FailedWriter, PublishesNothingAfterALostException) {
  for (const auto& fault : faults<ArchiveWriter>()) {
    SCOPED_TRACE(fault.name);
    ArchiveWriter open = writer();
    EXPECT_ANY_THROW(fault.add(open));  // and the error is lost
    EXPECT_EQ(code_of([&] { open.finish(smallest_model()); }), Code::usage_writer_failed);
    expect_nothing_published();
  }
}

TEST_F(FailedWriter, RepeatsTheFirstErrorAtEveryLaterCall) {
  ArchiveWriter open = writer();
  lose([&] { open.add("x", BrokenSource()); });
  const std::vector<std::function<void()>> calls = {
      [&] { open.add("b", as_bytes("b")); }, [&] { open.add("../c", as_bytes("c")); },
      [&] { open.add("d", FileRange("/none")); }, [&] { open.reserve(10); }, [&] { open.finish(smallest_model()); }};
  for (const auto& call : calls) {
    expect_error(
        error_if_any([&] { call(); }),
        {.code = Code::usage_writer_failed, .path = folder_ / "a", .says = {"the device is gone", "new writer"}});
  }
}

TEST_F(FailedWriter, StaysFailedAfterASecondFinish) {
  ArchiveWriter open = writer(false);
  EXPECT_EQ(code_of([&] { open.finish(smallest_model()); }), Code::onnx_external_missing);
  EXPECT_EQ(code_of([&] { open.finish(smallest_model()); }), Code::usage_writer_failed);
  expect_nothing_published();
}

TEST_F(FailedWriter, AsksAModelForItsSizeOnce) {
  ArchiveWriter open =
      ArchiveWriter::create(folder_ / "a", {.output = {.overwrite = true, .sync = false}, .verify_model = false});
  expect_error(error_if_any([&] { open.finish(GrowingModel()); }), {.code = Code::io_source_size,
                                                                    .entry = model_entry,
                                                                    .path = folder_ / "a",
                                                                    .says = {"shorter than the 10 bytes"}});
  expect_nothing_published();
}

TEST_F(FailedWriter, StaysFailedWhenItIsMoved) {
  ArchiveWriter open = writer();
  lose([&] { open.add("x", BrokenSource()); });
  ArchiveWriter moved = std::move(open);
  EXPECT_EQ(code_of([&] { moved.finish(smallest_model()); }), Code::usage_writer_failed);
  expect_nothing_published();
}

TEST_F(FailedWriter, MovedFromWriterRefusesCalls) {
  ArchiveWriter open = writer();
  const ArchiveWriter moved = std::move(open);
  // NOLINTBEGIN(bugprone-use-after-move): what is tested
  EXPECT_EQ(code_of([&] { open.reserve(100); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { open.add("x", Bytes()); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { open.add_graph("g", smallest_model()); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { open.finish(smallest_model()); }), Code::usage_argument);
  const auto path = folder_.write_file("edited", smallest_archive().bytes);
  ArchiveEditor edit = ArchiveEditor::open(path);
  const ArchiveEditor moved_edit = std::move(edit);
  EXPECT_EQ(code_of([&] { edit.add("x", Bytes()); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { edit.remove("x"); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { edit.commit(smallest_model()); }), Code::usage_argument);
  EXPECT_EQ(code_of([&] { return edit.size_with({}, 10); }), Code::usage_argument);
  // NOLINTEND(bugprone-use-after-move)
}

TEST_F(FailedWriter, FailsForGoodIfTheTargetAppeared) {
  ArchiveWriter open = ArchiveWriter::create(folder_ / "b");
  open.add("w", pattern(1024));
  folder_.write_file("b", "theirs");
  EXPECT_EQ(code_of([&] { open.finish(smallest_model()); }), Code::output_exists);
  EXPECT_EQ(folder_.read_text("b"), "theirs");
  fs::remove(folder_ / "b");
  EXPECT_EQ(code_of([&] { open.finish(smallest_model()); }), Code::usage_writer_failed);
  expect_nothing_published();
}

TEST_F(FailedWriter, CallsAfterTheEndChangeNothing) {
  ArchiveWriter open = writer();
  open.finish(smallest_model());
  const Blob published = folder_.read_file("a");
  EXPECT_EQ(code_of([&] { open.add("b", as_bytes("b")); }), Code::usage_writer_finished);
  EXPECT_EQ(code_of([&] { open.finish(smallest_model()); }), Code::usage_writer_finished);
  EXPECT_EQ(folder_.read_file("a"), published);
}

TEST_F(FailedWriter, SourceThatAddsAnEntryFailsIt) {
  ArchiveWriter open = writer();
  std::optional<Code> inner;
  const CallingSource source([&] { inner = code_of([&] { open.add("inner", as_bytes("x")); }); });
  EXPECT_EQ(code_of([&] { open.add("outer", source); }), Code::usage_writer_busy);
  EXPECT_EQ(inner, Code::usage_writer_busy);
  EXPECT_EQ(code_of([&] { open.finish(smallest_model()); }), Code::usage_writer_failed);
  expect_nothing_published();
}

TEST_F(FailedWriter, RefusesModelThatAddsAnEntryWhileItIsRead) {
  ArchiveWriter open = writer();
  const CallingSource model([&] { lose([&] { open.add("inner", as_bytes("x")); }); });
  EXPECT_TRUE(code_of([&] { open.finish(model); }));
  expect_nothing_published();
}

TEST_F(FailedWriter, FailingSystemCallThatIsLostPublishesNothing) {
  for (std::size_t failing = 0;; ++failing) {
    ASSERT_LT(failing, 20U);
    FileCallLog log;
    log.fail = [calls = std::size_t{0}, failing](const FileCall&) mutable { return calls++ == failing ? EIO : 0; };
    ArchiveWriter open = ArchiveWriter::create(folder_ / "a", {.output = {.overwrite = true}});
    bool lost = false;
    const auto call = [&lost](const auto& action) {
      const auto code = code_of(action);
      EXPECT_EQ(code == Code::usage_writer_failed, lost) << "the first failure counts";
      lost = lost || code;
    };
    call([&] { open.add("w", pattern(200000)); });
    call([&] { open.add("b", pattern(200000)); });
    call([&] { open.finish(smallest_model()); });
    if (!lost) break;
    if (folder_.read_text("a") == good) continue;
    EXPECT_EQ(Archive::open(folder_ / "a").size(), 3U) << "the folder's sync failed: the file is whole";
    folder_.write_file("a", good);
  }
}

// --- Editors ---------------------------------------------------------------------------------------------------------

TEST(FailedEditor, LeavesTheArchiveAsItWasAfterALostException) {
  const TempDir folder;
  const Blob before = smallest_archive().bytes;
  const fs::path path = folder.write_file("a", before);
  for (const auto& fault : faults<ArchiveEditor>()) {
    SCOPED_TRACE(fault.name);
    {
      ArchiveEditor open = ArchiveEditor::open(path, {.output = {.sync = false}});
      open.add("large", pattern(3 * mebibyte));
      EXPECT_ANY_THROW(fault.add(open));  // and the error is lost
      EXPECT_EQ(code_of([&] { open.commit(smallest_model()); }), Code::usage_writer_failed);
      EXPECT_EQ(open.archive().size(), 2U) << "the state before may be looked at";
    }
    EXPECT_EQ(folder.read_file("a"), before);
  }
}

// X1: what a reader may have opened is not cut off.
TEST(FailedEditor, WritesNoEndRecordIfItIsCalledDuringTheCommit) {
  const TempDir folder;
  const Blob before = smallest_archive().bytes;
  const fs::path path = folder.write_file("a", before);
  FileCallLog log;
  {
    ArchiveEditor open = ArchiveEditor::open(path, {.output = {.sync = false}, .verify_model = false});
    const CallingSource model([&] { lose([&] { open.add("inner", as_bytes("x")); }); });
    EXPECT_EQ(code_of([&] { open.commit(model); }), Code::usage_writer_busy);
  }
  const Blob end = blob("PK\5\6");
  const auto writes_end = [&end](const FileCall& call) { return !std::ranges::search(call.data, end).empty(); };
  EXPECT_FALSE(log.calls().empty());
  EXPECT_TRUE(std::ranges::none_of(log.calls(), writes_end));
  EXPECT_EQ(folder.read_file("a"), before);
}

TEST(FailedEditor, CallsAfterTheCommitChangeNothing) {
  const TempDir folder;
  const fs::path path = folder.write_file("a", smallest_archive().bytes);
  ArchiveEditor open = ArchiveEditor::open(path, {.output = {.sync = false}});
  open.commit(smallest_model(256, "edited"));
  const Blob published = folder.read_file("a");
  EXPECT_EQ(code_of([&] { open.add("b", as_bytes("b")); }), Code::usage_writer_finished);
  EXPECT_EQ(code_of([&] { open.commit(smallest_model()); }), Code::usage_writer_finished);
  EXPECT_EQ(folder.read_file("a"), published);
}

}  // namespace
}  // namespace onnxar::testing
