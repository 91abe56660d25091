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

func repeat(to io.Writer, size int, piece []byte) {
	for ; size > len(piece); size -= len(piece) {
		must(to.Write(piece))
	}
	must(to.Write(piece[:size]))
}

// add makes the data twice, as CreateHeader would write the CRC-32 after the data.
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
	sum := crc32.NewIEEE()
	repeat(sum, size, piece)
	header.CRC32 = sum.Sum32()
	repeat(must(archive.CreateRaw(header)), size, piece)
	header.Extra = nil // archive/zip would write the padding into the directory, too
}
func main() {
	defer report()
	rows, columns, words := 64, 32, os.Args[1:]
	if len(words) > 0 && words[0] == "--large" {
		rows, columns, words = 1<<20+1024, 1024, words[1:]
	}
	need(len(words) == 1, "usage: write [--large] ARCHIVE")
	floats := []byte{}
	for i := 0; i < 1<<18; i++ {
		floats = le.AppendUint32(floats, math.Float32bits(float32(i)))
	}
	file := must(os.Create(words[0]))
	archive := zip.NewWriter(file)
	add(archive, file, "weight", 4*rows*columns, floats)
	add(archive, file, "bias", 4*16*columns, floats)
	model := modelOf(rows, columns)
	add(archive, file, "__MODEL_PROTO", len(model), model)
	must(0, archive.Close())
	must(0, file.Close())
}
