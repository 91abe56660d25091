// The bytes of an archive, in memory or in maps of a file.
package io.github.onnxar;

import java.io.IOException;
import java.nio.*;
import java.nio.channels.FileChannel;
import java.util.*;
import java.util.zip.CRC32;

/**
 * Numbers and ranges of an archive. A buffer of Java has at most 2^31 - 1 bytes, so a larger file has a map of this
 * size from each multiple of 128 MiB on: every range of up to 1.75 GiB is in one map.
 */
final class Bytes {
  static final ByteBuffer EMPTY = ByteBuffer.allocate(0);
  private static final long STEP = 1L << 27;

  final long size;
  private final List<ByteBuffer> maps = new ArrayList<>();

  Bytes(ByteBuffer memory) {
    size = memory.remaining();
    maps.add(memory.slice().asReadOnlyBuffer());
  }

  /** Maps a range of a file. A map lasts until its last buffer is collected, also if the channel is closed. */
  Bytes(FileChannel file, long offset, long size) throws IOException {
    this.size = size;
    long end = 0;
    for (long begin = 0; end < size || begin == 0; begin += STEP) {
      end = Math.min(begin + Integer.MAX_VALUE, size);
      maps.add(map(file, offset + begin, end - begin));
    }
  }

  private static ByteBuffer map(FileChannel file, long offset, long size) throws IOException {
    if (size == 0) return EMPTY;
    try {
      return file.map(FileChannel.MapMode.READ_ONLY, offset, size);
    } catch (IOException | OutOfMemoryError error) {
      throw ArchiveException.of("io.address_space", "the file cannot be mapped: " + error.getMessage());
    }
  }

  private int index(long at) { return (int) Math.min(at / STEP, maps.size() - 1); }

  /** True if one buffer can have a range. */
  boolean canSlice(long begin, long length) {
    return length <= maps.get(index(begin)).capacity() - (begin - index(begin) * STEP);
  }

  /** Returns a range in place. The caller has checked that it is in the archive. */
  ByteBuffer slice(long begin, long length) throws ArchiveException {
    int index = index(begin);
    if (canSlice(begin, length)) return slice(maps.get(index), (int) (begin - index * STEP), (int) length);
    throw ArchiveException.of("io.address_space", "a buffer cannot have " + length + " bytes; read them in parts");
  }

  static byte[] copy(ByteBuffer buffer) {
    byte[] copy = new byte[buffer.remaining()];
    buffer.get(copy);
    return copy;
  }

  /** Returns a part of a buffer, little-endian. */
  static ByteBuffer slice(ByteBuffer buffer, int begin, int length) {
    ByteBuffer copy = buffer.duplicate();
    copy.limit(begin + length).position(begin);
    return copy.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  int u8(long at) { return maps.get(index(at)).get((int) (at - index(at) * STEP)) & 0xFF; }

  int u16(long at) { return u8(at) | u8(at + 1) << 8; }

  long u32(long at) { return u16(at) | (long) u16(at + 2) << 16; }

  /** Returns a number of 64 bits, which is unsigned. */
  long u64(long at) { return u32(at) | u32(at + 4) << 32; }

  /** True if a record with the signature "PK" and these two bytes is at an offset. */
  boolean has(int signature, long at) { return u16(at) == 0x4B50 && u16(at + 2) == signature; }

  int crc32(long begin, long length) throws ArchiveException {
    CRC32 crc = new CRC32();
    for (long at = begin, end = begin + length; at < end; at += STEP) crc.update(slice(at, Math.min(STEP, end - at)));
    return (int) crc.getValue();
  }
}
