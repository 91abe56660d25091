// The end of the file (rules E1 to E12).
package io.github.onnxar;

/** What the end record and the zip64 end record state. */
record EndRecords(long entries, long directory, long directorySize, boolean hasZip64) {
  private static final int END = 22;
  private static final int LOCATOR = 20;
  private static final int ZIP64_END = 56;
  static final int HEADER = 46;
  static final int NONE_16 = 0xFFFF;
  static final long NONE_32 = 0xFFFFFFFFL;

  static boolean isVersion(int version) { return version >= 10 && version <= 45; }

  long directoryEnd() { return directory + directorySize; }

  /** Checks E1 to E8 of the state of the archive that ends at {@code end}. */
  static EndRecords read(Bytes bytes, long end) throws ArchiveException {
    long at = end - END;
    if (at < 0 || !bytes.has(0x0605, at)) throw missing(bytes, end);
    Rule.E3.require(bytes.u16(at + 20) == 0, at, "");
    Rule.E4.require(bytes.u32(at + 4) == 0 && bytes.u16(at + 8) == bytes.u16(at + 10), at, "");
    EndRecords small = new EndRecords(bytes.u16(at + 10), bytes.u32(at + 16), bytes.u32(at + 12), false);
    long locator = at - LOCATOR;
    boolean hasZip64 = locator >= 0 && bytes.has(0x0706, locator);
    EndRecords found = hasZip64 ? readZip64(bytes, locator, small) : small;
    boolean isSentinel = small.entries == NONE_16 || small.directorySize == NONE_32 || small.directory == NONE_32;
    Rule.E5.require(hasZip64 || !isSentinel, at, "");
    long records = hasZip64 ? locator - ZIP64_END : at;
    Rule.E8.require(found.directorySize >= 0 && found.directory >= 0 && found.directoryEnd() == records, at, "");
    return found;
  }

  private static EndRecords readZip64(Bytes bytes, long locator, EndRecords small) throws ArchiveException {
    long at = locator - ZIP64_END;
    Rule.E4.require(bytes.u32(locator + 4) == 0 && bytes.u32(locator + 16) == 1, locator, "");
    Rule.E5.require(at >= 0 && bytes.u64(locator + 8) == at, locator, "");
    Rule.E6.require(bytes.has(0x0606, at) && bytes.u64(at + 4) == 44 && isVersion(bytes.u16(at + 14)), at, "");
    Rule.E4.require(bytes.u64(at + 16) == 0 && bytes.u64(at + 24) == bytes.u64(at + 32), at, "");
    EndRecords found = new EndRecords(bytes.u64(at + 32), bytes.u64(at + 48), bytes.u64(at + 40), true);
    long end = locator + LOCATOR;
    Rule.E7.require(small.entries == NONE_16 || small.entries == found.entries, end, "");
    Rule.E7.require(small.directorySize == NONE_32 || small.directorySize == found.directorySize, end, "");
    Rule.E7.require(small.directory == NONE_32 || small.directory == found.directory, end, "");
    return found;
  }

  /** Returns the breach of E1, or of E2 or E3 if an end record is before the end of the file. */
  private static ArchiveException missing(Bytes bytes, long end) {
    for (long at = end - END; at >= Math.max(0, end - END - NONE_16); --at) {
      if (!bytes.has(0x0605, at)) continue;
      return (at + END + bytes.u16(at + 20) == end ? Rule.E3 : Rule.E2).broken(at, "");
    }
    return Rule.E1.broken(end, "");
  }

  /** Checks E9 to E12. */
  void checkCounts(Limits limits) throws ArchiveException {
    Rule.E9.require(entries != 0, directory, "");
    Rule.E10.require(Long.compareUnsigned(entries, directorySize / HEADER) <= 0, directory, "");
    Rule.E11.require(entries <= limits.entries(), directory, "");
    Rule.E12.require(directorySize <= limits.directory(), directory, "");
  }
}
