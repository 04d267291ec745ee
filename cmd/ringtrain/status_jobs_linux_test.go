package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/token"
)

// runtimeBox returns the box of a user of its own, and the runtime folders that the user may have. The
// user is this one by another number, in a user namespace, so files of the box belong to the user.
func runtimeBox(t *testing.T) (b *box, folders []string) {
	b = newBox(t)
	uid := 1<<20 + rand.IntN(1<<30)
	b.system = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getegid(), Size: 1}},
	}
	probe := exec.Command("true")
	probe.SysProcAttr = b.system
	if err := probe.Run(); err != nil {
		t.Skipf("this kernel makes no user namespace: %v", err)
	}
	for _, root := range []string{"/tmp", "/dev/shm"} {
		folder := filepath.Join(root, "ringtrain-"+strconv.Itoa(uid))
		t.Cleanup(func() { os.RemoveAll(folder) })
		folders = append(folders, folder)
	}
	return b, folders
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
	b, folders := runtimeBox(t)
	dir := filepath.Join(folders[0], "ringtrain")
	if e := b.must(0, "status"); !strings.Contains(e.stderr, "no job of yours on this host") || e.stdout != "" {
		t.Errorf("without a job status says %q and %q", e.stdout, e.stderr)
	}
	first := b.start(append([]string{"run", "-np", "2", "--job-id", "first"}, endless()...)...)
	first.await("step 20 ")
	one := b.must(0, "status")
	if !regexp.MustCompile(`^job first  running  generation 1  world size 2  step `).MatchString(one.stdout) || strings.Count(one.stdout, "\n") != 5 ||
		!strings.HasSuffix(one.stdout, "\nhistory "+b.path("ckpt/mnist/history.jsonl")+"\n") {
		t.Errorf("the only job is %q", one.stdout)
	}
	for _, name := range listings(dir) {
		info, err := os.Lstat(name)
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, error %v, want a file of mode 0600", name, info.Mode(), err)
		}
	}
	if info, err := os.Stat(folders[0]); err != nil || info.Mode().Perm() != 0o700 || len(listings(dir)) != 2 {
		t.Errorf("folder %v, error %v, files %v; want mode 0700, and the files of listing and token", info, err, listings(dir))
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
	b.must(0, "run", "-np", "1", "true") // a start removes the token of the killed job
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

// TestStatusHostile verifies that a run and status pass over an unsafe runtime folder, and that status
// reports in one line what in the folder is no file.
func TestStatusHostile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		make func(folder string) error
		says string
	}{
		{"folder a link", func(folder string) error { return os.Symlink("/etc", folder) }, ""},
		{"folder a file", func(folder string) error { return os.WriteFile(folder, nil, 0o600) }, ""},
		{"folder open", func(folder string) error { return errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, 0o755)) }, ""},
		{"file garbage", func(folder string) error {
			return errors.Join(os.MkdirAll(folder+"/ringtrain", 0o700), os.WriteFile(folder+"/ringtrain/1-a.job", []byte("{}"), 0o600))
		}, ""},
		{"file a link", func(folder string) error {
			return errors.Join(os.MkdirAll(folder+"/ringtrain", 0o700), os.Symlink("/etc/passwd", folder+"/ringtrain/1-a.job"))
		}, "1-a.job: too many levels of symbolic links"},
		{"file a pipe", func(folder string) error {
			return errors.Join(os.MkdirAll(folder+"/ringtrain", 0o700), syscall.Mkfifo(folder+"/ringtrain/1-a.job", 0o600))
		}, "1-a.job is no regular file"},
	} {
		t.Run("is="+tt.name, func(t *testing.T) {
			t.Parallel()
			b, folders := runtimeBox(t)
			if err := tt.make(folders[0]); err != nil {
				t.Fatal(err)
			}
			if e := b.must(0, "run", "-np", "1", "echo", "hi"); e.stdout != "[0] hi\n" {
				t.Errorf("a run says %q, %q", e.stdout, e.stderr)
			}
			lines := 1
			if tt.says != "" {
				lines = 2
			}
			e := b.must(0, "status")
			if !strings.Contains(e.stderr, tt.says) || strings.Count(e.stderr, "\n") != lines {
				t.Errorf("status says %q, want one line with %q, and that there is no job", e.stderr, tt.says)
			}
		})
	}
}

// TestNoRuntimeFolder verifies that a run without any safe runtime folder says what to do, and that
// this helps: a token file of the user's own takes the folder's place.
func TestNoRuntimeFolder(t *testing.T) {
	t.Parallel()
	b, folders := runtimeBox(t)
	for _, folder := range folders {
		if err := os.Symlink("/etc", folder); err != nil {
			t.Fatal(err)
		}
	}
	run := []string{"run", "-np", "2", "linear", "--set", "train.steps=2", "--set", "export.if=always"}
	if e := b.must(77, run...); !strings.Contains(e.last(), folders[0]+" is a symbolic link, want a folder: set RINGTRAIN_TOKEN_FILE") {
		t.Errorf("last line %q, want the folder and what to do", e.last())
	}
	file := b.path("own")
	if err := token.New().WriteFile(file, false); err != nil {
		t.Fatal(err)
	}
	e := b.with("RINGTRAIN_TOKEN_FILE=own").must(0, append(run, "--wdir", b.home)...)
	if !strings.Contains(e.stderr, "ringtrain status will not find this job without an address: "+folders[0]) {
		t.Errorf("a run without a folder says %q", e.stderr)
	}
}

// TestLocalToken verifies that ranks that a user starts on the loopback without a token meet, that the
// status there needs none, and that another user is refused, with both ids and what to do.
func TestLocalToken(t *testing.T) {
	t.Parallel()
	b, folders := runtimeBox(t)
	stranger, _ := runtimeBox(t)
	port := freePorts(t, 1)[0]
	at := "127.0.0.1:" + strconv.Itoa(port)
	job := append([]string{"train"}, endless("--set", "checkpoint.dir=", "--set", "export.savedmodel=")...)
	zero := b.with(rankVariables(0, 2, port)...).start(job...)
	zero.await("missing")
	status := stranger.must(77, "status", at)
	if !strings.Contains(status.last(), "RINGTRAIN_TOKEN_FILE") || !strings.Contains(status.last(), "`ringtrain status` without an address") {
		t.Errorf("for another user status says %q", status.last())
	}
	refused := stranger.with(rankVariables(1, 2, port)...).must(77, append(job, "--start-timeout", "1s")...)
	if !strings.Contains(refused.last(), "set RINGTRAIN_TOKEN_FILE to one file for both") {
		t.Errorf("for another user train says %q", refused.last())
	}
	one := b.with(rankVariables(1, 2, port)...).start(job...)
	zero.await("step 20 ")
	if e := b.must(0, "status", at); !strings.Contains(e.stdout, "2 present") {
		t.Errorf("status is %q", e.stdout)
	}
	if info, err := os.Stat(filepath.Join(folders[0], "ringtrain", "local.token")); err != nil || info.Mode() != 0o600 {
		t.Errorf("the local token is %v, error %v, want mode 0600", info, err)
	}
	zero.signal(syscall.SIGTERM)
	for _, p := range []*testProcess{zero, one} {
		if e := p.wait(); e.code != 143 {
			t.Errorf("ended with %d, want 143\n%s", e.code, e.stderr)
		}
	}
}
