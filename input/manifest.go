package input

import (
	"fmt"
	"hash/crc32"
	"strings"
)

// ManifestName is a file's name in the manifests that ranks compare: with the folders next to it that name columns. Those
// above them may be of a place.
func ManifestName(path string) string {
	folders := strings.Split(path, "/")
	at := len(folders) - 1
	for at > 0 && strings.Index(folders[at-1], "=") > 0 {
		at--
	}
	return strings.Join(folders[at:], "/")
}

// maxManifest bounds the lines of a manifest that are compared as they are.
const maxManifest = 256

// ManifestText is what ranks compare of a manifest: its lines, and of many files a checksum in place of most.
func ManifestText(lines []string) string {
	if len(lines) <= maxManifest {
		return strings.Join(lines, " ")
	}
	first, rest := strings.Join(lines[:maxManifest], " "), strings.Join(lines[maxManifest:], " ")
	return fmt.Sprintf("%s and %d more, checksum %08x", first, len(lines)-maxManifest, crc32.Checksum([]byte(rest), crc32.MakeTable(crc32.Castagnoli)))
}
