// The noexcept overloads of Archive. Each calls the overload that throws.
#include <utility>

#include "base/errors.h"
#include "onnxar/archive.h"

namespace onnxar {

std::optional<Archive> Archive::open(const std::filesystem::path& path, Failure& failure,
                                     const OpenOptions& options) noexcept {
  return base::attempt<std::optional<Archive>>(failure, [&] { return open(path, options); });
}

std::optional<Archive> Archive::open(const DescriptorRange& range, Failure& failure,
                                     const OpenOptions& options) noexcept {
  return base::attempt<std::optional<Archive>>(failure, [&] { return open(range, options); });
}

std::optional<Archive> Archive::open(Bytes bytes, std::shared_ptr<const void> owner, Failure& failure,
                                     const OpenOptions& options) noexcept {
  return base::attempt<std::optional<Archive>>(failure, [&] { return open(bytes, std::move(owner), options); });
}

std::optional<Archive> Archive::open(std::shared_ptr<const RandomAccess> file, Failure& failure,
                                     const OpenOptions& options) noexcept {
  return base::attempt<std::optional<Archive>>(failure, [&] { return open(std::move(file), options); });
}

std::optional<EntryLocation> Archive::locate(const ArchiveEntry& entry, Failure& failure) const noexcept {
  return base::attempt<std::optional<EntryLocation>>(failure, [&] { return locate(entry); });
}

std::optional<Bytes> Archive::bytes(const ArchiveEntry& entry, Failure& failure) const& noexcept {
  return base::attempt<std::optional<Bytes>>(failure, [&] { return bytes(entry); });
}

bool Archive::verify(const ArchiveEntry& entry, Failure& failure) const noexcept {
  return base::attempt<bool>(failure, [&] {
    verify(entry);
    return true;
  });
}

std::optional<Bytes> Archive::model(Failure& failure) const& noexcept {
  return base::attempt<std::optional<Bytes>>(failure, [&] { return model(); });
}

std::optional<Bytes> Archive::resolve(std::string_view location, std::uint64_t offset,
                                      std::optional<std::uint64_t> length, Failure& failure) const& noexcept {
  return base::attempt<std::optional<Bytes>>(failure, [&] { return resolve(location, offset, length); });
}

bool read_entry(const Archive& archive, const ArchiveEntry& entry, std::span<std::byte> buffer,
                Failure& failure) noexcept {
  return base::attempt<bool>(failure, [&] {
    read_entry(archive, entry, buffer);
    return true;
  });
}

}  // namespace onnxar
