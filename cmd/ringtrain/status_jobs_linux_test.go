package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runtimeBox returns a box with a runtime folder, as in a login session.
func runtimeBox(t *testing.T) (b *box, dir string) {
	b = newBox(t)
	dir = filepath.Join(b.home, "runtime")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return b.with("XDG_RUNTIME_DIR=" + dir), filepath.Join(dir, "ringtrain")
}

// listings returns the files that list jobs.
func listings(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	return names
}

// secret matches a token.
var secret = regexp.MustCompile(`[0-9a-f]{64}`)

// TestStatusHere verifies the status of this user's jobs on this host: one, two,
// one of two. The file that gives access has mode 0600, the token is not printed, and no
// file is left of a job that has ended or was killed.
func TestStatusHere(t *testing.T) {
	t.Parallel()
	b, dir := runtimeBox(t)
	if e := b.must(0, "status"); !strings.Contains(e.stderr, "no job of yours on this host") || e.stdout != "" {
		t.Errorf("without a job status says %q and %q", e.stdout, e.stderr)
	}
	first := b.start(append([]string{"run", "-np", "2", "--job-id", "first"}, endless()...)...)
	first.await("step 20 ")
	one := b.must(0, "status")
	if !regexp.MustCompile(`^job first  running  generation 1  world size 2  step `).MatchString(one.stdout) || strings.Count(one.stdout, "\n") != 4 {
		t.Errorf("the only job is %q", one.stdout)
	}
	for _, name := range listings(dir) {
		info, err := os.Lstat(name)
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, error %v, want a file of mode 0600", name, info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 || len(listings(dir)) != 1 {
		t.Errorf("folder %v, error %v, files %v; want mode 0700 and one file", info, err, listings(dir))
	}
	second := b.start("run", "-np", "1", "--job-id", "second", "sleep", "1000")
	second.await("1 rank on 1 host")
	all := b.must(0, "status")
	want := regexp.MustCompile(`(?s)^job +command +phase +ranks +step +since +address\nfirst +run mnist +running +2 of 2 +\S+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +127\.0\.0\.1:\d+\nsecond +run sleep +idle +0 of 1 +- .*\n$`)
	if !want.MatchString(all.stdout) {
		t.Errorf("the list is\n%s", all.stdout)
	}
	lines := b.must(0, "status", "--json")
	ids := ""
	for line := range strings.Lines(lines.stdout) {
		var job struct {
			Event, Command, Rendezvous string
			JobID                      string `json:"job_id"`
			WorldSize                  int    `json:"world_size"`
			Since                      time.Time
		}
		if err := json.Unmarshal([]byte(line), &job); err != nil || job.Event != "status" || job.Since.IsZero() || job.Rendezvous == "" {
			t.Errorf("error %v in %q", err, line)
		}
		ids += fmt.Sprintf("%s of %d by %s;", job.JobID, job.WorldSize, job.Command)
	}
	if ids != "first of 2 by run mnist;second of 1 by run sleep;" {
		t.Errorf("jobs are %s", ids)
	}
	whole := b.must(0, "status", "first")
	if !strings.HasPrefix(whole.stdout, "job first  running") {
		t.Errorf("the first job is %q", whole.stdout)
	}
	b.must(0, "status", "--job-id", "second")
	b.must(138, "status", "--job-id", "third")
	for _, e := range []ended{one, all, lines, whole} {
		if secret.MatchString(e.stdout + e.stderr) {
			t.Errorf("a token is printed:\n%s%s", e.stdout, e.stderr)
		}
	}
	second.signal(syscall.SIGKILL)
	second.wait()
	if e := b.must(0, "status"); !strings.HasPrefix(e.stdout, "job first  running") {
		t.Errorf("beside a job that was killed the first one is %q, %q", e.stdout, e.stderr)
	}
	first.signal(syscall.SIGTERM)
	first.wait()
	if left := listings(dir); len(left) != 0 {
		t.Errorf("left of the jobs are %v", left)
	}
}

// TestStatusServed verifies the status of jobs without our launcher: a separate
// rendezvous, and rank 0 of a job by TF_CONFIG or by hand.
func TestStatusServed(t *testing.T) {
	t.Parallel()
	b, _ := runtimeBox(t)
	ports := freePorts(t, 2)
	alone := b.start("rendezvous", "--listen", "127.0.0.1:"+strconv.Itoa(ports[0]), "--world-size", "2", "--job-id", "alone")
	alone.await("rendezvous on ")
	if e := b.must(0, "status"); !strings.HasPrefix(e.stdout, "job alone  idle") {
		t.Errorf("the rendezvous alone is %q", e.stdout)
	}
	alone.signal(syscall.SIGTERM)
	alone.wait()
	rank0 := b.start("train", "linear", "--rank", "0", "--world-size", "2", "--rendezvous", "127.0.0.1:"+strconv.Itoa(ports[1]), "--listen", "127.0.0.1:"+strconv.Itoa(ports[1]), "--job-id", "byhand")
	rank0.await("missing")
	if e := b.must(0, "status"); !strings.HasPrefix(e.stdout, "job byhand  waiting") {
		t.Errorf("the job of rank 0 is %q, %q", e.stdout, e.stderr)
	}
	rank0.signal(syscall.SIGTERM)
	rank0.wait()
}

// TestStatusHostile verifies that status reports an unsafe or invalid runtime
// folder or file in one line, and that a run continues without it.
func TestStatusHostile(t *testing.T) {
	t.Parallel()
	other := func(path string) error { return os.Lchown(path, 12345, 12345) }
	write := func(path string) error { return os.WriteFile(path, []byte("{}"), 0o600) }
	for _, tt := range []struct {
		name string
		make func(dir string) error
		says string
		root bool
	}{
		{"folder a link", func(dir string) error { return os.Symlink(filepath.Dir(dir), dir) }, "is a symbolic link, want a folder", false},
		{"folder a file", write, "is a file, want a folder", false},
		{"folder open", func(dir string) error {
			os.Mkdir(dir, 0o700)
			return os.Chmod(dir, 0o755)
		}, "has mode 0755, want 0700", false},
		{"folder another's", func(dir string) error {
			os.Mkdir(dir, 0o700)
			return other(dir)
		}, "belongs to another user", true},
		{"file garbage", func(dir string) error {
			os.Mkdir(dir, 0o700)
			return write(filepath.Join(dir, "1.job"))
		}, "1.job: is no listing of a job", false},
		{"file a link", func(dir string) error {
			os.Mkdir(dir, 0o700)
			return os.Symlink("/etc/passwd", filepath.Join(dir, "1.job"))
		}, "1.job: a symbolic link, want a file", false},
		{"file a pipe", func(dir string) error {
			os.Mkdir(dir, 0o700)
			return syscall.Mkfifo(filepath.Join(dir, "1.job"), 0o600)
		}, "1.job: no regular file", false},
		{"file another's", func(dir string) error {
			os.Mkdir(dir, 0o700)
			path := filepath.Join(dir, "1.job")
			if err := write(path); err != nil {
				return err
			}
			return other(path)
		}, "1.job: belongs to another user", true},
		{"file endless", func(dir string) error {
			os.Mkdir(dir, 0o700)
			return os.WriteFile(filepath.Join(dir, "1.job"), make([]byte, 1<<20), 0o600)
		}, "1.job: is no listing of a job", false},
	} {
		t.Run("is="+tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.root && os.Geteuid() != 0 {
				t.Skip("only root can make files that are another user's")
			}
			b, dir := runtimeBox(t)
			if err := tt.make(dir); err != nil {
				t.Fatal(err)
			}
			if e := b.must(0, "run", "-np", "1", "echo", "hi"); e.stdout != "[0] hi\n" {
				t.Errorf("a run says %q, %q", e.stdout, e.stderr)
			}
			e := b.must(0, "status")
			if !strings.Contains(e.stderr, tt.says) || strings.Count(e.stderr, "\n") != 2 {
				t.Errorf("status says %q, want one line with %q, and that there is no job", e.stderr, tt.says)
			}
		})
	}
}
