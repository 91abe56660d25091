// Prints the weights of an ONNX archive with Commons Compress: java -cp ... Load ARCHIVE
import java.math.BigInteger;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

class Load {
  static final int[] BITS =
      {0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2};

  static BigInteger number(String text) {
    Container.need(text.matches("0|[1-9][0-9]{0,19}"), "a bad number");
    return new BigInteger(text);
  }
  /** Where the data of a linked tensor is in the file. */
  static Container.Place place(Wire.Tensor tensor, Map<String, Container.Place> entries) {
    var link = new HashMap<String, String>();
    for (var pair : tensor.link()) {
      boolean once = List.of("location", "offset", "length", "checksum").contains(pair.getKey());
      Container.need(link.put(pair.getKey(), pair.getValue()) == null || !once, "a key is given twice");
    }
    int type = tensor.type(), each = type < 0 || type >= BITS.length ? 0 : BITS[type];
    Container.need(each > 0 && tensor.dims().size() <= 1024, "bad type or shape");
    BigInteger bits = BigInteger.valueOf(each);
    for (long dim : tensor.dims()) {
      Container.need(dim >= 0, "a dimension is negative");
      bits = bits.multiply(BigInteger.valueOf(dim));
    }
    BigInteger size = bits.add(BigInteger.valueOf(7)).shiftRight(3), offset = number(link.getOrDefault("offset", "0"));
    Container.need(number(link.getOrDefault("length", size.toString())).equals(size), "another length");
    Container.Place entry = entries.get(link.get("location"));
    boolean inside = entry != null && offset.add(size).compareTo(BigInteger.valueOf(entry.size())) <= 0;
    Container.need(inside, "an entry that is not there or is too short");
    return new Container.Place(entry.begin() + offset.longValue(), size.longValue());
  }
  static String only(String[] words) { Container.need(words.length == 1, "usage: Load ARCHIVE"); return words[0]; }
  public static void main(String[] words) {
    try (var file = FileChannel.open(Path.of(only(words)))) {
      var entries = Container.entries(Path.of(words[0]), file);
      Container.Place model = entries.get("__MODEL_PROTO");
      Container.need(model != null, "there is not a model");
      for (Wire.Tensor tensor : Wire.tensors(Container.read(file, model.begin(), model.size()))) {
        if (!tensor.linked()) continue;
        Container.Place place = place(tensor, entries);
        var crc = new CRC32();
        for (long done = 0, n; done < place.size(); done += n)
          crc.update(Container.read(file, place.begin() + done, n = Math.min(1 << 20, place.size() - done)));
        String shape = tensor.dims().toString().replaceAll("[\\[\\] ]", "");
        System.out.printf("%s %d %s %08x%n", tensor.name(), tensor.type(), shape, crc.getValue());
      }
    } catch (Exception error) {
      System.err.println("Load: " + error);
      System.exit(1);
    }
  }
}
