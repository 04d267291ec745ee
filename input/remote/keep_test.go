package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"ringtrain/ring/exitcode"
)

// TestOddKeys verifies that keys which are no names of files are copied, each by itself, and that no copy leaves the folder.
func TestOddKeys(t *testing.T) {
	keys := []string{
		"a/../../../../b.csv", "./c.csv", "d//e.csv", "/f.csv", "g h.csv", "i%2Fj.csv", "k+l&m=n.csv", "ä/ö.csv", "p", "p/q", "p/q/r.csv", "s:t\\u.csv", "~", "-x", "...",
		strings.Repeat("v", 300) + ".csv", strings.Repeat("v", 301) + ".csv", strings.Repeat("w/", 200) + "x.csv", "line\nend.csv", "..", "y/..",
	}
	for _, key := range keys {
		dir := t.TempDir()
		from := &script{text: key}
		o := &object{url: "s3://b/" + key, id: key, key: key, size: int64(len(key)), from: from, path: safePath("s3/b/" + key)}
		s := newStore(t, dir)
		s.known["s3://b/"+key] = []*object{o}
		files, err := s.Files(t.Context(), "s3://b/"+key)
		if err != nil {
			t.Errorf("%q: %v", key, err)
			continue
		}
		rel, err := filepath.Rel(s.path(o.entry()), files[0])
		if err != nil || !filepath.IsLocal(rel) || contents(t, files)[0] != key {
			t.Errorf("%q is %q", key, files[0])
		}
		ext := filepath.Ext(key)
		if ext == ".csv" && !strings.HasSuffix(files[0], ext) {
			t.Errorf("%q is %q, whose ending is lost", key, files[0])
		}
	}
	paths := map[string]string{}
	for _, key := range keys {
		if other, there := paths[safePath(key)]; there {
			t.Errorf("%q and %q are both %q", key, other, safePath(key))
		}
		paths[safePath(key)] = key
	}
}

// drawn is a store with objects of so many bytes, of which it has listed all.
func drawn(t *testing.T, dir string, most int64, sizes ...int) *Store {
	t.Helper()
	s := newStore(t, dir)
	s.Bytes = most
	for i, size := range sizes {
		name := fmt.Sprintf("s3://b/%d-%d", i, size)
		text := strings.Repeat(fmt.Sprint(i%10), size)
		s.known[name] = []*object{{url: name, id: name, key: name, size: int64(size), from: &script{text: text}, path: safePath(name)}}
	}
	return s
}

// names returns the names of the objects that are copied in a folder, sorted.
func names(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "s3:", "%2F", "b", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

// age makes the copy of an object older than it is.
func age(t *testing.T, s *Store, name string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	if err := os.Chtimes(s.path(s.known[name][0].entry()), then, then); err != nil {
		t.Fatal(err)
	}
}

// TestEviction verifies that copies used longest ago make room, that those which a living process uses stay, and what is said
// if the rest does not suffice, before any byte is asked for.
func TestEviction(t *testing.T) {
	dir := t.TempDir()
	sizes := []int{100, 100, 100, 100, 250, 301}
	take := func(s *Store, all ...string) error {
		_, err := s.Files(t.Context(), all...)
		return err
	}
	ended := drawn(t, dir, 300, sizes...)
	for i, name := range []string{"s3://b/0-100", "s3://b/1-100", "s3://b/2-100"} {
		if err := take(ended, name); err != nil {
			t.Fatal(err)
		}
		age(t, ended, name, time.Duration(10-i)*time.Hour)
	}
	if got := names(t, dir); got != "0-100 1-100 2-100" {
		t.Fatalf("copied %s", got)
	}
	if err := take(drawn(t, dir, 300, sizes...), "s3://b/3-100"); exitcode.Of(err) != exitcode.IO || !strings.Contains(err.Error(), "jobs that run use 300 B") {
		t.Errorf("a fourth object beside three in use: %v", err)
	}
	unix.Close(ended.used.fd) // as the system does when a process ends
	living := drawn(t, dir, 300, sizes...)
	if err := take(living, "s3://b/0-100"); err != nil { // the oldest is used again
		t.Fatal(err)
	}
	if err := take(living, "s3://b/3-100"); err != nil || names(t, dir) != "0-100 2-100 3-100" {
		t.Errorf("error %v, copies %s, want the one used longest ago gone", err, names(t, dir))
	}
	err := take(living, "s3://b/4-250")
	if exitcode.Of(err) != exitcode.IO || !strings.Contains(err.Error(), "input.cache_size: s3://b/4-250: 250 B to copy") {
		t.Errorf("an object beside those in use: %v", err)
	}
	late := living.known["s3://b/5-301"][0].from.(*script)
	err = take(living, "s3://b/5-301")
	if exitcode.Of(err) != exitcode.IO || !strings.Contains(err.Error(), "s3://b/5-301: 301 B, and copies may take 300 B, as the job says") || len(late.asked) > 0 {
		t.Errorf("an object that never fits: %v, asked for %q", err, late.asked)
	}
	if got := names(t, dir); !strings.Contains(got, "0-100") || !strings.Contains(got, "3-100") {
		t.Errorf("copies %s, want those in use there", got)
	}
}

// TestPrune verifies that copies of replaced objects and drafts of killed processes are removed, but none that is in use.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	s := drawn(t, dir, 0, 10, 20)
	for name, all := range s.known {
		old := *all[0]
		old.etag = "old"
		s.known[name+"-old"] = []*object{&old}
		if _, err := s.Files(t.Context(), name+"-old", name); err != nil {
			t.Fatal(err)
		}
		age(t, s, name+"-old", time.Hour)
	}
	draft := s.path(s.known["s3://b/0-10"][0].entry() + draftMark + "1234")
	if err := os.MkdirAll(filepath.Join(draft, "s3"), 0o777); err != nil {
		t.Fatal(err)
	}
	prune := func() (told []string) {
		if err := Prune(dir, func(line string) { told = append(told, line) }, func(line string) { t.Error(line) }); err != nil {
			t.Fatal(err)
		}
		return told
	}
	if told := prune(); len(told) > 0 {
		t.Errorf("in use, and removed: %q", told)
	}
	unix.Close(s.used.fd)
	if told := prune(); len(told) != 2 || !strings.HasSuffix(told[0], "is removed: a newer copy is there") || names(t, dir) != "0-10 1-20" {
		t.Errorf("removed %q, left %s", told, names(t, dir))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left %v, error %v", left, err)
	}
	if err := Prune(filepath.Join(dir, "none"), nil, nil); err != nil {
		t.Errorf("no folder: %v", err)
	}
}

// TestLostEnd verifies that a copy which has lost its end is copied again.
func TestLostEnd(t *testing.T) {
	dir := t.TempDir()
	const name = "s3://b/0-100"
	files, err := drawn(t, dir, 0, 100).Files(t.Context(), name)
	if err != nil || os.Truncate(files[0], 50) != nil {
		t.Fatal(err)
	}
	again, err := drawn(t, dir, 0, 100).Files(t.Context(), name)
	if err != nil || again[0] != files[0] || len(contents(t, again)[0]) != 100 {
		t.Errorf("files %q, error %v", again, err)
	}
}

// TestTogether verifies that stores of several processes which need the same objects at once copy each once.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	var stores []*Store
	var all []string
	for range 3 {
		s := drawn(t, dir, 0, 1000, 2000, 0)
		stores = append(stores, s)
	}
	for name := range stores[0].known {
		all = append(all, name)
	}
	slices.Sort(all)
	faults := make(chan error)
	for _, s := range stores {
		go func() {
			files, err := s.Files(t.Context(), all...)
			if err == nil && len(contents(t, files)[1]) != 2000 {
				err = fmt.Errorf("%q is not whole", files[1])
			}
			faults <- err
		}()
	}
	for range stores {
		if err := <-faults; err != nil {
			t.Error(err)
		}
	}
	asked := 0
	for _, s := range stores {
		for _, objects := range s.known {
			asked += len(objects[0].from.(*script).asked)
		}
	}
	if asked != 2 {
		t.Errorf("%d requests for two objects with bytes, want each copied once", asked)
	}
}

// TestOtherBoot verifies that a copy of an earlier boot, which may have zeros inside, is made anew, unless the disk had it; and
// that a copy of this boot, and one that a living process uses, stays.
func TestOtherBoot(t *testing.T) {
	const name = "s3://b/0-100"
	dir := t.TempDir()
	var living []*Store
	for _, tt := range []struct {
		name, boot string
		used       bool // by the processes before, which else have ended
		durable    bool
		asked      int
	}{
		{name: "no copy", boot: "a", asked: 1},
		{name: "the same boot", boot: "a"},
		{name: "another boot", boot: "b", asked: 1},
		{name: "in use", boot: "c", used: true},
		{name: "a boot without a name", asked: 1},
		{name: "another one without a name", asked: 1},
		{name: "on the disk", boot: "d", durable: true},
		{name: "on the disk long ago", boot: "e"},
	} {
		if tt.durable {
			if err := living[0].sync(living[0].known[name][0]); err != nil {
				t.Fatal(err)
			}
		}
		if !tt.used {
			for _, s := range living {
				unix.Close(s.used.fd) // as the system does when a process ends
			}
			living = nil
		}
		s := drawn(t, dir, 0, 100)
		s.boot = tt.boot
		living = append(living, s)
		files, err := s.Files(t.Context(), name)
		if err != nil {
			t.Fatalf("case=%s: %v", tt.name, err)
		}
		asked, zeros := len(s.known[name][0].from.(*script).asked), contents(t, files)[0][0] == 0
		if asked != tt.asked || zeros != (asked == 0) {
			t.Errorf("case=%s: %d requests, want %d; zeros: %v", tt.name, asked, tt.asked, zeros)
		}
		if err := os.WriteFile(files[0], make([]byte, 100), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSettle verifies that a copy is durable a minute after it was made, if its process lives so long.
func TestSettle(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := drawn(t, dir, 0, 100)
		s.boot = "a"
		const name = "s3://b/0-100"
		if _, err := s.Files(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		o := s.known[name][0]
		info, err := os.Stat(s.mark(o))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(info.ModTime().Add(settleAge - time.Nanosecond)))
		synctest.Wait()
		if s.isDurable(o) || !s.isSound(o) {
			t.Error("within a minute: durable, or not of this boot")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !s.isDurable(o) {
			t.Error("not durable after a minute")
		}
	})
}
