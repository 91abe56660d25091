// Writes an ONNX archive with archive/zip: write [--large] ARCHIVE
package main

import (
	"archive/zip"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"os"
)

var le = binary.LittleEndian

// add writes the piece again and again: twice, as CreateHeader would write the CRC-32 after the data.
func add(archive *zip.Writer, file *os.File, name string, size int, piece []byte) {
	must(0, archive.Flush())
	extra, begin := []byte{}, int(must(file.Seek(0, io.SeekCurrent)))+30+len(name)
	if size >= math.MaxUint32 { // archive/zip writes this field into the directory only
		extra = le.AppendUint64(le.AppendUint64([]byte{1, 0, 16, 0}, uint64(size)), uint64(size))
	}
	zeros := 63 - (begin+len(extra)+6+63)%64
	extra = append(append(extra, 0x35, 0xD9, byte(2+zeros), 0, 64, 0), make([]byte, zeros)...)
	header := &zip.FileHeader{Name: name, ReaderVersion: 45, Extra: extra, UncompressedSize64: uint64(size)}
	header.CompressedSize64 = header.UncompressedSize64
	for done := 0; done < size; done += len(piece) {
		header.CRC32 = crc32.Update(header.CRC32, crc32.IEEETable, piece[:min(len(piece), size-done)])
	}
	entry := must(archive.CreateRaw(header))
	for done := 0; done < size; done += len(piece) {
		must(entry.Write(piece[:min(len(piece), size-done)]))
	}
	header.Extra = nil // archive/zip would write the padding into the directory, too
}
func min(a, b int) int { return int(math.Min(float64(a), float64(b))) }
func main() {
	defer report()
	rows, columns := 64, 32
	if os.Args[1] == "--large" {
		rows, columns = 1<<20+1024, 1024
	}
	floats := []byte{}
	for i := 0; i < 1<<18; i++ {
		floats = le.AppendUint32(floats, math.Float32bits(float32(i)))
	}
	file := must(os.Create(os.Args[len(os.Args)-1]))
	archive := zip.NewWriter(file)
	add(archive, file, "weight", 4*rows*columns, floats)
	add(archive, file, "bias", 4*16*columns, floats)
	model := modelOf(rows, columns)
	add(archive, file, "__MODEL_PROTO", len(model), model)
	must(0, archive.Close())
}
