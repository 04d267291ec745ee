package convert

import (
	"fmt"
	"slices"
	"strconv"

	"ringtrain/input/tfrecord"
)

// A clickRow appends a record to a text. It may have memory of its own.
type clickRow = func(dst []byte, label uint8, ids []uint32) []byte

func clickLibSVM(ClickLog) clickRow { return appendLibSVM }
func clickLibFFM(ClickLog) clickRow { return appendLibFFM }
func clickVW(ClickLog) clickRow     { return appendVW }

func appendLibSVM(dst []byte, label uint8, ids []uint32) []byte {
	dst = append(dst, '0'+label)
	for _, id := range ids {
		dst = append(dst, ' ')
		dst = strconv.AppendUint(dst, uint64(id), 10)
		dst = append(dst, ":1"...)
	}
	return append(dst, '\n')
}

func appendLibFFM(dst []byte, label uint8, ids []uint32) []byte {
	dst = append(dst, '0'+label)
	for field, id := range ids {
		dst = append(dst, ' ')
		dst = strconv.AppendUint(dst, uint64(field), 10)
		dst = append(dst, ':')
		dst = strconv.AppendUint(dst, uint64(id), 10)
		dst = append(dst, ":1"...)
	}
	return append(dst, '\n')
}

func appendVW(dst []byte, label uint8, ids []uint32) []byte {
	if label == 0 {
		dst = append(dst, '-')
	}
	dst = append(dst, "1 |"...)
	for _, id := range ids {
		dst = append(dst, ' ')
		dst = strconv.AppendUint(dst, uint64(id), 10)
	}
	return append(dst, '\n')
}

func clickCSV(c ClickLog) clickRow {
	starts := c.FieldStarts()[:c.Numbers]
	return func(dst []byte, label uint8, ids []uint32) []byte { return appendCSV(dst, label, ids, starts) }
}

// names returns the line of names of a csv file.
func (c ClickLog) names() []byte {
	line := []byte("label")
	for f := range c.Fields {
		if f < c.Numbers {
			line = fmt.Appendf(line, ",I%d", f+1)
			continue
		}
		line = fmt.Appendf(line, ",C%d", f+1-c.Numbers)
	}
	return append(line, '\n')
}

// appendCSV appends a record. The first len(starts) fields are numbers: the offset of
// the id from the first id of its field.
func appendCSV(dst []byte, label uint8, ids, starts []uint32) []byte {
	dst = append(dst, '0'+label)
	for f, id := range ids {
		dst = append(dst, ',')
		if f < len(starts) {
			dst = strconv.AppendUint(dst, uint64(id-starts[f]), 10)
			continue
		}
		const digits = "0123456789abcdef"
		word := categoryOf(id)
		for shift := 28; shift >= 0; shift -= 4 {
			dst = append(dst, digits[word>>shift&15])
		}
	}
	return append(dst, '\n')
}

// categoryOf maps ids injectively to 32-bit words.
func categoryOf(id uint32) uint32 {
	id *= 0x9e3779b1
	id ^= id >> 16
	id *= 0x85ebca6b
	return id ^ id>>13
}

// clickExamples returns the function that appends a record of a TFRecord file. The
// values of its ids are ones.
func clickExamples(c ClickLog) clickRow {
	ones := slices.Repeat([]float32{1}, c.Fields)
	var encoder tfrecord.Encoder
	var example []byte
	var to appended
	records := tfrecord.NewWriter(&to)
	return func(dst []byte, label uint8, ids []uint32) []byte {
		example = encoder.AppendSparse(example[:0], float32(label), ids, ones)
		to.text = dst
		records.Write(example) // never fails, because appended does not
		return to.text
	}
}

// appended is a writer to memory.
type appended struct{ text []byte }

func (a *appended) Write(p []byte) (int, error) {
	a.text = append(a.text, p...)
	return len(p), nil
}
