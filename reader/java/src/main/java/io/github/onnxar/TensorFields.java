// The fields of a TensorProto (rules M8 to M21).
package io.github.onnxar;

import java.math.BigInteger;
import java.util.*;
import java.util.regex.Pattern;

/** What the fields of a tensor state. */
final class TensorFields {
  private static final int DIMS = 1;
  private static final int RAW_DATA = 9;
  private static final int TYPED_FIELDS = 12;
  private static final int STRING = 8;
  private static final int MOST_DIMS = 1024;
  private static final Pattern DECIMAL = Pattern.compile("0|[1-9][0-9]{0,19}");
  private static final Set<String> KEYS = Set.of("location", "offset", "length", "checksum");
  /** The bits of an element and the typed field by data type; 0 if unknown. */
  private static final int[] BITS = {
      0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2, 6, 6};
  private static final int[] FIELD = {
      0, 4, 5, 5, 5, 5, 5, 7, 6, 5, 5, 10, 11, 11, 4, 10, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
  /** The wire type of one value of a typed field; -1 for other fields. */
  private static final int[] WIRE_TYPE = {-1, -1, -1, -1, Wire.FIXED32, Wire.VARINT, Wire.BLOCK, Wire.VARINT, -1, -1,
      Wire.FIXED64, Wire.VARINT};

  final Wire wire;
  final int begin;
  final int end;
  String name = "";
  int dataType;
  boolean isLinked;
  int rawBegin = -1; // of raw_data
  int rawSize;
  long linkedOffset; // in the entry
  long linkedLength;
  private long[] dims = {};
  private int rank;
  private final long[] values = new long[TYPED_FIELDS]; // by number of the typed field
  private final Map<String, String> keys = new HashMap<>();
  private long elements = 1; // the product of the dimensions, unsigned
  private long bytes; // that type and dimensions require, if hasBytes
  private boolean hasBytes;

  /** Reads a tensor. {@code isTooDeep} is true if its pairs would be too deep (M6). */
  TensorFields(Wire wire, int begin, int end, boolean isTooDeep) throws ArchiveException {
    this.wire = wire;
    this.begin = begin;
    this.end = end;
    for (Wire.Fields part = wire.new Fields(begin, end); part.next(); ) {
      if (part.number == DIMS && (part.type == Wire.VARINT || part.type == Wire.BLOCK)) addDims(part);
      else if (part.type == Wire.VARINT) addNumber(part);
      else if (part.type == Wire.BLOCK) addBlock(part, isTooDeep);
      if (wireType(part) == part.type) ++values[(int) part.number];
    }
    count();
    for (Wire.Fields part = wire.new Fields(begin, end); part.next(); ) {
      if (part.type == Wire.BLOCK && wireType(part) >= 0 && wireType(part) != Wire.BLOCK) addRun(part);
    }
  }

  private static int wireType(Wire.Fields part) {
    return part.number < TYPED_FIELDS ? WIRE_TYPE[(int) part.number] : -1;
  }

  private void addDims(Wire.Fields part) throws ArchiveException {
    for (int at = part.from; at < part.to; ) {
      at = wire.varint(at, part.to);
      wire.require(Rule.M17, wire.value >= 0 && rank < MOST_DIMS, part.at);
      if (rank == dims.length) dims = Arrays.copyOf(dims, 2 * rank + 4);
      dims[rank++] = wire.value;
    }
  }

  private void addNumber(Wire.Fields part) {
    int low = (int) wire.value;
    if (part.number == 2) dataType = low;
    if (part.number == 14 && (low == 0 || low == 1)) isLinked = low == 1;
  }

  private void addBlock(Wire.Fields part, boolean isTooDeep) throws ArchiveException {
    if (part.number == 8) name = part.text();
    if (part.number == RAW_DATA) {
      rawBegin = part.from;
      rawSize = part.to - part.from;
    }
    if (part.number != 13) return;
    wire.require(Rule.M6, !isTooDeep, part.at);
    Wire.Pair pair = wire.pair(part);
    boolean isNew = !KEYS.contains(pair.key()) || keys.put(pair.key(), pair.value()) == null;
    wire.require(Rule.M10, isNew, part.from);
  }

  /** Counts the values of a packed run. */
  private void addRun(Wire.Fields part) throws ArchiveException {
    int number = (int) part.number;
    int width = wireType(part) == Wire.FIXED64 ? 8 : 4;
    if (wireType(part) == Wire.VARINT) {
      for (int at = part.from; at < part.to; ++values[number]) at = wire.varint(at, part.to);
    } else {
      wire.require(Rule.M2, (part.to - part.from) % width == 0, part.at);
      values[number] += (part.to - part.from) / width;
    }
  }

  private static boolean isProductTooLarge(long a, long b) {
    return b != 0 && Long.compareUnsigned(a, Long.divideUnsigned(-1, b)) > 0;
  }

  /** Computes the numbers of elements and of bytes (M17). Products that are too large become 2^64 - 1. */
  private void count() throws ArchiveException {
    int bits = bits();
    boolean isEmpty = Arrays.stream(dims()).anyMatch(dim -> dim == 0);
    boolean isTooLarge = false;
    for (long dim : dims()) {
      isTooLarge |= isProductTooLarge(elements, dim);
      elements = isTooLarge ? -1 : elements * Math.max(dim, 1);
    }
    if (isEmpty) elements = 0;
    hasBytes = bits != 0 || isEmpty;
    if (bits >= 8) {
      isTooLarge |= isProductTooLarge(elements, bits / 8);
      bytes = elements * (bits / 8);
    } else {
      long rest = Long.remainderUnsigned(elements, 8);
      bytes = Long.divideUnsigned(elements, 8) * bits + (rest * bits + 7) / 8;
    }
    wire.require(Rule.M17, bits == 0 || isEmpty || !isTooLarge, begin);
  }

  private int bits() { return dataType > 0 && dataType < BITS.length ? BITS[dataType] : 0; }

  long[] dims() { return Arrays.copyOf(dims, rank); }

  String location() { return keys.getOrDefault("location", ""); }

  /** Returns the number of the typed field that has values, or 0. */
  int typedField() {
    for (int number = TYPED_FIELDS - 1; number > 0; --number) if (values[number] != 0) return number;
    return 0;
  }

  /** Returns the number of fields that hold values. */
  private long held() { return (rawSize > 0 ? 1 : 0) + Arrays.stream(values).filter(count -> count != 0).count(); }

  private void require(Rule rule, boolean isObeyed) throws ArchiveException { wire.require(rule, isObeyed, begin); }

  /** Checks M19, M15, M16, M8, M14, M11, M12 and M18 of a linked tensor. */
  void checkLink() throws ArchiveException {
    require(Rule.M19, dataType != 0);
    require(Rule.M15, dataType != STRING);
    require(Rule.M16, rawBegin < 0 && held() == 0);
    require(Rule.M8, !location().isEmpty());
    require(Rule.M14, !location().startsWith("*/_ORT_") && !location().startsWith("#onnxar:"));
    linkedOffset = decimal("offset", "0", Rule.M11);
    linkedLength = keys.containsKey("length") ? decimal("length", "", Rule.M12) : bytes;
    require(Rule.M18, !hasBytes || linkedLength == bytes);
  }

  private long decimal(String key, String otherwise, Rule rule) throws ArchiveException {
    String text = keys.getOrDefault(key, otherwise);
    require(rule, DECIMAL.matcher(text).matches() && new BigInteger(text).bitLength() <= Long.SIZE);
    return Long.parseUnsignedLong(text);
  }

  /** Finds the bytes of a linked tensor in an entry of this size (M13). */
  void checkRange(long size) throws ArchiveException {
    require(Rule.M13, Long.compareUnsigned(linkedOffset, size) <= 0);
    if (!hasBytes && !keys.containsKey("length")) linkedLength = size - linkedOffset;
    require(Rule.M13, Long.compareUnsigned(linkedLength, size - linkedOffset) <= 0);
  }

  /** Checks M18 to M21 of a tensor that is not linked. */
  void checkInline() throws ArchiveException {
    require(Rule.M19, dataType != 0);
    require(Rule.M20, held() <= 1);
    int own = dataType > 0 && dataType < FIELD.length ? FIELD[dataType] : 0;
    int typed = typedField();
    require(Rule.M21, own == 0 || ((typed == 0 || typed == own) && (rawSize == 0 || dataType != STRING)));
    require(Rule.M18, elements != 0 || held() == 0);
    require(Rule.M18, rawBegin < 0 || !hasBytes || Long.compareUnsigned(rawSize, bytes) >= 0);
    if (typed == 0 || own == 0) return;
    boolean isComplex = dataType == 14 || dataType == 15; // with two values an element
    long needed = bits() == 2 || bits() == 4 ? bytes : elements;
    require(Rule.M18, Long.compareUnsigned(isComplex ? values[own] / 2 : values[own], needed) >= 0);
  }
}
