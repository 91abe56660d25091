package main // what a loader proves and archive/zip does not, after ../../loading.md

import (
	"archive/zip"
	"encoding/binary"
	"io"
	"regexp"
)

var le, allowed = binary.LittleEndian, regexp.MustCompile(`^[ !#-)+-9=@-[\]-{}~]+$`)
var reserved = regexp.MustCompile(`^__[A-Z]`)

type spy struct { // remembers where archive/zip has read: it does not tell where a local header is
	io.ReaderAt
	at int64
}

func (s *spy) ReadAt(to []byte, at int64) (int, error) { s.at = at; return s.ReaderAt.ReadAt(to, at) }

func read(file io.ReaderAt, at, size int64) []byte {
	bytes := make([]byte, size)
	_, err := file.ReadAt(bytes, at)
	need(err == nil, "something lies beyond the file")
	return bytes
}
func directory(file io.ReaderAt, length int64) (found [3]uint64) { // number of entries, size and offset
	need(length >= 22, "the file is too short for an archive")
	begin := length - 98
	if begin < 0 {
		begin = 0
	}
	tail := append(make([]byte, 98-(length-begin)), read(file, begin, length-begin)...)
	end, place, zip64 := tail[76:], length-22, le.Uint32(tail[56:]) == 0x07064B50
	need(le.Uint32(end) == 0x06054B50 && le.Uint16(end[20:]) == 0, "there is not an end record at the end")
	short := [3]uint64{uint64(le.Uint16(end[10:])), uint64(le.Uint32(end[12:])), uint64(le.Uint32(end[16:]))}
	if found = short; zip64 {
		place, found = length-98, [3]uint64{le.Uint64(tail[32:]), le.Uint64(tail[40:]), le.Uint64(tail[48:])}
		version := le.Uint16(tail[14:])
		need(le.Uint32(tail) == 0x06064B50 && le.Uint64(tail[4:]) == 44 && version >= 10 && version <= 45 &&
			le.Uint64(tail[64:]) == uint64(place), "bad zip64 end records")
	}
	for i, full := range [3]uint64{0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF} {
		need(short[i] == full && zip64 || short[i] != full && short[i] == found[i], "the end records disagree")
	}
	need(found[1] <= uint64(place) && found[1]+found[2] == uint64(place), "the directory is somewhere else")
	need(found[0] > 0 && found[0] <= found[1]/46, "a number of entries that cannot be")
	return found
}
func extras(extra []byte) map[uint16][]byte {
	found := map[uint16][]byte{}
	for len(extra) > 0 {
		id, size := le.Uint16(extra), int(le.Uint16(extra[2:])) // too short a field panics
		_, twice := found[id]
		need(!twice, "an extra field is there twice")
		found[id], extra = extra[4:4+size], extra[4+size:]
	}
	return found
}
func entriesOf(file io.ReaderAt, length int64) map[string]*io.SectionReader {
	place, seen, found := directory(file, length), &spy{file, 0}, map[string]*io.SectionReader{}
	archive := must(zip.NewReader(seen, length))
	ends, size := []uint64{}, uint64(0)
	for _, entry := range archive.File {
		must(entry.DataOffset())
		ends, size = append(ends, uint64(seen.at)), size+uint64(46+len(entry.Name)+len(entry.Extra)+len(entry.Comment))
	}
	need(uint64(len(ends)) == place[0] && size == place[1] && ends[0] == 0, "bad directory")
	ends = append(ends, place[2])
	for i, entry := range archive.File {
		at, end, size, name := ends[i], ends[i+1], entry.UncompressedSize64, entry.Name
		need(entry.Flags&0x2049 == 0 && entry.Method == 0 && size == entry.CompressedSize64, "not plainly stored")
		need(allowed.MatchString(name) && (name == "__MODEL_PROTO" || !reserved.MatchString(name)), "bad name")
		for id := range extras(entry.Extra) {
			need(id == 1 || id == 0xA11E, "an extra field that is not known")
		}
		header := read(file, int64(at), 30)
		begin := at + 30 + uint64(le.Uint16(header[26:])) + uint64(le.Uint16(header[28:]))
		need(begin <= end && size <= end-begin && found[name] == nil, "entries overlap, or have one name")
		rest := read(file, int64(at)+30, int64(begin-at)-30)
		long, is64 := extras(rest[le.Uint16(header[26:]):])[1]
		need(le.Uint32(header) == 0x04034B50 && string(rest[:le.Uint16(header[26:])]) == name, "bad local header")
		for _, short := range []uint32{le.Uint32(header[18:]), le.Uint32(header[22:])} {
			need(uint64(short) == size && (is64 || short != 0xFFFFFFFF) || is64 && short == 0xFFFFFFFF, "another size")
		}
		need(!is64 || len(long) == 16 && le.Uint64(long) == size && le.Uint64(long[8:]) == size, "another size")
		found[name] = io.NewSectionReader(file, int64(begin), int64(size))
	}
	return found
}
