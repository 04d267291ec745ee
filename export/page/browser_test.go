package page

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ringtrain/model/train/report"
)

// needBrowser returns a python with playwright, and the script of axe-core. It skips a test that has none.
func needBrowser(t *testing.T) (python, axe string) {
	t.Helper()
	python, axe = os.Getenv("PAGE_PYTHON"), os.Getenv("AXE")
	if python == "" || axe == "" {
		t.Skip("set PAGE_PYTHON to a python with playwright and AXE to axe.min.js of axe-core to ask Chromium")
	}
	return python, axe
}

// TestInteropBrowser verifies in Chromium that reports of runs of each kind make no request, have the names that
// scripts may use, have no fault that axe-core finds, need no sideways scroll at 390 px, answer to the keyboard, and
// take texts of ranks as texts. PAGE_SHOTS names a folder for pictures of them.
func TestInteropBrowser(t *testing.T) {
	python, axe := needBrowser(t)
	dir := cmp.Or(os.Getenv("PAGE_KEEP"), t.TempDir())
	for name, runs := range made() {
		var b bytes.Buffer
		if err := Report(&b, runs); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".html"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), python, "browse.py", dir, axe)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("browse.py: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestInteropLive verifies in Chromium what a reader meets while a run goes on: the whole run also after a reload and
// in a second browser, a hang, a new generation, a broken connection, the end with a report to save, and a server that is lost.
func TestInteropLive(t *testing.T) {
	python, axe := needBrowser(t)
	run, lost := serve(t), serve(t)
	m := newMaker(1, "mnist", 4, 2)
	m.train(40, 30, time.Second)
	m.end(time.Now())
	given := show(run, m, 0)
	n := newMaker(2, "mnist", 2, 1)
	n.train(10, 30, time.Second)
	n.end(time.Now())
	show(lost, n, 0)
	happen := map[string]func(){
		"hang": func() { run.Status([]byte(stalled)) },
		"generation": func() {
			run.Status([]byte(`{"event":"status","stall":"","ranks":[]}`))
			m.at = time.Now()
			m.add(report.Generation{Generation: 2, WorldSize: 4, Lost: []int{2}, Cause: "rank 2: lost (silent for 5s)", RestoredStep: m.step})
			m.train(10, 30, time.Second)
			given = show(run, m, given)
		},
		"drop": func() {
			run.hub.mu.Lock()
			for r := range run.hub.readers {
				r.drop()
			}
			run.hub.mu.Unlock()
			m.train(10, 30, time.Second)
			given = show(run, m, given)
		},
		"done": func() { m.done(); given = show(run, m, given) },
		"lost": func() { lost.http.Close() },
	}
	cmd := exec.CommandContext(t.Context(), python, "live.py", run.Link(), lost.Link(), t.TempDir(), axe)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for said := bufio.NewScanner(out); said.Scan(); {
		if do := happen[said.Text()]; do != nil {
			do()
		} else if said.Text() != "faults: " {
			t.Error(said.Text())
		}
		fmt.Fprintln(in)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("live.py: %v", err)
	}
}

// stalled is the status of a job in which rank 1 waits for rank 2, which is missing.
const stalled = `{"event":"status","stall":"rank 1 waits","ranks":[{"rank":0,"present":true,"host":"host-a","peer":-1},` +
	`{"rank":1,"present":true,"host":"host-a","peer":2,"operation":"reduce-scatter","for_s":4.1},{"rank":2,"present":false,"peer":-1,"reason":"refused"}]}`

// show gives a server the events of m from a number on, and returns how many there are.
func show(s *Server, m *maker, from int) int {
	for _, e := range m.events[from:] {
		s.Event(e)
	}
	return len(m.events)
}
