// Prints the weights of an ONNX archive with archive/zip: load ARCHIVE
package main

import (
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"os"
	"regexp"
	"strings"
)

var bits = []int64{0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2} // by type
var decimal = regexp.MustCompile("^(0|[1-9][0-9]{0,19})$")

func show(tensor []field, entries map[string]*io.SectionReader) {
	name, kind, linked, dims, link, count := "", int32(0), false, []uint64{}, map[string]string{}, map[string]int{}
	for _, part := range tensor {
		switch {
		case part.id == 1 && part.bytes == nil:
			dims = append(dims, part.number)
		case part.id == 1:
			dims = append(dims, numbers(part.bytes)...)
		case part.id == 2 && part.bytes == nil:
			kind = int32(part.number)
		case part.id == 8:
			name = string(part.bytes)
		case part.id == 13:
			pair := [3]string{}
			for _, each := range fields(part.bytes) {
				pair[each.id%3] = string(each.bytes) // keys and values are 1 and 2
			}
			link[pair[1]], count[pair[1]] = pair[2], count[pair[1]]+1
		case part.id == 14 && uint32(part.number) < 2:
			linked = uint32(part.number) == 1
		}
	}
	if !linked {
		return
	}
	for _, key := range []string{"location", "offset", "length", "checksum"} {
		need(count[key] < 2, "a key is given twice")
	}
	need(kind > 0 && int(kind) < len(bits) && bits[kind] > 0 && len(dims) <= 1024, "a type or shape that cannot be")
	size := big.NewInt(bits[kind])
	for _, dim := range dims {
		need(int64(dim) >= 0, "a dimension is negative")
		size.Mul(size, new(big.Int).SetUint64(dim))
	}
	size.Rsh(size.Add(size, big.NewInt(7)), 3)
	number := func(key, otherwise string) *big.Int {
		if count[key] == 0 {
			link[key] = otherwise
		}
		need(decimal.MatchString(link[key]), "a bad number")
		value, _ := new(big.Int).SetString(link[key], 10)
		return value
	}
	offset, length, entry := number("offset", "0"), number("length", size.String()), entries[link["location"]]
	need(entry != nil && length.Cmp(size) == 0, "an entry that is not there, or another length")
	need(new(big.Int).Add(offset, size).Cmp(big.NewInt(entry.Size())) <= 0, "beyond the end of the entry")
	sum := crc32.NewIEEE()
	must(io.Copy(sum, io.NewSectionReader(entry, offset.Int64(), size.Int64())))
	shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(dims), "[]"), " ", ",")
	fmt.Printf("%s %d %s %08x\n", name, kind, shape, sum.Sum32())
}
func main() {
	defer report()
	file := must(os.Open(os.Args[1]))
	entries := entriesOf(file, must(file.Stat()).Size())
	need(entries["__MODEL_PROTO"] != nil, "there is not a model")
	var graph []byte
	for _, part := range fields(must(io.ReadAll(entries["__MODEL_PROTO"]))) {
		if part.id == 7 {
			graph = part.bytes
		}
	}
	for _, part := range fields(graph) {
		if part.id == 5 {
			show(fields(part.bytes), entries)
		}
	}
}
