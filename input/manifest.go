package input

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
)

// ManifestName is a file's name in the manifests that ranks compare: with the folders that name columns.
func ManifestName(path string) string {
	folders := strings.Split(path, "/")
	last := len(folders) - 1
	named := slices.DeleteFunc(folders[:last:last], func(folder string) bool { return strings.Index(folder, "=") < 1 })
	return strings.Join(append(named, folders[last]), "/")
}

// mostManifest bounds the lines of a manifest that are compared as they are.
const mostManifest = 256

// ManifestText is what ranks compare of a manifest: its lines, and of many files a checksum in place of most.
func ManifestText(lines []string) string {
	if len(lines) <= mostManifest {
		return strings.Join(lines, " ")
	}
	first, rest := strings.Join(lines[:mostManifest], " "), strings.Join(lines[mostManifest:], " ")
	return fmt.Sprintf("%s and %d more, checksum %08x", first, len(lines)-mostManifest, crc32.Checksum([]byte(rest), crc32.MakeTable(crc32.Castagnoli)))
}
