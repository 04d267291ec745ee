package convert

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/input/maskedcrc"
	"ringtrain/input/text"
)

// Sniff returns the format of a file whose content begins so: separated text, unless another format knows
// its own.
func Sniff(head []byte) Format {
	all := Formats()
	at := slices.IndexFunc(all, func(f Format) bool { return f.is != nil && f.is(head) })
	if at < 0 {
		at = slices.IndexFunc(all, Format.HasNames)
	}
	return all[at]
}

// SniffFile is Sniff of a file, of which it returns the beginning: that of its content unless it is compressed.
func SniffFile(name string) (f Format, head []byte, err error) {
	r, _, err := input.OpenRaw(name)
	if err != nil {
		return f, nil, err
	}
	defer r.Close()
	if head, err = input.Head(r); err != nil {
		return f, nil, input.ReadError(name, err)
	}
	return Sniff(head), head, nil
}

// mostLines bounds the lines of a head that are looked at.
const mostLines = 200

// eachLine reports whether a condition holds for the first lines of a text, of which there is one or more.
func eachLine(head []byte, is func(line string) bool) bool {
	n := 0
	for line := range bytes.Lines(head) {
		if !bytes.HasSuffix(line, []byte{'\n'}) && n > 0 || n == mostLines {
			break // it may be cut
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !is(strings.TrimRight(string(line), "\r\n")) {
			return false
		}
		n++
	}
	return n > 0
}

func isIDX(head []byte) bool {
	return len(head) > 4 && head[0] == 0 && head[1] == 0 && head[2] == 8 && (head[3] == 1 || head[3] == 3)
}

func isTFRecord(head []byte) bool {
	return len(head) >= 12 && maskedcrc.Of(head[:8]) == binary.LittleEndian.Uint32(head[8:])
}

func isParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }

// isPairs reports whether lines have a number and pairs with so many colons.
func isPairs(head []byte, colons int) bool {
	return eachLine(head, func(line string) bool { return pairs(line, colons) })
}

func pairs(line string, colons int) bool {
	words := strings.Fields(line)
	if _, err := text.ParseFloat([]byte(words[0]), 64); err != nil || len(words) < 2 {
		return false
	}
	return !slices.ContainsFunc(words[1:], func(w string) bool {
		parts := strings.Split(w, ":")
		return len(parts) != colons+1 || slices.ContainsFunc(parts, func(p string) bool {
			if p == "" {
				return true
			}
			_, err := text.ParseFloat([]byte(p), 64)
			return err != nil
		})
	})
}

// isVW reports whether lines have a label, and features behind a bar.
func isVW(head []byte) bool { return eachLine(head, labelAndBar) }

func labelAndBar(line string) bool {
	before, features, found := strings.Cut(line, "|")
	words := strings.Fields(before)
	if !found || len(words) == 0 || !strings.HasSuffix(before, " ") || features == "" {
		return false
	}
	_, err := text.ParseFloat([]byte(words[0]), 64)
	return err == nil
}

// isCriteo reports whether a text has Criteo's lines: label, 13 numbers and 26 texts of 8 digits.
func isCriteo(head []byte) bool {
	return eachLine(head, func(line string) bool {
		fields := strings.Split(line, "\t")
		if len(fields) != 40 || fields[0] != "0" && fields[0] != "1" {
			return false
		}
		return !slices.ContainsFunc(fields[14:], func(f string) bool { return f != "" && len(f) != 8 })
	})
}
