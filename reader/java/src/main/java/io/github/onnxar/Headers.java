// Directory headers and local headers (rules D1 to D16, L1 to L15).
package io.github.onnxar;

import java.nio.charset.StandardCharsets;
import java.util.*;

/** Reads the two headers of an entry. */
final class Headers {
  private static final int ZIP64 = 1;
  private static final int PADDING = 0xD935;
  private static final int ALIGNMENT = 0xA11E;
  static final int LOCAL = 30; // bytes of a local header before the name
  private static final int LONGEST_LOCAL = 65535;

  private final Bytes bytes;

  Headers(Bytes bytes) { this.bytes = bytes; }

  /** The content of an extra field. */
  private record Extra(long begin, int size) {}

  /** Three numbers of a directory header, and the disk in its zip64 field. */
  private record Numbers(long size, long compressed, long offset, long disk) {}

  /** Returns the end of the header at {@code at}. Checks D1. */
  long end(long at, long directoryEnd) throws ArchiveException {
    Rule.D1.require(at + EndRecords.HEADER <= directoryEnd && bytes.has(0x0201, at), at, "");
    long end = at + EndRecords.HEADER + bytes.u16(at + 28) + bytes.u16(at + 30) + bytes.u16(at + 32);
    Rule.D1.require(end <= directoryEnd, at, "");
    return end;
  }

  /** Checks the name, then D2 to D16. */
  Entry readEntry(long at, int index) throws ArchiveException {
    long extraAt = at + EndRecords.HEADER + bytes.u16(at + 28);
    String name = Names.read(Bytes.copy(bytes.slice(at + EndRecords.HEADER, bytes.u16(at + 28))), at);
    int flags = bytes.u16(at + 8);
    Rule.D2.require((flags & (1 | 1 << 6 | 1 << 13)) == 0, at, name);
    Rule.D3.require((flags & 1 << 3) == 0, at, name);
    Rule.D4.require((flags & ~(1 << 11)) == 0, at, name);
    Rule.D5.require(bytes.u16(at + 10) == 0, at, name);
    Rule.D6.require(EndRecords.isVersion(bytes.u16(at + 6)), at, name);
    Rule.D7.require(bytes.u16(at + 34) == 0, at, name);
    Rule.D8.require(bytes.u16(at + 32) == 0, at, name);
    int host = bytes.u16(at + 4) >> 8;
    long external = bytes.u32(at + 38);
    long type = external >> 16 & 0170000;
    Rule.D9.require((host == 0 || host == 3) && (type == 0 || type == 0100000), at, name);
    Rule.D9.require((bytes.u16(at + 36) & ~1) == 0 && (external & (1 << 3 | 1 << 4 | 1 << 10)) == 0, at, name);
    Rule[] rules = {Rule.D10, Rule.D11, Rule.D12};
    Map<Integer, Extra> extra =
        readExtra(extraAt, extraAt + bytes.u16(at + 30), Set.of(ZIP64, ALIGNMENT), rules, at, name);
    Numbers numbers = readNumbers(at, extra.get(ZIP64));
    Rule.D13.require(numbers != null, at, name);
    Rule.D7.require(numbers.disk == 0, at, name);
    Rule.D14.require(numbers.size == numbers.compressed, at, name);
    int crc32 = (int) bytes.u32(at + 16);
    Rule.D15.require(numbers.size != 0 || crc32 == 0, at, name);
    Extra field = extra.get(ALIGNMENT);
    int alignment = field != null && field.size == 2 ? bytes.u16(field.begin) : 0;
    Rule.D16.require(field == null || isAlignment(ALIGNMENT, alignment), at, name);
    return new Entry(name, numbers.size, crc32, index, at, numbers.offset, alignment);
  }

  /** Reads the extra fields. {@code rules} are D10 to D12 or L4 to L6, checked field by field. */
  private Map<Integer, Extra> readExtra(long begin, long end, Set<Integer> known, Rule[] rules, long header,
      String name) throws ArchiveException {
    Map<Integer, Extra> found = new HashMap<>();
    for (long at = begin; at < end; ) {
      rules[0].require(at + 4 <= end, header, name);
      int id = bytes.u16(at);
      Extra field = new Extra(at + 4, bytes.u16(at + 2));
      at = field.begin + field.size;
      rules[0].require(at <= end, header, name);
      rules[1].require(known.contains(id), header, name);
      boolean isPadding = id != ZIP64 && (found.containsKey(PADDING) || found.containsKey(ALIGNMENT));
      rules[2].require(found.put(id, field) == null && !isPadding, header, name);
    }
    return found;
  }

  /** Returns the numbers of header and zip64 field; null if D13 is broken. */
  private Numbers readNumbers(long at, Extra field) {
    long[] own = {bytes.u32(at + 24), bytes.u32(at + 20), bytes.u32(at + 42)};
    int sentinels = (int) Arrays.stream(own).filter(number -> number == EndRecords.NONE_32).count();
    boolean isFull = field != null && (field.size == 24 || field.size == 28);
    if (!isFull && (field == null ? 0 : field.size) != 8 * sentinels) return null;
    long wide = field == null ? 0 : field.begin;
    for (int i = 0; i < own.length; ++i) {
      if (own[i] == EndRecords.NONE_32 || isFull) {
        long number = bytes.u64(wide);
        if (isFull && own[i] != (i < sentinels ? EndRecords.NONE_32 : number)) return null;
        own[i] = number;
        wide += 8;
      }
    }
    return new Numbers(own[0], own[1], own[2], isFull && field.size == 28 ? bytes.u32(wide) : 0);
  }

  /** Returns the offset of the entry's data. Checks L1 to L15, with zeros of padding that {@code zeros} has. */
  long readLocal(Entry entry, long following, Map<Long, Boolean> zeros) throws ArchiveException {
    long at = entry.local();
    String name = entry.name();
    Rule.L1.require(following - at >= LOCAL && bytes.has(0x0403, at), at, name);
    long extraAt = at + LOCAL + bytes.u16(at + 26);
    long data = extraAt + bytes.u16(at + 28);
    Rule.L1.require(data <= following, at, name);
    Rule.L15.require(data - at <= LONGEST_LOCAL, at, name);
    String local = StandardCharsets.ISO_8859_1.decode(bytes.slice(at + LOCAL, bytes.u16(at + 26))).toString();
    Rule.L2.require(local.equals(name), at, name);
    for (int field = 8; field < 18; field += 2) { // method, time, date, CRC-32
      Rule.L3.require(bytes.u16(at + field) == bytes.u16(entry.header() + field + 2), at, name);
    }
    Rule.L3.require(((bytes.u16(at + 6) ^ bytes.u16(entry.header() + 8)) & ~(1 << 11)) == 0, at, name);
    Rule.L13.require(EndRecords.isVersion(bytes.u16(at + 4)), at, name);
    Rule[] rules = {Rule.L4, Rule.L5, Rule.L6};
    Map<Integer, Extra> extra = readExtra(extraAt, data, Set.of(ZIP64, PADDING, ALIGNMENT), rules, at, name);
    checkLocalSizes(entry, extra.get(ZIP64));
    checkPadding(entry, extra, data, zeros);
    return data;
  }

  private void checkLocalSizes(Entry entry, Extra field) throws ArchiveException {
    long at = entry.local();
    long[] own = {bytes.u32(at + 22), bytes.u32(at + 18)};
    boolean isSentinel = own[0] == EndRecords.NONE_32 || own[1] == EndRecords.NONE_32;
    Rule.L7.require(field == null ? !isSentinel : field.size == 16, at, entry.name());
    for (int i = 0; i < own.length; ++i) {
      long stated = field == null ? own[i] : bytes.u64(field.begin + 8L * i);
      boolean isOwn = own[i] == entry.size() || (field != null && own[i] == EndRecords.NONE_32);
      Rule.L8.require(stated == entry.size() && isOwn, at, entry.name());
    }
  }

  /** Checks L10 to L12 and L14; there is at most one record (L6). */
  private void checkPadding(Entry entry, Map<Integer, Extra> extra, long data, Map<Long, Boolean> zeros)
      throws ArchiveException {
    long at = entry.local();
    String name = entry.name();
    int id = extra.containsKey(ALIGNMENT) ? ALIGNMENT : PADDING;
    Extra padding = extra.get(id);
    int alignment = 64;
    if (padding != null) {
      Rule.L10.require(padding.size >= 2, at, name);
      alignment = bytes.u16(padding.begin);
      Rule.L11.require(isAlignment(id, alignment), at, name);
    }
    Rule.L12.require(data % alignment == 0, at, name);
    Rule.L14.require(entry.alignment() == 0 || (id == ALIGNMENT && entry.alignment() == alignment), at, name);
    Rule.L10.require(padding == null || zeros.computeIfAbsent(at, key -> hasZeros(padding)), at, name);
  }

  private boolean hasZeros(Extra padding) {
    for (int i = 2; i < padding.size; ++i) if (bytes.u8(padding.begin + i) != 0) return false;
    return true;
  }

  private static boolean isAlignment(int id, int number) {
    return number >= 64 && number <= (id == ALIGNMENT ? 16384 : 32768) && Integer.bitCount(number) == 1;
  }
}
