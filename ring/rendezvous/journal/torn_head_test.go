package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/ring/rendezvous/state"
)

// journalWithHeadAt returns a journal whose last entry begins the given number of bytes before the
// end of a sector of 512 bytes, and the offset of that entry.
func journalWithHeadAt(t *testing.T, before int) (data []byte, at int) {
	t.Helper()
	records := someRecords()
	job := records[0].(state.JobRecord)
	for n := range 512 {
		job.Spec.Agree = []string{strings.Repeat("x", 400+n)}
		records[0] = job
		at = len(encoded(t, records[:4]))
		if at%512 == 512-before {
			return encoded(t, records), at
		}
	}
	t.Fatalf("no journal has an entry %d bytes before the end of a sector", before)
	return nil, 0
}

// TestTornHead verifies that an entry whose header lies in two sectors, of which one was not
// written, counts as never finished, and that no other entry is lost.
func TestTornHead(t *testing.T) {
	for before := 1; before < 12; before++ {
		data, at := journalWithHeadAt(t, before)
		for _, lost := range []string{"first", "second"} {
			t.Run(fmt.Sprintf("before=%d/lost=%s", before, lost), func(t *testing.T) {
				torn, edge := append([]byte{}, data...), at+before
				if lost == "first" {
					clear(torn[at:edge])
				} else {
					clear(torn[edge:])
				}
				path := filepath.Join(t.TempDir(), "journal")
				if err := os.WriteFile(path, torn, 0o600); err != nil {
					t.Fatal(err)
				}
				j := openJournal(t, path)
				if len(j.Records()) != 4 || j.Torn() != int64(len(data)-at) {
					t.Errorf("%d records and %d bytes cut off, want 4 and %d", len(j.Records()), j.Torn(), len(data)-at)
				}
				if err := j.Append(someRecords()[4]); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
