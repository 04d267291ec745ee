package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
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

// TestObjectsOfCommands verifies that each command that takes files of records takes objects, and --data a bucket, with the
// output that local files have.
func TestObjectsOfCommands(t *testing.T) {
	parts := lakeRows()
	b := newBox(t)
	b.write("data/part=0/x.csv", parts[0])
	b.write("data/part=1/x.csv", parts[1])
	b.write("job.yaml", strings.ReplaceAll(lakeJob, "model:", "export: {savedmodel: export, if: always}\ncheckpoint: {dir: ckpt}\nmodel:"))
	b.must(0, "train", "job.yaml")
	b.must(0, "data", "make", "digits", "--seed", "1", "--to", "digits")
	b.must(0, "data", "convert", "digits/t10k-images-idx3-ubyte.gz", "--labels", "digits/t10k-labels-idx1-ubyte.gz", "--to", "images", "--to-format", "images")
	all := map[string]string{}
	for _, name := range b.files() {
		if strings.HasPrefix(name, "data/") || strings.HasPrefix(name, "digits/t10k") || strings.HasPrefix(name, "images/") && strings.HasSuffix(name, "0.png") {
			all[name] = b.read(name)
		} else if strings.HasPrefix(name, "images/") {
			if err := os.Remove(b.path(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	far := b.with(objects(t, all, nil)...)
	in := strings.NewReplacer("s3://lake/", "", b.home+"/.cache/ringtrain/records/objects/", "")
	for _, tt := range []string{
		"init s3://lake/data --label y --to ABC.yaml",
		"init s3://lake/images --to ABC.yaml --force",
		"data cat s3://lake/data/part=1/x.csv --count 3",
		"data cat s3://lake/digits/t10k-images-idx3-ubyte.gz --labels s3://lake/digits/t10k-labels-idx1-ubyte.gz --format idx --count 2",
		"data cat s3://lake/images --format images --shape 28,28,1 --count 2",
		"data convert s3://lake/images --format images --shape 28,28,1 --to ABC.tfrecord --overwrite",
		"data check job.yaml --data s3://lake",
		"eval job.yaml --data s3://lake",
		"eval job.yaml s3://lake/data",
		"predict job.yaml s3://lake/data/part=0/x.csv",
		"predict --from export s3://lake/data/part=0/x.csv",
	} {
		args := strings.Fields(tt)
		local := make([]string, len(args))
		for i, word := range args {
			local[i] = in.Replace(word)
			if word == "--data" {
				args[i+1] = "s3://lake/"
			}
		}
		for i := range local {
			local[i] = strings.ReplaceAll(strings.ReplaceAll(local[i], "ABC", "near"), "s3://lake", ".")
			args[i] = strings.ReplaceAll(args[i], "ABC", "far")
		}
		want, got := b.must(0, local...), far.must(0, args...)
		if strings.ReplaceAll(in.Replace(got.stdout), "far.yaml", "near.yaml") != want.stdout {
			t.Errorf("%s: output\n%s\nwant\n%s", tt, got.stdout, want.stdout)
		}
	}
	if got := b.read("far.yaml"); !strings.Contains(got, `images: "s3://lake/images"`) {
		t.Errorf("the job of init does not name the bucket:\n%s", got)
	}
	if b.read("far.tfrecord") != b.read("near.tfrecord") {
		t.Error("objects are converted to other records than local files")
	}
}

// TestObjectsDiffer verifies that ranks of two hosts whose objects have other ETags end with 64 and name both, although size
// and name are the same.
func TestObjectsDiffer(t *testing.T) {
	parts := lakeRows()
	b := newBox(t)
	b.write("job.yaml", lakeJob)
	port := freePorts(t, 1)[0]
	var ranks []*testProcess
	for rank, last := range []string{"e", "d"} {
		text := strings.TrimSuffix(parts[0], "e\n") + last + "\n"
		host := b.with(objects(t, map[string]string{"x.csv": text}, nil)...).with("XDG_CACHE_HOME=" + t.TempDir()).with(rankVariables(rank, 2, port)...)
		ranks = append(ranks, host.start("train", "job.yaml", "--set", "input.train.files=s3://lake/x.csv"))
	}
	for _, p := range ranks {
		e := p.wait()
		if e.code != 64 || strings.Count(e.stderr, "s3://lake/x.csv ") < 2 || !strings.Contains(e.stderr, "the objects differ: input.train is ") {
			t.Errorf("ended with %d:\n%s", e.code, e.stderr)
		}
	}
}

// TestBadObject verifies that the message of a bad record names the object by its URL, with its line, for people and in --json.
func TestBadObject(t *testing.T) {
	b := newBox(t)
	b.write("job.yaml", lakeJob)
	far := b.with(objects(t, map[string]string{"data/x.csv": "y,n,city\n1,2,a\n0,many,b\n"}, nil)...)
	e := far.must(65, "train", "job.yaml", "--json", "--set", "input.train.files=s3://lake/data")
	for _, text := range []string{e.stdout, e.stderr} {
		if !strings.Contains(text, "s3://lake/data/x.csv:3: ") || strings.Contains(text, "/objects/") {
			t.Errorf("says %s", text)
		}
	}
}

// TestKilledCopy ends a rank amid a copy, by TERM, which leaves nothing, and by -9. It verifies that nothing with the name of a
// copy is left, and that the next run copies and removes what is left.
func TestKilledCopy(t *testing.T) {
	parts := lakeRows()
	b := newBox(t)
	b.write("job.yaml", lakeJob)
	var free atomic.Bool
	asked := make(chan bool, 100)
	env := objects(t, map[string]string{"data/x.csv": parts[0], "data/y.csv": parts[1]}, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" && !free.Load() {
				w.Header().Set("Content-Length", "4000")
				w.WriteHeader(http.StatusPartialContent)
				w.Write([]byte(parts[0][:100]))
				w.(http.Flusher).Flush()
				asked <- true
				<-r.Context().Done()
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	far := b.with(env...)
	job := []string{"train", "job.yaml", "--set", "input.train.files=s3://lake/data"}
	p := far.start(job...)
	<-asked
	p.signal(syscall.SIGTERM)
	if e := p.wait(); e.code != 143 {
		t.Errorf("TERM amid a copy: ended with %d: %s", e.code, e.stderr)
	}
	left := func(pattern string) []string {
		found, err := filepath.Glob(filepath.Join(b.home, ".cache", "ringtrain", "records", "objects", pattern))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if all := left("*-*-*"); len(all) > 0 {
		t.Errorf("TERM leaves %q", all)
	}
	p = far.start(job...)
	eventually(t, patience, "a copy is under way", func() bool { return len(left("*.draft-*")) > 0 })
	p.signal(os.Kill)
	p.wait()
	if drafts, all := left("*.draft-*"), left("*-*-*"); len(drafts) == 0 || len(drafts) != len(all) {
		t.Errorf("the killed process leaves %q", all)
	}
	free.Store(true)
	far.must(0, job...)
	if drafts, all := left("*.draft-*"), left("*-*-*"); len(drafts) > 0 || len(all) != 2 {
		t.Errorf("the next one leaves %q", all)
	}
}
