package bundle

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestMap verifies that a mapped tensor equals the one that is read, of every type and of the shards that
// TensorFlow wrote, that it stays when the files are removed, and that damage and a file that has another
// size are errors.
func TestMap(t *testing.T) {
	ours := write(t, every())
	for _, prefix := range []string{ours, "../testdata/tensorflow/sharded/model.ckpt-7"} {
		r, err := Open(prefix)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, e := range r.Entries() {
			want, err := r.Read(e.Name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Map(e.Name)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Data) == 0 && len(want.Data) == 0 {
				got.Data = want.Data
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s: mapped %v, read %v", prefix, e.Name, got, want)
			}
		}
		if _, err := r.Map("no such tensor"); err == nil {
			t.Error("a tensor that is not there is mapped")
		}
		if prefix != ours {
			continue
		}
		if err := os.RemoveAll(filepath.Dir(ours)); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Map(r.Entries()[0].Name); err != nil {
			t.Errorf("after the files are removed: %v", err)
		}
	}
	for name, change := range map[string]func(data string) error{
		"crc32c is": func(data string) error { return os.WriteFile(data, make([]byte, sizeOf(data)), 0o666) },
		"the file no longer has": func(data string) error {
			return os.Truncate(data, sizeOf(data)-1)
		},
	} {
		prefix := write(t, every())
		r, err := Open(prefix)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := change(shardName(prefix, 0, 1)); err != nil {
			t.Fatal(err)
		}
		_, err = r.Map("text")
		wantBad(t, err, name)
	}
}

func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}
