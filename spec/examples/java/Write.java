// Writes an ONNX archive with Commons Compress: java -cp ... Write [--large] ARCHIVE
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.LocalDateTime;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;

class Write {
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
    boolean large = words.length > 0 && words[0].equals("--large");
    if (words.length != (large ? 2 : 1)) {
      System.err.println("usage: Write [--large] ARCHIVE");
      System.exit(2);
    }
    long rows = large ? (1 << 20) + 1024 : 64, columns = large ? 1024 : 32;
    var floats = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 1 << 18; ++i) floats.putFloat(i);
    byte[] model = Wire.model(rows, columns);
    try (var archive = new ZipArchiveOutputStream(new File(words[words.length - 1]))) {
      add(archive, "weight", 4 * rows * columns, floats.array());
      add(archive, "bias", 4 * 16 * columns, floats.array());
      add(archive, "__MODEL_PROTO", model.length, model);
    }
  }
}
