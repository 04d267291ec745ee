package main

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// clicksCSV is a job on texts, numbers and keys.
const clicksCSV = `
name: clicks
model: {kind: deepfm, embedding: 4, hidden: [8]}
input:
  train: {format: csv, files: [train.csv], header: true}
  columns:
    - key: {names: [id]}
    - label: {names: [clicked]}
    - numeric: {names: [price], standardize: true}
    - categorical: {names: [city], vocabulary: auto}
    - categorical: {names: [site], hash: 50}
    - {cross: {of: [city, site], hash: 100}}
  batch: 8
loss: {kind: sigmoid}
optimizer: {name: adagrad, learning_rate: 0.1}
train: {epochs: 2, seed: 1}
checkpoint: {dir: ckpt}
export: {savedmodel: export}
`

// TestColumnsFromTextToAnswers trains on CSV with two ranks and predicts records of a
// file without labels, from the checkpoint and from the bundle. It verifies that the
// predictions are equal in CSV and in JSON and have the keys, and that a bad line is
// named.
func TestColumnsFromTextToAnswers(t *testing.T) {
	b := newBox(t)
	var text strings.Builder
	text.WriteString("id,clicked,price,city,site,tags,review\n")
	for i := range 40 {
		text.WriteString("r" + strconv.Itoa(i) + "," + strconv.Itoa(i%2) + "," + strconv.Itoa(i%9) + "," + []string{"Bern", "\"Basel, CH\""}[i%2] + ",s" + strconv.Itoa(i%5) +
			"," + []string{"new|old", "old", ""}[i%3] + "," + []string{"\"Good, it is!\"", "not so good"}[i%2] + "\n")
	}
	b.write("train.csv", text.String())
	b.write("clicks.yaml", strings.Replace(clicksCSV, "    - {cross", `    - categorical: {names: [tags], separator: "|", vocabulary: auto}
    - text: {names: [review], hash: 60, lower: true, ngrams: 2}
    - {cross`, 1))
	b.write("new.csv", "site,id,city,price,clicked,tags,review\ns1,a,Bern,3,,old|new,GOOD\n,\"b,c\",nowhere,,,,\n")
	b.must(0, "run", "-np", "2", "clicks.yaml", "--data", ".")

	e := b.must(0, "predict", "clicks.yaml", "--from", "ckpt", "--csv", "new.csv")
	lines, err := csv.NewReader(strings.NewReader(e.stdout)).ReadAll()
	if err != nil || len(lines) != 3 || strings.Join(lines[0], " ") != "id class score" || lines[1][0] != "a" || lines[2][0] != "b,c" {
		t.Fatalf("predictions %q, error %v", e.stdout, err)
	}
	versions, err := filepath.Glob(b.path("export", "*", "assets.extra", "ringtrain_columns.json"))
	if err != nil || len(versions) != 1 {
		t.Errorf("the bundle has %q of its columns", versions)
	}
	if by := b.must(0, "predict", "clicks.yaml", "--from", "export", "--csv", "new.csv").stdout; by != e.stdout {
		t.Errorf("the bundle says %q, the checkpoint %q", by, e.stdout)
	}
	for i, p := range b.must(0, "predict", "clicks.yaml", "--from", "ckpt", "--json", "new.csv").events(t) {
		if p.text("id") != lines[i+1][0] {
			t.Errorf("record %d has the key %q, want %q", i, p.text("id"), lines[i+1][0])
		}
	}
	if e := b.must(64, "predict", "clicks.yaml", "--from", "ckpt", "--json", "--csv", "new.csv"); !strings.Contains(e.last(), "want one of them") {
		t.Errorf("last line %q", e.last())
	}
	if err := os.WriteFile(b.path("bad.csv"), []byte("site,id,city,price,clicked,tags,review\ns1,a,Bern,much,,,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := b.must(65, "predict", "clicks.yaml", "--from", "ckpt", "bad.csv"); !strings.Contains(e.last(), `bad.csv:2`) || !strings.Contains(e.last(), `column price is "much"`) {
		t.Errorf("last line %q", e.last())
	}
}

// TestPredictPipe verifies that the predictions of standard input are those of a file, without labels, that --to writes them
// to a file when they are whole, and what is said of a bad line and of other names.
func TestPredictPipe(t *testing.T) {
	b := newBox(t).inPath()
	b.write("train.csv", "id,clicked,price,city,site\nr0,1,2,Bern,s\nr1,0,4,Genf,s\n")
	b.write("clicks.yaml", clicksCSV)
	b.write("new.csv", "site,id,city,price\ns1,a,Bern,3\n,\"b,c\",nowhere,\n")
	b.write("bad.csv", "site,id,city,price\ns1,a,Bern,3\ns1,b,Bern,much\n")
	b.must(0, "train", "clicks.yaml")
	want := b.must(0, "predict", "clicks.yaml", "new.csv").stdout
	piped := func(code int, args string) ended {
		t.Helper()
		e := b.startProgram("sh", "-c", "cat "+args).wait()
		if e.code != code {
			t.Fatalf("cat %s: code %d, want %d\n%s", args, e.code, code, e.stderr)
		}
		return e
	}
	if e := piped(0, "new.csv | ringtrain predict clicks.yaml -"); e.stdout != want {
		t.Errorf("standard input has the predictions %q, the file %q", e.stdout, want)
	}
	piped(0, "new.csv | ringtrain predict clicks.yaml - --to out.csv.gz")
	piped(0, "new.csv | ringtrain predict clicks.yaml - --to out.jsonl")
	if e := piped(0, "out.csv.gz | gunzip"); e.stdout != want {
		t.Errorf("--to has %q, want %q", e.stdout, want)
	}
	if objects := b.read("out.jsonl"); strings.Count(objects, "\n") != 2 || !strings.HasPrefix(objects, `{"id":"a","class":`) {
		t.Errorf("--to has the lines %q", objects)
	}
	if e := piped(65, "bad.csv | ringtrain predict clicks.yaml -"); !strings.Contains(e.stdout, "\na,") || !strings.Contains(e.stderr, `standard input:3: column price is "much"`) {
		t.Errorf("predictions %q, error %q, want that of the record before, and the line", e.stdout, e.stderr)
	}
	piped(65, "bad.csv | ringtrain predict clicks.yaml - --to never.csv")
	for args, want := range map[string]string{
		"- new.csv": "- is among the files", "new.csv --to out.txt": "want a name that ends in .csv, .jsonl or .parquet", "- --json --csv": "want one of them",
	} {
		if e := b.must(64, append([]string{"predict", "clicks.yaml"}, strings.Fields(args)...)...); !strings.Contains(e.last(), want) {
			t.Errorf("predict %s: last line %q, want %s", args, e.last(), want)
		}
	}
	if e := b.must(73, "predict", "clicks.yaml", "new.csv", "--to", "out.jsonl"); !strings.Contains(e.last(), "--force writes over it") {
		t.Errorf("last line %q", e.last())
	}
	b.must(0, "predict", "clicks.yaml", "new.csv", "--to", "out.jsonl", "--force")
	if files := strings.Join(b.files(), " "); strings.Contains(files, "never") {
		t.Errorf("files %s, want none of predictions that failed", files)
	}
}

// TestPredictBySaved verifies that a bundle and a checkpoint stand for the job that they are of, where its job file, its
// records and its vocabulary are not, and what is said of a folder that is neither, of --from beside it, and of a bundle that
// keeps no job file.
func TestPredictBySaved(t *testing.T) {
	b := newBox(t)
	b.write("train.csv", "id,clicked,price,city,site\nr0,1,2,Bern,s\nr1,0,4,Genf,s\n")
	b.write("clicks.yaml", strings.Replace(clicksCSV, "vocabulary: auto", "vocabulary: cities.txt", 1))
	b.write("cities.txt", "Bern\nGenf\n")
	b.write("new.csv", "site,id,city,price\ns1,a,Bern,3\n,\"b,c\",nowhere,\n")
	b.must(0, "train", "clicks.yaml", "--set", "eval.threshold=0")
	want := b.must(0, "predict", "clicks.yaml", "new.csv", "--set", "eval.threshold=0").stdout
	if err := errors.Join(os.Remove(b.path("clicks.yaml")), os.Remove(b.path("cities.txt")), os.Remove(b.path("train.csv"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"ckpt", "export", "export/1"} {
		if got := b.must(0, "predict", path, "new.csv").stdout; got != want {
			t.Errorf("predict %s has %q, want %q", path, got, want)
		}
	}
	if got := b.must(0, "predict", "export", "new.csv", "--set", "eval.threshold=0.999").stdout; strings.Count(got, ",1,") != 0 {
		t.Errorf("with another threshold: %q", got)
	}
	if err := errors.Join(os.Mkdir(b.path("empty"), 0o700), os.Remove(b.path("export", "1", "assets.extra", "ringtrain_job.yaml"))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args, want string
		code       int
	}{
		{"empty new.csv", "empty", 66},
		{"ckpt new.csv --from export", "--from is export, want none", 64},
		{"export new.csv", "keeps no job file", 64},
		{"export new.csv --set model.kind=linear", "keeps no job file", 64},
		{"ckpt new.csv --set model.knid=linear", "did you mean", 64},
	} {
		if e := b.must(tt.code, append([]string{"predict"}, strings.Fields(tt.args)...)...); !strings.Contains(e.last(), tt.want) {
			t.Errorf("predict %s: last line %q, want %s", tt.args, e.last(), tt.want)
		}
	}
}

// TestBadAndNamedRecords verifies that predict and eval pass over bad records of files and standard input as
// input.max_bad_records says, with their number and the first, and that eval --split takes a name of input.evals.
func TestBadAndNamedRecords(t *testing.T) {
	b := newBox(t)
	const head, bad = "id,clicked,price,city,site\n", "r1,0,much,Genf,s\n"
	b.write("train.csv", head+"r0,1,2,Bern,s\nr1,0,4,Genf,s\n")
	b.write("other.csv", head+"x0,1,2,Bern,s\nx1,1,2,Bern,s\n")
	b.write("bad.csv", head+"r0,1,2,Bern,s\n"+bad+"r2,1,2,Bern,s\n")
	b.write("clicks.yaml", strings.Replace(clicksCSV, "  columns:", "  evals:\n    - {name: other, format: csv, files: [other.csv], header: true}\n  columns:", 1))
	b.must(0, "train", "clicks.yaml", "--data", ".")
	const first = `ignored 1 bad record; the first: csv: bad.csv:3: record 1 at byte 41: column price is "much", want a number`
	for _, command := range []string{"predict", "eval"} {
		if e := b.must(65, command, "clicks.yaml", "bad.csv"); !strings.Contains(e.last(), "bad.csv:3") {
			t.Errorf("%s: last line %q", command, e.last())
		}
		b.must(65, command, "clicks.yaml", "bad.csv", "--set", "input.max_bad_records=0")
		e := b.must(0, command, "clicks.yaml", "bad.csv", "--set", "input.max_bad_records=1")
		switch {
		case command == "eval":
			if !strings.Contains(e.stdout, "ignored 1 bad record") {
				t.Errorf("eval prints %q", e.stdout)
			}
		case !strings.Contains(e.stderr, "warning: bad.csv: "+first) || !strings.Contains(e.stdout, "\nr0,") || !strings.Contains(e.stdout, "\nr2,") || strings.Contains(e.stdout, "r1"):
			t.Errorf("predict prints %q and %q", e.stdout, e.stderr)
		}
	}
	if e := b.must(0, "eval", "clicks.yaml", "--split", "other", "--data", "."); strings.Count(e.stdout, "eval  step") != 1 || !strings.Contains(e.stdout, "other records") {
		t.Errorf("eval --split other prints %q", e.stdout)
	}
	if e := b.must(64, "eval", "clicks.yaml", "--split", "otter", "--data", "."); !strings.Contains(e.last(), "want one of train, eval, test, other") {
		t.Errorf("eval --split otter: %q", e.last())
	}
}

// TestPredictFromCache verifies that predict reads the validation records with their keys from the cache
// of the job, and that data cache makes a cache of the version before anew and says so.
func TestPredictFromCache(t *testing.T) {
	b := newBox(t)
	const head = "id,clicked,price,city,site\n"
	b.write("train.csv", head+"r0,1,2,Bern,s\nr1,0,4,Genf,s\n")
	b.write("eval.csv", head+"e0,1,2,Bern,s\n\"e,1\",0,4,Genf,s\n")
	b.write("clicks.yaml", strings.NewReplacer("  columns:", "  eval: {format: csv, files: [eval.csv], header: true}\n  cache: parsed\n  columns:",
		"[id]", "[id, site]").Replace(clicksCSV))
	b.must(0, "data", "cache", "clicks.yaml", "--data", ".")
	b.must(0, "train", "clicks.yaml", "--data", ".")
	info, err := os.Stat(b.path("eval.csv"))
	if err != nil {
		t.Fatal(err)
	}
	// The cache is of a file of this size and time. Other keys in the file show which one is read.
	b.write("eval.csv", head+"x0,1,2,Bern,s\n\"x,1\",0,4,Genf,s\n")
	if err := os.Chtimes(b.path("eval.csv"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	predict := func() string {
		return b.must(0, "predict", "clicks.yaml", "--from", "ckpt", "--csv", "--data", ".").stdout
	}
	if got := predict(); !strings.Contains(got, "id,site,class,score\ne0,s,") || !strings.Contains(got, "\n\"e,1\",s,") {
		t.Errorf("predictions %q, want the keys of the cache", got)
	}
	caches, err := filepath.Glob(b.path("parsed", "eval.csv-*.rtcache"))
	if err != nil || len(caches) != 1 {
		t.Fatalf("caches %q, error %v", caches, err)
	}
	content, err := os.ReadFile(caches[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len("rtcache\n")] = 1
	if err := os.WriteFile(caches[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := predict(); !strings.Contains(got, "\nx0,") {
		t.Errorf("predictions %q, want the keys of the text: the cache has another version", got)
	}
	if e := b.must(0, "data", "cache", "clicks.yaml", "--data", "."); !strings.Contains(e.stderr, "is made anew: it has version 1, want 3") {
		t.Errorf("standard error %q", e.stderr)
	}
}

// TestDataCheck verifies the table, the findings and the exit codes of data check, and its JSON.
func TestDataCheck(t *testing.T) {
	b := newBox(t)
	b.write("train.csv", "id,clicked,price,city,site\nr1,1,2,Bern,\nr2,0,4,Bern,s\nr3,0,,Genf,s\n")
	b.write("clicks.yaml", clicksCSV)
	table := strings.Split(b.must(0, "data", "check", "clicks.yaml", "--data", ".").stdout, "\n")
	if strings.Join(strings.Fields(table[3]), " ") != "price 3 1 3 1 2 4 2 \"2\" 1, \"4\" 1" || strings.Join(strings.Fields(table[4]), " ") != `city 3 0 2 "Bern" 2, "Genf" 1` {
		t.Errorf("table %q", table)
	}
	if e := b.must(64, "data", "check", "mnist", "--set", "input.synthetic=true"); !strings.Contains(e.last(), "input.synthetic is true, want files to check") {
		t.Errorf("last line %q", e.last())
	}
	if e := b.must(66, "data", "check", "mnist"); !strings.Contains(e.last(), "ringtrain data fetch mnist") {
		t.Errorf("last line %q", e.last())
	}
	b.write("train.csv", "id,clicked,price,city,site\nr1,1,2,Bern,\nr2,0,4,Bern\nr3,1,many,Bern,s\n")
	e := b.must(65, "data", "check", "clicks.yaml", "--data", ".")
	for _, want := range []string{"train.csv:3", `column price: input.train: is "many", want a number, in 1 record (`, "train.csv:4", "write mend the lines, or input.max_bad_records: N"} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("data check prints\n%s\nwant %s", e.stdout, want)
		}
	}
	events := b.must(65, "data", "check", "clicks.yaml", "--data", ".", "--json").events(t)
	if len(events) != 9 || events[5].text("event") != "finding" || events[6].text("column") != "price" {
		t.Errorf("events %v", events)
	}
}
