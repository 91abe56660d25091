// The rules of names (N1 to N17).
package io.github.onnxar;

import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.regex.Pattern;

/** Checks names of entries. */
final class Names {
  static final String MODEL = "__MODEL_PROTO";
  private static final int LONGEST = 1024;
  private static final int LONGEST_PART = 255;
  private static final Pattern DEVICE =
      Pattern.compile("(?i)(con|prn|aux|nul|conin\\$|conout\\$|(com|lpt)[0-9]) *(\\..*)?");

  private Names() {}

  /** Checks N1, N2, N14, N6, N8, N9 and N15 to N17 of a name that the directory header at {@code header} has. */
  static String read(byte[] raw, long header) throws ArchiveException {
    Rule.N1.require(raw.length > 0, header, "");
    String name = new String(raw, 0, Math.min(raw.length, LONGEST), StandardCharsets.UTF_8);
    Rule.N2.require(raw.length <= LONGEST, header, name);
    Rule.N14.require(name.chars().allMatch(c -> c >= 0x20 && c < 0x7F && "\\:*?\"<>|;".indexOf(c) < 0), header, name);
    Rule.N6.require(!name.startsWith("/"), header, name);
    Rule.N8.require(!name.endsWith("/"), header, name);
    List<String> parts = List.of(name.split("/", -1));
    for (String part : parts) Rule.N9.require(!Set.of("", ".", "..").contains(part), header, name);
    for (String part : parts) Rule.N15.require(part.length() <= LONGEST_PART, header, name);
    for (String part : parts) Rule.N16.require(!part.endsWith(".") && !part.endsWith(" "), header, name);
    for (String part : parts) Rule.N17.require(!DEVICE.matcher(part).matches(), header, name);
    return name;
  }

  /** Checks N10 to N12. */
  static void check(List<Entry> entries) throws ArchiveException {
    Set<String> names = new HashSet<>();
    Set<String> folded = new HashSet<>();
    for (Entry entry : entries) {
      Rule.N10.require(names.add(entry.name()), entry.header(), entry.name());
      Rule.N11.require(folded.add(fold(entry.name())), entry.header(), entry.name());
    }
    int broken = firstInFolder(entries);
    if (broken >= 0) throw Rule.N12.broken(entries.get(broken).header(), entries.get(broken).name());
  }

  /** Returns the index of the first entry whose name contains another entry as a folder, or -1. */
  private static int firstInFolder(List<Entry> entries) {
    record Key(String name, int index) {}
    // Sorted with slashes below all other characters, an entry is followed by those that it is a folder of.
    List<Key> keys = entries.stream().map(entry -> new Key(fold(entry.name()).replace('/', '\0'), entry.index()))
        .sorted(Comparator.comparing(Key::name)).toList();
    int first = -1;
    String folder = "\0";
    for (Key key : keys) {
      if (!key.name.startsWith(folder)) folder = key.name + '\0';
      else if (first < 0 || key.index < first) first = key.index;
    }
    return first;
  }

  /** True if the name is one that only later formats may use (N13). */
  static boolean isReserved(String name) {
    return name.length() > 2 && name.startsWith("__") && name.charAt(2) >= 'A' && name.charAt(2) <= 'Z';
  }

  /** True if an entry of this name could be added (G4). */
  static boolean isFree(String name, List<Entry> entries) {
    try {
      read(name.getBytes(StandardCharsets.UTF_8), 0);
    } catch (ArchiveException error) {
      return false;
    }
    String own = fold(name);
    return !isReserved(name) && entries.stream().map(entry -> fold(entry.name())).noneMatch(
        other -> other.equals(own) || own.startsWith(other + "/") || other.startsWith(own + "/"));
  }

  private static String fold(String name) { return name.toLowerCase(Locale.ROOT); }
}
