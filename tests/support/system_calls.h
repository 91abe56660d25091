// Logs the system calls by which the code under test changes files.
//
// A program that uses these classes has its own pwritev, fsync and ftruncate, which log the call and then make it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace onnxar::testing {

/// A call that changes a file or syncs it.
struct FileCall {
  enum class Kind : std::uint8_t { write, sync, set_size };
  Kind kind = Kind::write;
  std::uint64_t offset = 0;     ///< of a write; the size that is set
  std::vector<std::byte> data;  ///< of a write
};

/// Logs the calls of this process from the constructor to the destructor. Only one log may exist. Not synchronised.
class FileCallLog {
 public:
  FileCallLog();
  FileCallLog(const FileCallLog&) = delete;
  FileCallLog& operator=(const FileCallLog&) = delete;
  ~FileCallLog();

  [[nodiscard]] const std::vector<FileCall>& calls() const { return calls_; }
  void add(FileCall call) { calls_.push_back(std::move(call)); }

  /// Called before each call. If it returns an errno, the call fails with it; 0 lets the call pass.
  std::function<int(const FileCall&)> fail;

 private:
  std::vector<FileCall> calls_;
};

}  // namespace onnxar::testing
