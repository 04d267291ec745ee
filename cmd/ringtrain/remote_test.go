package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// secretKey is the secret of the tests' bucket, which nothing may tell.
const secretKey = "wJalrSECRETnotTOLD"

// objects starts a server of S3 whose bucket lake has these objects, and returns the variables by which it is reached.
// Requests go through front, unless that is nil.
func objects(t *testing.T, all map[string]string, front func(next http.Handler) http.Handler) (env []string) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("lake"); err != nil {
		t.Fatal(err)
	}
	for key, text := range all {
		meta := map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}
		if _, err := backend.PutObject("lake", key, meta, strings.NewReader(text), int64(len(text)), nil); err != nil {
			t.Fatal(err)
		}
	}
	handler := gofakes3.New(backend).Server()
	if front != nil {
		handler = front(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return []string{
		"AWS_ENDPOINT_URL=" + server.URL, "AWS_ACCESS_KEY_ID=AKIDlake", "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true",
	}
}

// lakeRows returns a table in two parts.
func lakeRows() (parts [2]string) {
	for i := range parts {
		parts[i] = "y,n,city\n"
		for row := range 300 {
			parts[i] += fmt.Sprintf("%d,%d.5,%c\n", (row+i)%2, row%17, 'a'+row%5)
		}
	}
	return parts
}

const lakeJob = `
model: {kind: wide-deep, embedding: 2, hidden: [4]}
input:
  train: {format: csv, files: [data/part=0/x.csv, data/part=1/x.csv], header: true}
  split: {share: 0.2}
  batch: 50
  columns:
    - label: {names: [y]}
    - numeric: {names: [n], standardize: true}
    - categorical: {names: [city], vocabulary: auto}
optimizer: {name: adagrad, learning_rate: 0.1}
train: {epochs: 2}
`

// TestObjects verifies that two ranks train on objects to the digest of local files, although a third of the requests fails,
// that the objects are copied once, that no partial copy is left, and that nothing tells the secret.
func TestObjects(t *testing.T) {
	parts := lakeRows()
	b := newBox(t)
	b.write("data/part=0/x.csv", parts[0])
	b.write("data/part=1/x.csv", parts[1])
	b.write("job.yaml", lakeJob)
	want := b.must(0, "run", "-np", "2", "job.yaml", "--json").digest(t)

	var asked, whole atomic.Int64
	env := objects(t, map[string]string{"data/part=0/x.csv": parts[0], "data/part=1/x.csv": parts[1], "data/_SUCCESS": ""}, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1)%3 == 1 {
				http.Error(w, "", http.StatusServiceUnavailable)
				return
			}
			if r.Header.Get("Range") != "" {
				whole.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	})
	far := newBox(t).with(env...)
	far.write("job.yaml", lakeJob)
	e := far.must(0, "run", "-np", "2", "job.yaml", "--json", "--set", "input.train.files=s3://lake/data", "--set", "checkpoint.dir=ckpt")
	if got := e.digest(t); got != want {
		t.Errorf("digest %s, want that of local files, %s", got, want)
	}
	if whole.Load() != 2 {
		t.Errorf("%d objects were read, want each of 2 once", whole.Load())
	}
	entries, err := os.ReadDir(filepath.Join(far.home, ".cache", "ringtrain", "records", "objects"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.Contains(entry.Name(), ".draft-") {
			t.Errorf("%s is left", entry.Name())
		}
	}
	for _, text := range []string{e.stdout, e.stderr, far.read("ckpt", "history.jsonl")} {
		if strings.Contains(text, secretKey) {
			t.Errorf("the secret is told:\n%s", text)
		}
	}
	if e := far.must(0, "eval", "job.yaml", "--set", "input.train.files=s3://lake/data", "--set", "checkpoint.dir=ckpt"); whole.Load() != 2 {
		t.Errorf("eval has copied again: %s", e.stderr)
	}
}
