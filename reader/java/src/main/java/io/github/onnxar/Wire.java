// The wire format of protobuf (rules M2 to M5).
package io.github.onnxar;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The bytes of a serialised model, and where they are in the archive. */
final class Wire {
  static final int VARINT = 0;
  static final int FIXED64 = 1;
  static final int BLOCK = 2;
  static final int FIXED32 = 5;
  private static final int LONGEST_TAG = 5;

  final ByteBuffer bytes;
  final long base;
  final String entry;
  long value; // of the last varint: of a field of wire type 0, the value

  Wire(ByteBuffer bytes, long base, String entry) {
    this.bytes = bytes;
    this.base = base;
    this.entry = entry;
  }

  /** Reads the fields of a message, one after the other. */
  final class Fields {
    final int begin;
    final int end;
    private int next;
    int at; // of the tag
    long number;
    int type;
    int from; // of the value
    int to;

    Fields(int begin, int end) {
      this.begin = begin;
      this.end = end;
      next = begin;
    }

    /** Reads the next field; false at the end of the message. */
    boolean next() throws ArchiveException {
      if (next == end) return false;
      at = next;
      from = varint(at, end);
      number = value >>> 3;
      type = (int) value & 7;
      require(Rule.M4, from - at <= LONGEST_TAG && number > 0 && number < 1 << 29, at);
      require(Rule.M5, type == VARINT || type == FIXED64 || type == BLOCK || type == FIXED32, at);
      int after = type == VARINT || type == BLOCK ? varint(from, end) : from;
      if (type != VARINT) from = after;
      long length = type == BLOCK ? value : type == FIXED64 ? 8 : type == FIXED32 ? 4 : after - from;
      require(Rule.M2, Long.compareUnsigned(length, end - from) <= 0, at);
      next = to = from + (int) length;
      return true;
    }

    boolean is(int wanted, int wantedType) { return number == wanted && type == wantedType; }

    /** Returns the bytes as text in which each character is a byte. */
    String text() { return StandardCharsets.ISO_8859_1.decode(Bytes.slice(bytes, from, to - from)).toString(); }
  }

  /** Reads a varint, which is {@link #value} afterwards, and returns the offset after it. */
  int varint(int at, int end) throws ArchiveException {
    value = 0;
    for (int i = 0; i < 10; ++i) {
      require(Rule.M2, i < end - at, at);
      long part = bytes.get(at + i) & 0xFF;
      value |= (part & 0x7F) << 7 * i;
      if (part >= 0x80) continue;
      require(Rule.M3, i < 9 || part <= 1, at);
      return at + i + 1;
    }
    throw Rule.M3.broken(base + at, entry);
  }

  /** Returns the fields of the model. */
  Fields fields() { return new Fields(0, bytes.capacity()); }

  void require(Rule rule, boolean isObeyed, int at) throws ArchiveException {
    if (!isObeyed) throw rule.broken(base + at, entry);
  }

  /** A StringStringEntryProto. */
  record Pair(String key, String value) {}

  /** Reads a pair of external_data or metadata_props. The last key and the last value count. */
  Pair pair(Fields message) throws ArchiveException {
    String key = "";
    String text = "";
    for (Fields part = new Fields(message.from, message.to); part.next(); ) {
      if (part.is(1, BLOCK)) key = part.text();
      if (part.is(2, BLOCK)) text = part.text();
    }
    return new Pair(key, text);
  }

  /** Returns the pair of a field of metadata_props; an empty one if it is damaged. */
  Pair pairOrEmpty(Fields part) {
    try {
      return pair(part);
    } catch (ArchiveException error) {
      return new Pair("", "");
    }
  }
}
