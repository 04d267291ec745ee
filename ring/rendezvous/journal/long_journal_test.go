package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring/rendezvous/state"
)

// fillJournal writes a journal of the given size: losses of one generation, each with an unknown
// field of zeros, which takes no space in the file system.
func fillJournal(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := encoded(t, someRecords()[:2])
	if _, err := f.WriteAt(head, 0); err != nil {
		t.Fatal(err)
	}
	const most = 4_000_000
	for at := int64(len(head)); at < size; {
		rest := size - at
		if n := rest - most; n > 0 && n < most {
			rest /= 2 // no entry may be too small
		}
		entry := lossOf(t, int(min(rest, most)))
		if _, err := f.WriteAt(bytes.TrimRight(entry, "\x00"), at); err != nil {
			t.Fatal(err)
		}
		at += int64(len(entry))
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
}

// lossOf returns the entry of a loss with the given size.
func lossOf(t *testing.T, size int) []byte {
	t.Helper()
	body, err := Marshal(someRecords()[2])
	if err != nil {
		t.Fatal(err)
	}
	zeros := size - 12 - len(body) - 5
	body = append(body, 15<<3|2)
	body = append(body, byte(zeros)|0x80, byte(zeros>>7)|0x80, byte(zeros>>14)|0x80, byte(zeros>>21)) // a varint of four bytes
	body = append(body, make([]byte, zeros)...)
	le, table := binary.LittleEndian, crc32.MakeTable(crc32.Castagnoli)
	entry := le.AppendUint32(nil, uint32(len(body)))
	entry = le.AppendUint32(entry, crc32.Checksum(entry, table))
	entry = le.AppendUint32(entry, crc32.Checksum(body, table))
	return append(entry, body...)
}

// TestLongJournal verifies that a journal of more than 256 MiB, grown while it is used or
// long when it is opened, is compacted and restores the same state. The journal is opened by a link,
// which stays.
func TestLongJournal(t *testing.T) {
	const long, few = 256 << 20, 1 << 20
	for name, size := range map[string]int64{"at=running": long - 20, "at=open": long + 1} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, link := filepath.Join(dir, "journal"), filepath.Join(dir, "link")
			fillJournal(t, path, size)
			if err := os.Symlink("journal", link); err != nil {
				t.Fatal(err)
			}
			j, err := Open(link, "", 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range someRecords()[3:] {
				if err := j.Append(r); err != nil {
					t.Fatal(err)
				}
			}
			j.Close()
			again, err := Open(path, "", 0)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if to, err := os.Readlink(link); to != "journal" {
				t.Errorf("the link is %q, %v", to, err)
			}
			if info, err := os.Stat(path); err != nil || info.Size() > few {
				t.Errorf("%d bytes, %v; want less than %d", info.Size(), err, few)
			}
			if _, generation := again.Last(); generation != 2 {
				t.Errorf("the last generation is %d, want 2", generation)
			}
			got, want := state.Restore(state.Config{HasJournal: true}, again.Records()), state.Restore(state.Config{HasJournal: true}, someRecords())
			if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
				t.Errorf("restored: want -, got +:\n%s", diff)
			}
		})
	}
}
