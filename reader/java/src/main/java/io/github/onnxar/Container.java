// Entries and their places (rules P1 to P8, N13, T1, T2).
package io.github.onnxar;

import java.nio.ByteBuffer;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;

/** An archive, or a superseded state of one, that has passed stage open. */
final class Container {
  final Bytes bytes;
  final EndRecords records;
  final List<Entry> entries = new ArrayList<>();
  private final Map<String, Entry> byName = new HashMap<>();
  private final Headers headers;
  private final AtomicLongArray places; // offsets of data, 0 if the local header was not read
  private final Map<Long, Boolean> zeros; // of padding, by local header; states share them

  Container(Bytes bytes, Limits limits) throws ArchiveException {
    this(bytes, bytes.size, limits, new ConcurrentHashMap<>());
  }

  private Container(Bytes bytes, long end, Limits limits, Map<Long, Boolean> zeros) throws ArchiveException {
    this.bytes = bytes;
    this.zeros = zeros;
    headers = new Headers(bytes);
    records = EndRecords.read(bytes, end);
    records.checkCounts(limits);
    readEntries();
    places = new AtomicLongArray(entries.size());
    checkPlaces();
    Names.check(entries);
    for (Entry entry : entries) if (!endsAsUsual(entry)) place(entry);
    for (Entry entry : entries) byName.put(entry.name(), entry);
    checkModel(limits);
  }

  private void readEntries() throws ArchiveException {
    long at = records.directory();
    for (int i = 0; i < records.entries(); ++i) {
      long end = headers.end(at, records.directoryEnd());
      entries.add(headers.readEntry(at, i));
      at = end;
    }
    Rule.E10.require(at == records.directoryEnd(), at, "");
  }

  /** Checks P1 to P4. Until then, offsets and sizes are any numbers of 64 bits. */
  private void checkPlaces() throws ArchiveException {
    Rule.P1.require(entries.get(0).local() == 0, entries.get(0).header(), entries.get(0).name());
    for (Entry entry : entries) {
      boolean isLast = entry == model();
      long following = following(entry);
      Entry blamed = isLast ? entry : entries.get(entry.index() + 1);
      boolean isBefore = Long.compareUnsigned(entry.local(), following) < 0;
      (isLast ? Rule.P4 : Rule.P2).require(isBefore, blamed.header(), blamed.name());
      long room = following - entry.local();
      long least = Headers.LOCAL + entry.name().length();
      boolean fits = Long.compareUnsigned(room, least) >= 0 && Long.compareUnsigned(entry.size(), room - least) <= 0;
      afterwards(entry).require(fits, entry.local(), entry.name());
    }
  }

  private Rule afterwards(Entry entry) { return entry == model() ? Rule.P4 : Rule.P3; }

  /** Checks P6 to P8 and N13. */
  private void checkModel(Limits limits) throws ArchiveException {
    Entry model = find(Names.MODEL);
    Rule.P6.require(model != null, records.directory(), "");
    Rule.P7.require(model == model(), model.header(), Names.MODEL);
    Rule.P8.require(model.size() <= limits.model(), model.header(), Names.MODEL);
    for (Entry entry : entries) {
      Rule.N13.require(entry == model || !Names.isReserved(entry.name()), entry.header(), entry.name());
    }
  }

  /** Returns the last entry, which is the model once the archive is open. */
  Entry model() { return entries.get(entries.size() - 1); }

  /** Returns the entry of this name, or null. */
  Entry find(String name) { return byName.get(name); }

  /** Returns the offset of what follows an entry: the next local header, or the directory. */
  long following(Entry entry) {
    return entry == model() ? records.directory() : entries.get(entry.index() + 1).local();
  }

  /** True if the entry ends where usual writers put its end, so that its local header need not be read yet (P5a). */
  private boolean endsAsUsual(Entry entry) {
    long least = entry.local() + Headers.LOCAL + entry.name().length() + (entry.size() >= EndRecords.NONE_32 ? 20 : 0);
    long end = following(entry) - entry.size();
    long usual = align(least + 6, entry.size() >= 1 << 20 ? 4096 : 64);
    return end == usual || end == align(least, 64) || end == align(least + 6, 64);
  }

  private static long align(long at, long alignment) { return (at + alignment - 1) / alignment * alignment; }

  /** Returns the offset of an entry's data. Runs stage use at the first call. */
  long place(Entry entry) throws ArchiveException {
    long known = places.get(entry.index());
    if (known != 0) return known;
    long following = following(entry);
    long data = headers.readLocal(entry, following, zeros);
    long end = data + entry.size();
    afterwards(entry).require(end <= following, entry.local(), entry.name());
    if (end < following) checkGap(entry, end, following);
    places.set(entry.index(), data);
    return data;
  }

  /** Checks that what follows an entry is a superseded tail (P5). */
  private void checkGap(Entry entry, long end, long following) throws ArchiveException {
    Rule.P5.require(entry != model(), end, entry.name());
    EndRecords superseded;
    try {
      superseded = EndRecords.read(bytes, following);
    } catch (ArchiveException error) {
      throw Rule.P5.broken(end, entry.name());
    }
    boolean isTail = superseded.directory() >= end && (records.hasZip64() || !superseded.hasZip64());
    Rule.P5.require(isTail, end, entry.name());
  }

  /** Returns the bytes of an entry in place, after stage use. */
  ByteBuffer data(Entry entry) throws ArchiveException { return bytes.slice(place(entry), entry.size()); }

  /** Runs stage use for all entries. */
  void placeAll() throws ArchiveException { for (Entry entry : entries) place(entry); }

  /** Checks T2, after {@link #placeAll}. */
  void checkTails() throws ArchiveException {
    Set<Long> known = new HashSet<>();
    for (Entry entry : entries) {
      long end = place(entry) + entry.size();
      if (end == following(entry) || !known.add(following(entry))) continue;
      try {
        checkStates(following(entry), known);
      } catch (ArchiveException error) {
        throw Rule.T2.broken(end, entry.name());
      }
    }
  }

  /** Checks the state that ends at an offset, the states in its own tails, and so on. */
  private void checkStates(long end, Set<Long> known) throws ArchiveException {
    Deque<Long> ends = new ArrayDeque<>(List.of(end));
    while (!ends.isEmpty()) {
      Container state = new Container(bytes, ends.pop(), Limits.DEFAULT, zeros);
      state.placeAll();
      for (Entry entry : state.entries) {
        long following = state.following(entry);
        if (state.place(entry) + entry.size() != following && known.add(following)) ends.push(following);
      }
    }
  }

  /** Compares the CRC-32s of all entries (T1). */
  void checkData() throws ArchiveException {
    for (Entry entry : entries) {
      Rule.T1.require(bytes.crc32(place(entry), entry.size()) == entry.crc32(), place(entry), entry.name());
    }
  }
}
