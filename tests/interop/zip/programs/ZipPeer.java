// What Java's ZipFile ("file") or ZipInputStream ("stream") reads. The protocol is that of peers.py.

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;

public final class ZipPeer {
    private static final int MOST = 1 << 20; // bytes of an entry that are read

    private static String read(ZipEntry entry, InputStream data) throws IOException {
        byte[] bytes = data.readNBytes(MOST);
        var crc = new CRC32();
        var adler = new Adler32();
        crc.update(bytes);
        adler.update(bytes);
        String name = HexFormat.of().formatHex(entry.getName().getBytes(StandardCharsets.UTF_8));
        long stated = entry.getSize();
        String tail = stated < 0 || stated == bytes.length ? "" : "," + stated;
        return String.format("[\"%s\",%d,\"%08x%08x\"%s]", name, bytes.length, crc.getValue(), adler.getValue(), tail);
    }

    private static List<String> file(String path) throws IOException {
        List<String> entries = new ArrayList<>();
        try (var file = new ZipFile(path)) {
            for (ZipEntry each : Collections.list(file.entries())) {
                try (InputStream data = file.getInputStream(each)) {
                    entries.add(read(each, data));
                }
            }
        }
        return entries;
    }

    private static List<String> stream(String path) throws IOException {
        List<String> entries = new ArrayList<>();
        try (var stream = new ZipInputStream(new FileInputStream(path))) {
            for (ZipEntry each = stream.getNextEntry(); each != null; each = stream.getNextEntry()) {
                entries.add(read(each, stream));
            }
        }
        return entries;
    }

    private static String answer(String path, boolean streamed) {
        try {
            return "{\"entries\":[" + String.join(",", streamed ? stream(path) : file(path)) + "]}";
        } catch (IOException | RuntimeException error) {
            byte[] why = error.toString().getBytes(StandardCharsets.UTF_8);
            return "{\"refused_hex\":\"" + HexFormat.of().formatHex(why) + "\"}"; // needs no escapes
        }
    }

    public static void main(String[] arguments) throws IOException {
        boolean streamed = arguments[0].equals("stream");
        var paths = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String path = paths.readLine(); path != null; path = paths.readLine()) {
            System.out.println(answer(path, streamed));
        }
    }
}
