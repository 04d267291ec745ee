package input

import (
	"encoding/hex"
	"strings"
)

// A Partition is a column that a folder names, as day=2026-01-01 does. All records of the files in the folder have its
// value.
type Partition struct{ Name, Value string } // the empty Value is missing

// noPartition is the value that Hive writes where there is none.
const noPartition = "__HIVE_DEFAULT_PARTITION__"

// Partitions returns the columns that the folders of a path name, in their order.
func Partitions(path string) (all []Partition) {
	folders := strings.Split(path, "/")
	for _, folder := range folders[:len(folders)-1] {
		name, value, found := strings.Cut(folder, "=")
		if !found || name == "" {
			continue
		}
		if value = decoded(value); value == noPartition {
			value = ""
		}
		all = append(all, Partition{decoded(name), value})
	}
	return all
}

// decoded returns s with the bytes that a percent sign and two digits stand for.
func decoded(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b []byte
	for ; s != ""; s = s[1:] {
		if len(s) >= 3 && s[0] == '%' {
			if c, err := hex.DecodeString(s[1:3]); err == nil {
				b, s = append(b, c...), s[2:]
				continue
			}
		}
		b = append(b, s[0])
	}
	return string(b)
}
