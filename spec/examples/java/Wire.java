// As much of protobuf as a ModelProto with linked weights needs; other programs have it from a library.
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

class Wire {
  static byte[] joined(byte[]... parts) {
    var out = new ByteArrayOutputStream();
    for (byte[] part : parts) out.writeBytes(part);
    return out.toByteArray();
  }
  static byte[] varint(long value) {
    return value < 128 ? new byte[] {(byte) value} : joined(new byte[] {(byte) (value | 128)}, varint(value >>> 7));
  }
  static byte[] number(int field, long value) { return joined(varint(field << 3), varint(value)); }
  static byte[] text(int field, byte[]... parts) {
    byte[] value = joined(parts);
    return joined(varint(field << 3 | 2), varint(value.length), value);
  }
  static byte[] text(int field, String value) { return text(field, value.getBytes(StandardCharsets.UTF_8)); }
  static byte[] pair(String key, Object value) { return text(13, text(1, key), text(2, value.toString())); }
  static byte[] linked(String name, long rows, long columns) {
    return text(5, number(1, rows), number(1, columns), number(2, 1), text(8, name), pair("location", name),
        pair("offset", 0), pair("length", 4 * rows * columns), number(14, 1));
  }
  static byte[] value(int field, String name, long columns) {
    byte[] shape = text(2, text(1, number(1, 16)), text(1, number(1, columns)));
    return text(field, text(1, name), text(2, text(1, number(1, 1), shape)));
  }
  static byte[] node(String left, String right, String out, String type) {
    return text(1, text(1, left), text(1, right), text(2, out), text(4, type));
  }
  /** y = x * weight + bias, with both weights linked to entries of their names. */
  static byte[] model(long rows, long columns) {
    byte[] graph = joined(node("x", "weight", "xw", "MatMul"), node("xw", "bias", "y", "Add"), text(2, "example"),
        linked("weight", rows, columns), linked("bias", 16, columns), value(11, "x", rows), value(12, "y", columns));
    return joined(number(1, 8), text(7, graph), text(8, text(1, ""), number(2, 13)));
  }

  static long varint(ByteBuffer bytes) {
    long value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      byte next = bytes.get();
      value |= shift < 64 ? (next & 127L) << shift : 0;
      if (next >= 0) return value;
    }
    throw new IllegalArgumentException("a number is too long");
  }
  private static List<Long> scalars(Map<Integer, List<Object>> message, int field) {
    return message.getOrDefault(field, List.of()).stream().filter(Long.class::isInstance).map(Long.class::cast)
        .toList();
  }
  private static List<Long> repeated(Map<Integer, List<Object>> message, int field) {  // packed or not
    var found = new ArrayList<Long>();
    for (Object value : message.getOrDefault(field, List.of())) {
      if (value instanceof Long number) found.add(number);
      if (value instanceof ByteBuffer packed) while (packed.hasRemaining()) found.add(varint(packed));
    }
    return found;
  }
  private static List<ByteBuffer> bytes(Map<Integer, List<Object>> message, int field) {
    return message.getOrDefault(field, List.of()).stream().filter(ByteBuffer.class::isInstance)
        .map(ByteBuffer.class::cast).toList();
  }
  private static <T> T last(List<T> all, T otherwise) { return all.isEmpty() ? otherwise : all.get(all.size() - 1); }
  private static String string(Map<Integer, List<Object>> message, int field) {
    return StandardCharsets.UTF_8.decode(last(bytes(message, field), ByteBuffer.allocate(0))).toString();
  }
  private static Map<Integer, List<Object>> fields(ByteBuffer message) {  // each a Long or a ByteBuffer
    var found = new HashMap<Integer, List<Object>>();
    while (message.hasRemaining()) {
      long tag = varint(message), number = (tag & 5) == 0 ? varint(message) : 0;
      int size = switch ((int) (tag & 7)) {
        case 0 -> 0;
        case 1 -> 8;
        case 2 -> Math.toIntExact(number);
        case 5 -> 4;
        default -> -1;
      };
      ByteBuffer value = message.slice(message.position(), size);  // throws if it is cut off
      message.position(message.position() + size);
      if ((tag & 5) != 0) continue;
      found.computeIfAbsent((int) (tag >>> 3), key -> new ArrayList<>()).add((tag & 2) == 0 ? number : value);
    }
    return found;
  }
  record Tensor(String name, int type, List<Long> dims, boolean linked, List<Map.Entry<String, String>> link) {}

  /** The initializers of a model. */
  static List<Tensor> tensors(ByteBuffer model) {
    var found = new ArrayList<Tensor>();
    ByteBuffer graph = last(bytes(fields(model), 7), null);
    Container.need(graph != null, "there is not a graph");
    for (ByteBuffer bytes : bytes(fields(graph), 5)) {
      var tensor = fields(bytes);
      var link = new ArrayList<Map.Entry<String, String>>();
      for (ByteBuffer pair : bytes(tensor, 13)) {
        var fields = fields(pair);
        link.add(Map.entry(string(fields, 1), string(fields, 2)));
      }
      var places = scalars(tensor, 14).stream().map(Long::intValue).filter(place -> place == 0 || place == 1).toList();
      int type = last(scalars(tensor, 2), 0L).intValue();
      found.add(new Tensor(string(tensor, 8), type, repeated(tensor, 1), last(places, 0) == 1, link));
    }
    return found;
  }
}
