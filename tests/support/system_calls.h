// What the code under test does to files, seen where it calls the system.
//
// A program that uses these classes has its own pwritev, fsync and ftruncate, which tell what was done and do it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace onnxar::testing {

/// One call that changes a file, or makes sure that earlier ones reached the disk.
struct FileCall {
  enum class Kind : std::uint8_t { write, sync, set_size };
  Kind kind = Kind::write;
  std::uint64_t offset = 0;     ///< of a write; the size that is set
  std::vector<std::byte> data;  ///< of a write
};

/// The calls of this process, from the constructor to the destructor. One at a time; not for several threads.
class FileCallLog {
 public:
  FileCallLog();
  FileCallLog(const FileCallLog&) = delete;
  FileCallLog& operator=(const FileCallLog&) = delete;
  ~FileCallLog();

  [[nodiscard]] const std::vector<FileCall>& calls() const { return calls_; }
  void add(FileCall call) { calls_.push_back(std::move(call)); }

  /// Asked before each call; an errno has it fail by that, 0 lets it pass.
  std::function<int(const FileCall&)> fail;

 private:
  std::vector<FileCall> calls_;
};

}  // namespace onnxar::testing
