// What a loader proves and Commons Compress does not, after ../../loading.md.
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;

class Container {
  record Place(long begin, long size) {}
  static final long FULL = 0xFFFFFFFFL;

  static void need(boolean ok, String what) { if (!ok) throw new IllegalArgumentException(what); }
  static int u16(ByteBuffer bytes, int at) { return bytes.getShort(at) & 0xFFFF; }
  static long u32(ByteBuffer bytes, int at) { return bytes.getInt(at) & FULL; }

  static ByteBuffer read(FileChannel file, long at, long size) throws IOException {
    need(at >= 0 && size >= 0 && size <= file.size() - at, "something lies beyond the file");
    var bytes = ByteBuffer.allocate(Math.toIntExact(size)).order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.hasRemaining()) need(file.read(bytes, at + bytes.position()) > 0, "the file was cut off");
    return bytes.flip();
  }
  /** Number of entries, size and offset; Commons Compress searches for them, but they have one place. */
  static long[] directory(FileChannel file) throws IOException {
    ByteBuffer end = read(file, file.size() - 22, 22);
    need(u32(end, 0) == 0x06054B50 && u16(end, 20) == 0, "there is not an end record at the end");
    boolean zip64 = file.size() >= 98 && u32(read(file, file.size() - 42, 20), 0) == 0x07064B50;
    long at = file.size() - (zip64 ? 98 : 22);
    ByteBuffer record = read(file, at, file.size() - at);
    long[] shorts = {u16(end, 10), u32(end, 12), u32(end, 16)}, full = {0xFFFF, FULL, FULL};
    long[] found = zip64 ? new long[] {record.getLong(32), record.getLong(40), record.getLong(48)} : shorts;
    need(!zip64 || u32(record, 0) == 0x06064B50 && record.getLong(4) == 44 && u16(record, 14) >= 10
        && u16(record, 14) <= 45 && record.getLong(64) == at, "bad zip64 end records");
    for (int i = 0; i < 3; ++i) need(shorts[i] == full[i] ? zip64 : shorts[i] == found[i], "the end records disagree");
    need(found[1] >= 0 && found[2] >= 0 && found[1] + found[2] == at, "the directory is somewhere else");
    need(found[0] > 0 && found[0] <= found[1] / 46, "a number of entries that cannot be");
    return found;
  }
  static Map<Integer, ByteBuffer> extras(ByteBuffer bytes, int at, int size) {
    var found = new HashMap<Integer, ByteBuffer>();
    for (int end = at + size, next; at < end; at = next) {
      next = at + 4 + u16(bytes, at + 2);
      need(next <= end, "extra fields do not fit");
      var field = bytes.slice(at + 4, next - at - 4).order(ByteOrder.LITTLE_ENDIAN);
      need(found.put(u16(bytes, at), field) == null, "an extra field is there twice");
    }
    return found;
  }
  static Map<String, Place> entries(Path path, FileChannel file) throws Exception {
    long[] place = directory(file);
    ByteBuffer headers = read(file, place[2], place[1]);
    int count = 0;
    for (int at = 0; at < headers.limit(); ++count) {
      int name = u16(headers, at + 28), extra = u16(headers, at + 30);
      need(u32(headers, at) == 0x02014B50, "a directory header is missing");
      need(Set.of(1, 0xA11E).containsAll(extras(headers, at + 46 + name, extra).keySet()), "an unknown extra field");
      at += 46 + name + extra + u16(headers, at + 32);
      need(at <= headers.limit(), "a directory header goes beyond the directory");
    }
    List<ZipArchiveEntry> list;
    try (var zip = new ZipFile(path, "ISO-8859-1", false, true)) {  // it would close a channel that it is given
      list = Collections.list(zip.getEntries());
    }
    need(count == place[0] && list.size() == count, "another number of entries");
    var offset = ZipArchiveEntry.class.getDeclaredMethod("getLocalHeaderOffset");  // it is protected
    offset.setAccessible(true);
    var ends = new ArrayList<Long>();
    for (ZipArchiveEntry entry : list) ends.add((long) offset.invoke(entry));
    need(ends.get(0) == 0, "the first entry is not at 0");
    ends.add(place[2]);
    var found = new HashMap<String, Place>();
    for (int i = 0; i < count; ++i) {
      ZipArchiveEntry entry = list.get(i);
      long at = ends.get(i), end = ends.get(i + 1), size = entry.getSize();
      String name = entry.getName();
      need((entry.getRawFlag() & 0x2049) == 0 && entry.getMethod() == 0, "an entry is not plainly stored");
      need(name.matches("__MODEL_PROTO|(?!__[A-Z])[ !#-)+-9=@-\\[\\]-{}~]+"), "bad name");
      ByteBuffer header = read(file, at, 30), rest = read(file, at + 30, u16(header, 26) + u16(header, 28));
      long begin = at + 30 + rest.limit();
      need(size == entry.getCompressedSize() && begin <= end && size >= 0 && size <= end - begin, "bad size");
      String local = StandardCharsets.ISO_8859_1.decode(rest.slice(0, u16(header, 26))).toString();
      need(u32(header, 0) == 0x04034B50 && name.equals(local), "bad local header");
      ByteBuffer field = extras(rest, u16(header, 26), u16(header, 28)).get(1);
      for (long s : new long[] {u32(header, 18), u32(header, 22)})
        need(s == FULL ? field != null : s == size, "another size");
      boolean same = field == null || field.limit() == 16 && field.getLong(0) == size && field.getLong(8) == size;
      need(same, "another size");
      need(found.put(name, new Place(begin, size)) == null, "a name is there twice");
    }
    return found;
  }
}
