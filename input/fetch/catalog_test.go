package fetch

import (
	"encoding/hex"
	"strings"
	"testing"
)

// TestCatalog verifies that the catalog is consistent.
func TestCatalog(t *testing.T) {
	if got := strings.Join(Names(), " "); got != "mnist a8a" {
		t.Errorf("names %q", got)
	}
	for _, s := range catalog() {
		for _, b := range s.bases {
			if !strings.HasPrefix(b, "https://") || !strings.HasSuffix(b, "/") {
				t.Errorf("%s: base %s", s.name, b)
			}
		}
		for _, f := range s.files {
			if sum, err := hex.DecodeString(f.sha256); err != nil || len(sum) != 32 || f.bytes <= 0 || strings.HasPrefix(f.path, "/") {
				t.Errorf("%s: %+v", s.name, f)
			}
		}
	}
}
