// Compares the reader's result for each vector of the specification with spec/vectors/manifest.json.
#include "conformance/vectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "onnxar/archive.h"
#include "onnxar/convert.h"
#include "onnxar/listing.h"
#include "support/guarded_buffer.h"
#include "support/ranged_blob.h"
#include "support/temp_dir.h"

namespace onnxar::testing {
namespace {

OpenOptions options_of(const Json& row) {
  OpenOptions options;
  const Json given = row.value("options", Json::object());
  options.max_entries = given.value("max_entries", options.max_entries);
  options.max_directory_size = given.value("max_directory_size", options.max_directory_size);
  options.max_model_size = given.value("max_model_size", options.max_model_size);
  return options;
}

// --- The stages ------------------------------------------------------------------------------------------------------

Fault fault_of(const Finding& finding) {
  return {std::string(id(finding.code)), finding.place.entry, finding.place.offset};
}

/// The fault that `action` is refused for.
template <typename Action>
std::vector<Fault> faults_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return {fault_of(error.finding())};
  }
  return {};
}

void use_all(const Archive& archive) {
  for (std::size_t i = 0; i < archive.size(); ++i) static_cast<void>(archive.bytes(archive.entry(i)));
}

std::vector<Finding> findings_of(const std::filesystem::path& path, bool data, const LoadOptions& load = {}) {
  CheckOptions options;
  options.data = data;
  options.load = load;
  return check(path, options);
}

/// Without the words: they may have more advice for a file.
std::vector<std::pair<Severity, Fault>> verdicts_of(const std::vector<Finding>& findings) {
  std::vector<std::pair<Severity, Fault>> verdicts;
  for (const Finding& finding : findings) verdicts.emplace_back(finding.severity, fault_of(finding));
  return verdicts;
}

std::vector<Fault> errors_of(const std::filesystem::path& path, bool data) {
  std::vector<Fault> errors;
  for (const Finding& finding : findings_of(path, data)) {
    if (finding.severity == Severity::error) errors.push_back(fault_of(finding));
  }
  return errors;
}

std::vector<Fault> faults_at(const std::string& stage, const std::filesystem::path& path, const OpenOptions& options) {
  if (stage == "open") return faults_of([&] { Archive::open(path, options); });
  if (stage == "use") return faults_of([&] { use_all(Archive::open(path, options)); });
  return errors_of(path, stage == "data");
}

constexpr std::array stages = {"open", "use", "check", "data"};

/// Expects that every stage before the stated one passes, and that this stage and all later ones find only this fault.
void expect_refused(const Vector& vector, const std::filesystem::path& path) {
  const std::vector<Fault> expected = {expected_fault(vector.row)};
  ASSERT_NE(std::ranges::find(stages, vector.stage()), stages.end());
  bool reached = false;
  for (const std::string stage : stages) {
    reached = reached || stage == vector.stage();
    // `check` reads a file that does not begin as a zip as a plain model, and it does not apply these limits.
    const bool asks_check = stage == "check" || stage == "data";
    if (asks_check && (vector.row.contains("options") || !looks_like_zip(read_file(path)))) break;
    EXPECT_EQ(faults_at(stage, path, options_of(vector.row)), reached ? expected : std::vector<Fault>()) << stage;
  }
  EXPECT_TRUE(reached);
}

void expect_entries(const Json& row, const Archive& archive) {
  if (row.contains("count")) {
    EXPECT_EQ(archive.size(), row["count"]);
    return;
  }
  Json entries = Json::array();
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    const std::uint64_t offset = archive.locate(entry).offset;
    entries.push_back({{"name", entry.name}, {"offset", offset}, {"size", entry.size}, {"crc32", entry.crc32}});
  }
  EXPECT_EQ(entries, row["entries"]);
}

/// The codes of all remarks, or of the notes among them, each once.
Json remarks_of(const std::vector<Finding>& findings, bool notes_alone) {
  std::set<std::string_view> codes;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::note || !notes_alone) codes.insert(id(finding.code));
  }
  return codes;
}

void expect_accepted(const Vector& vector, const std::filesystem::path& path) {
  const OpenOptions options = options_of(vector.row);
  for (const std::string stage : stages) EXPECT_EQ(faults_at(stage, path, options), std::vector<Fault>()) << stage;
  const std::vector<Finding> findings = check(path);
  EXPECT_EQ(remarks_of(findings, false), vector.row["warnings"]);
  EXPECT_EQ(remarks_of(findings, true), vector.row.value("notes", Json::array()));
  expect_entries(vector.row, Archive::open(path));
  EXPECT_EQ(digest(Archive::open(path)).hex, vector.row["digest"].get<std::string>());
}

void expect_as_stated(const Vector& vector, const std::filesystem::path& path) {
  if (vector.stage().empty()) {
    expect_accepted(vector, path);
  } else {
    expect_refused(vector, path);
  }
}

// --- Tests -----------------------------------------------------------------------------------------------------------

class Vectors : public ::testing::TestWithParam<Vector> {};

TEST_P(Vectors, AreReadAsStated) { expect_as_stated(GetParam(), folder() / GetParam().file); }

INSTANTIATE_TEST_SUITE_P(Spec, Vectors, ::testing::ValuesIn(kept()), test_name);

/// Every vector again: in memory before an inaccessible page, and only in the ranges that the reader asks for.
class VectorsByRanges : public ::testing::TestWithParam<Vector> {};

TEST_P(VectorsByRanges, HaveTheResultOfTheWholeFile) {
  const std::filesystem::path path = folder() / GetParam().file;
  const Blob bytes = read_file(path);
  const GuardedBuffer guarded = GuardedBuffer::ending_at_guard(bytes);
  const OpenOptions options = options_of(GetParam().row);
  const auto open = [&] { return Archive::open(by_ranges(bytes), options); };
  // In memory, because a path also has the verdict archive.torn, which a walk over the whole file gives.
  const auto open_whole = [&] { return Archive::open(guarded.bytes(), nullptr, options); };
  EXPECT_EQ(faults_of(open), faults_of(open_whole));
  EXPECT_EQ(faults_of([&] { use_all(open()); }), faults_of([&] { use_all(open_whole()); }));
  if (GetParam().row.contains("options") || !looks_like_zip(bytes) ||
      GetParam().row.value("code", "") == "archive.torn")
    return;
  for (const bool data : {false, true}) {
    LoadOptions load;
    load.open_ranges = [&bytes](const std::filesystem::path&) { return by_ranges(bytes); };
    EXPECT_EQ(verdicts_of(findings_of(path, data, load)), verdicts_of(findings_of(path, data))) << data;
  }
  if (!GetParam().stage().empty()) return;
  expect_entries(GetParam().row, open());
  EXPECT_EQ(digest(open()).hex, GetParam().row["digest"].get<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Spec, VectorsByRanges, ::testing::ValuesIn(kept()), test_name);

TEST(Manifest, IsWhole) {
  const std::vector<Vector> vectors = manifest();
  const auto valid = std::ranges::count_if(vectors, [](const Vector& vector) { return vector.stage().empty(); });
  EXPECT_GE(valid, 20);
  EXPECT_GE(std::ssize(vectors) - valid, 150);
}

TEST(LargeVectorsSlow, AreReadAsStated) {
  const TempDir dir;
  ASSERT_TRUE(generate_large(dir.path()));
  for (const Vector& vector : large()) {
    SCOPED_TRACE(vector.file);
    expect_as_stated(vector, dir.path() / vector.file);
  }
}

}  // namespace
}  // namespace onnxar::testing
