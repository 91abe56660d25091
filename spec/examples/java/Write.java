// Writes an ONNX archive with Commons Compress: java -cp commons-compress.jar Write.java [--large] ARCHIVE
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.attribute.FileTime;
import java.time.LocalDateTime;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;

class Write {
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
  static void add(ZipArchiveOutputStream archive, String name, long size, byte[] repeated) throws IOException {
    var entry = new ZipArchiveEntry(name);
    entry.setMethod(ZipArchiveEntry.STORED);
    entry.setSize(size);  // known beforehand, so that there is a zip64 field if and only if it is needed
    entry.setAlignment(64);
    entry.setTimeLocal(LocalDateTime.of(1980, 1, 1, 0, 0));
    archive.putArchiveEntry(entry);
    for (long done = 0; done < size; done += repeated.length)
      archive.write(repeated, 0, (int) Math.min(repeated.length, size - done));
    archive.closeArchiveEntry();
  }
  public static void main(String[] words) throws IOException {
    boolean large = words[0].equals("--large");
    long rows = large ? (1 << 20) + 1024 : 64, columns = large ? 1024 : 32;
    var floats = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 1 << 18; ++i) floats.putFloat(i);
    byte[] graph = joined(node("x", "weight", "xw", "MatMul"), node("xw", "bias", "y", "Add"), text(2, "example"),
        linked("weight", rows, columns), linked("bias", 16, columns), value(11, "x", rows), value(12, "y", columns));
    byte[] model = joined(number(1, 8), text(7, graph), text(8, text(1, ""), number(2, 13)));
    try (var archive = new ZipArchiveOutputStream(new File(words[words.length - 1]))) {
      add(archive, "weight", 4 * rows * columns, floats.array());
      add(archive, "bias", 4 * 16 * columns, floats.array());
      add(archive, "__MODEL_PROTO", model.length, model);
    }
  }
}
