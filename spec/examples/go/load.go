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

var bits = []int64{0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2}
var decimal = regexp.MustCompile("^(0|[1-9][0-9]{0,19})$")

func show(t tensor, entries map[string]*io.SectionReader) {
	for _, key := range []string{"location", "offset", "length", "checksum"} {
		need(len(t.link[key]) < 2, "a key is given twice")
	}
	need(int(t.kind) < len(bits) && bits[t.kind] > 0 && len(t.dims) <= 1024, "a type or shape that cannot be")
	size := big.NewInt(bits[t.kind])
	for _, dim := range t.dims {
		need(int64(dim) >= 0, "a dimension is negative")
		size.Mul(size, new(big.Int).SetUint64(dim))
	}
	size.Rsh(size.Add(size, big.NewInt(7)), 3)
	number := func(key, otherwise string) *big.Int {
		text := append(t.link[key], otherwise)[0]
		need(decimal.MatchString(text), "a bad number")
		value, _ := new(big.Int).SetString(text, 10)
		return value
	}
	offset, length := number("offset", "0"), number("length", size.String())
	entry := entries[append(t.link["location"], "")[0]]
	need(entry != nil && length.Cmp(size) == 0, "an entry that is not there, or another length")
	need(new(big.Int).Add(offset, size).Cmp(big.NewInt(entry.Size())) <= 0, "beyond the end of the entry")
	sum := crc32.NewIEEE()
	must(io.Copy(sum, io.NewSectionReader(entry, offset.Int64(), size.Int64())))
	shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(t.dims), "[]"), " ", ",")
	fmt.Printf("%s %d %s %08x\n", t.name, t.kind, shape, sum.Sum32())
}
func main() {
	defer report()
	need(len(os.Args) == 2, "usage: load ARCHIVE")
	file := must(os.Open(os.Args[1]))
	defer file.Close()
	entries := entriesOf(file, must(file.Stat()).Size())
	need(entries["__MODEL_PROTO"] != nil, "there is not a model")
	for _, t := range tensors(must(io.ReadAll(entries["__MODEL_PROTO"]))) {
		if t.linked {
			show(t, entries)
		}
	}
}
