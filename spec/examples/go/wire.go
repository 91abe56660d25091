package main // as much of protobuf as a ModelProto with linked weights needs; other programs have it from a library

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path"
)

func number(field byte, value int) []byte {
	return binary.AppendUvarint([]byte{field << 3}, uint64(value))
}
func text(field byte, parts ...[]byte) []byte {
	value := bytes.Join(parts, nil)
	return append(binary.AppendUvarint([]byte{field<<3 | 2}, uint64(len(value))), value...)
}
func str(field byte, value any) []byte  { return text(field, []byte(fmt.Sprint(value))) }
func pair(key string, value any) []byte { return text(13, str(1, key), str(2, value)) }
func node(a, b, out, kind string) []byte {
	return text(1, str(1, a), str(1, b), str(2, out), str(4, kind))
}
func linked(name string, rows, columns int) []byte {
	return text(5, number(1, rows), number(1, columns), number(2, 1), str(8, name), pair("location", name),
		pair("offset", 0), pair("length", 4*rows*columns), number(14, 1))
}
func value(field byte, name string, columns int) []byte {
	shape := text(2, text(1, number(1, 16)), text(1, number(1, columns)))
	return text(field, str(1, name), text(2, text(1, number(1, 1), shape)))
}

// modelOf makes y = x * weight + bias, with both weights linked to entries of their names.
func modelOf(rows, columns int) []byte {
	graph := text(7, node("x", "weight", "xw", "MatMul"), node("xw", "bias", "y", "Add"), str(2, "example"),
		linked("weight", rows, columns), linked("bias", 16, columns), value(11, "x", rows), value(12, "y", columns))
	return bytes.Join([][]byte{number(1, 8), graph, text(8, str(1, ""), number(2, 13))}, nil)
}

type field struct {
	id, number uint64
	bytes      []byte // nil in a number
}

func varint(message []byte) (uint64, []byte) {
	value, n := binary.Uvarint(message)
	need(n > 0, "a number is cut off or too long")
	return value, message[n:]
}
func numbers(packed []byte) (found []uint64) {
	for next := uint64(0); len(packed) > 0; found = append(found, next) {
		next, packed = varint(packed)
	}
	return found
}
func fields(message []byte) (found []field) { // except those of 4 and 8 bytes
	for len(message) > 0 {
		tag, number := uint64(0), uint64(0)
		if tag, message = varint(message); tag&7 == 0 || tag&7 == 2 {
			number, message = varint(message)
		}
		size, known := map[uint64]uint64{0: 0, 1: 8, 2: number, 5: 4}[tag&7]
		need(known && size <= uint64(len(message)), "a field is cut off, or a group")
		if tag&7 == 0 {
			found = append(found, field{tag >> 3, number, nil})
		} else if tag&7 == 2 {
			found = append(found, field{tag >> 3, 0, message[:size:size]})
		}
		message = message[size:]
	}
	return found
}

type tensor struct {
	name   string
	kind   uint32
	dims   []uint64
	linked bool
	link   map[string][]string
}

func tensorOf(message []byte) tensor {
	t := tensor{link: map[string][]string{}}
	for _, part := range fields(message) {
		switch {
		case part.id == 1 && part.bytes == nil:
			t.dims = append(t.dims, part.number)
		case part.id == 1:
			t.dims = append(t.dims, numbers(part.bytes)...)
		case part.id == 2 && part.bytes == nil:
			t.kind = uint32(part.number)
		case part.id == 8:
			t.name = string(part.bytes)
		case part.id == 13:
			pair := map[uint64]string{}
			for _, each := range fields(part.bytes) {
				pair[each.id] = string(each.bytes)
			}
			t.link[pair[1]] = append(t.link[pair[1]], pair[2])
		case part.id == 14 && part.bytes == nil && uint32(part.number) < 2:
			t.linked = uint32(part.number) == 1
		}
	}
	return t
}
func tensors(model []byte) (found []tensor) { // the initializers
	var graph []byte
	for _, part := range fields(model) {
		if part.id == 7 {
			graph = part.bytes
		}
	}
	for _, part := range fields(graph) {
		if part.id == 5 {
			found = append(found, tensorOf(part.bytes))
		}
	}
	return found
}
func need(ok bool, what string) {
	if !ok {
		panic(what)
	}
}
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
func report() { // of a panic, deferred
	if problem := recover(); problem != nil {
		log.New(os.Stderr, "", 0).Fatalln(path.Base(os.Args[0])+":", problem)
	}
}
