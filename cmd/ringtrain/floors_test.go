package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// floors lists the packages from the bottom up. A package may import packages
// of lower floors only. docs/architecture.md says what each room is for.
var floors = [][]string{
	{"model/kernel", "model/train/report", "model/internal/pages", "input/internal/farmhash", "input/internal/pixel", "input/internal/blockcache", "input/maskedcrc", "ring/internal/vec", "ring/internal/awake", "ring/internal/wire", "ring/exitcode", "ring/phrase", "ring/cores", "ring/build", "input/realdata", "export/savedmodel/interop"},
	{"docs", "bench/child", "ring/folder", "ring/internal/rows", "model/graph", "model/keys", "model/tensor", "model/kernelbench", "ring/launch/internal/environ", "ring/codec", "ring/cost", "ring/ringpb", "ring/limits", "ring/token", "ring/order", "ring/ringtest/netns", "export/tfpb"},
	{"ring/port", "export/history", "input/internal/hostlock"},
	{"model", "input", "ring", "ring/oracle", "export/bundle", "export/serving/servingpb"},
	{"ring/link/internal/delivery", "ring/rendezvous/state", "input/text", "input/remote"},
	{"ring/link/internal/handshake", "ring/rendezvous/internal/wire", "input/column"},
	{"model/optimizer", "ring/bucket", "ring/rendezvous", "ring/link/tcplink", "ring/link/memlink", "ring/link/shmlink",
		"ring/launch/place", "ring/launch/hosts", "ring/launch/process",
		"ring/link/linktest", "input/idx", "input/csvfile", "input/image", "input/tfrecord", "input/libsvm", "input/vw", "input/parquet", "input/cache", "input/synth", "input/fetch",
		"export/bundle/faultfs", "export/checkpoint", "export/interpreter", "export/savedmodel", "export/page", "export/metrics"},
	{"export/ask"},
	{"input/convert", "export/events", "export/serving", "model/train/evaluate"},
	{"input/look"},
	{"model/job"},
	{"model/train/records", "model/train/proof"},
	{"model/train/bundled", "model/train/trained", "model/train/traintest"},
	{"model/train", "ring/launch", "ring/join", "ring/joblist", "ring/doctor", "ring/ringtest"},
	{"bench", "bench/speed", "bench/quality"},
	{"bench/peers", "bench/serving"},
	{"cmd/ringtrain/show"},
	{"cmd/ringtrain", "examples/allreduce"},
}

// TestImportsPointDown verifies that every package is on a floor and imports only
// packages of lower floors.
func TestImportsPointDown(t *testing.T) {
	floor := map[string]int{}
	for i, names := range floors {
		for _, name := range names {
			floor[name] = i
		}
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "ringtrain/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		name := strings.TrimPrefix(p.ImportPath, "ringtrain/")
		at, ok := floor[name]
		if !ok {
			t.Errorf("%s stands on no floor", name)
			continue
		}
		for _, i := range p.Imports {
			if below, ours := strings.CutPrefix(i, "ringtrain/"); ours && floor[below] >= at {
				t.Errorf("%s (floor %d) imports %s (floor %d)", name, at, below, floor[below])
			}
		}
	}
	if want := len(slices.Concat(floors...)); seen != want {
		t.Errorf("%d packages, %d on the floors", seen, want)
	}
}
