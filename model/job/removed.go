package job

import (
	"fmt"
	"path"
)

// removed lists the keys of earlier versions that are gone, and the values that a key no longer or never
// had, although people say them. A job that says one of them is refused. A checkpoint that says it is read all the same.
var removed = []struct {
	key     string
	value   string // pattern of package path; "": the key itself
	instead string // what to do, behind the key and its value
}{
	{"allreduce.streams", "", "leave it out, a ring has one TCP connection to each neighbour"},
	{"allreduce.codec", "int8u", "want int8, which is more exact, or auto"},
	{"allreduce.lossless", "s2", "want none or zstd"},
	{"allreduce.lossless", "huff0", "want none or zstd"},
	{"allreduce.algorithm", "fold", "want auto, ring, doubling or halving"},
	{"allreduce.algorithm", "tree", "want auto, ring, doubling or halving"},
	{"allreduce.algorithm", "*:*", "want auto, ring, doubling or halving: auto takes them by the size of a buffer"},
	{"allreduce.order", "measured", "want auto, rank, host or a list; ringtrain doctor prints the best order"},
	{"allreduce.security", "none", "want tls or auth: --insecure drops the token, never TLS"},
	{"allreduce.link", "grpc", "want auto, tcp or shm: gradients no longer travel over gRPC"},
}

// Removed returns what to do instead of a value that the key had in an earlier version, "" for others.
func Removed(key, value string) string {
	for _, r := range removed {
		if gone, _ := path.Match(r.value, value); gone && r.key == key && r.value != "" {
			return r.instead
		}
	}
	return ""
}

// removedKey returns what to do instead of a key of an earlier version, "" for others.
func removedKey(key string) string {
	for _, r := range removed {
		if r.key == key && r.value == "" {
			return r.instead
		}
	}
	return ""
}

// RemovedFrom returns a line for each of the options of a checkpoint that is gone. What a key said
// unasked needs none.
func RemovedFrom(options map[string]string) []string {
	var lines []string
	for _, r := range removed {
		was, ok := options[r.key]
		gone, _ := path.Match(r.value, was)
		if ok && (gone || r.value == "" && was != Auto) {
			lines = append(lines, fmt.Sprintf("%s was %q: this is gone, and skipped", r.key, was))
		}
	}
	return lines
}
