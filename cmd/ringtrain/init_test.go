package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// rawTable is a raw file: an id, numbers with words for missing, texts, and a label of two numbers.
func rawTable(rows int) string {
	var b strings.Builder
	b.WriteString("customer_id,age,plan,spent,label\n")
	for i := range rows {
		age := fmt.Sprint(20 + i*7%50)
		if i%10 == 0 {
			age = "NA"
		}
		fmt.Fprintf(&b, "k%d,%s,%s,%d.5,%d\n", i, age, []string{"basic", "plus", "pro"}[i%3], i*31%400, map[bool]int{true: 1}[i%3 == 2])
	}
	return b.String()
}

// TestInit verifies that a job file of init trains as it is, by run without the number of ranks, that a second
// one has equal bytes but for the name that --to gives the job, that eval takes a file behind the job, that nothing is
// written over without --force, and that with it a link at the name of the data is replaced, and one that a person
// names stays.
func TestInit(t *testing.T) {
	b := newBox(t)
	b.write("raw.csv", strings.ReplaceAll(rawTable(600), "NA", ""))
	e := b.must(0, "init", "raw.csv")
	if !strings.Contains(e.stdout, "ringtrain run raw.yaml") {
		t.Errorf("init does not name the next command:\n%s", e.stdout)
	}
	first := b.read("raw.yaml")
	if e := b.must(73, "init", "raw.csv"); !strings.Contains(e.last(), "--force writes over it") {
		t.Errorf("of a file that is there init says %q", e.last())
	}
	if e := b.must(73, "init", "raw.csv", "--to", "none/raw.yaml"); strings.Contains(e.last(), "--force") {
		t.Errorf("of a folder that is not there init says %q", e.last())
	}
	b.must(0, "init", "raw.csv", "--force")
	b.must(0, "init", "raw.csv", "--to", "two.yaml")
	if again := b.read("raw.yaml"); again != first || again != strings.ReplaceAll(b.read("two.yaml"), "two", "raw") {
		t.Errorf("another init writes other bytes:\n%s\nand\n%s", first, again)
	}
	for _, link := range []string{"raw.yaml", "lnk.yaml"} {
		os.Remove(b.path(link))
		if err := os.Symlink("precious", b.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	b.write("precious", "mine")
	b.must(0, "init", "raw.csv", "--force")
	if got := b.read("precious"); got != "mine" || b.read("raw.yaml") != first {
		t.Errorf("init has written %q to where a link leads", got)
	}
	b.must(0, "init", "raw.csv", "--force", "--to", "lnk.yaml")
	if got := b.read("precious"); strings.ReplaceAll(got, "lnk", "raw") != first {
		t.Errorf("the end of the link that --to names has %q", got)
	}
	e = b.must(0, "run", "raw.yaml", "--set", "train.epochs=5")
	if !strings.Contains(e.stderr, "one rank on all cores") || !strings.Contains(e.stdout, "AUC") {
		t.Errorf("run says\n%s%s", e.stdout, e.stderr)
	}
	m := b.must(0, "eval", "raw.yaml", "raw.csv", "--json").only(t, "eval")
	if m.num("examples") != 600 || m.text("name") != "raw.csv" {
		t.Errorf("eval of a file in the place of the split's records says %v", m)
	}
	b.must(64, "eval", "raw.yaml", "raw.csv", "--split", "train")
	b.write("names.csv", ",a,a,b,y\n0,1,2,3,0\n1,2,1,5,1\n2,1,2,2,1\n")
	b.must(0, "init", "names.csv")
	b.write("who's.csv", ",a,a,b,y\n0,1,2,3,0\n1,2,1,5,1\n2,1,2,2,1\n")
	if e := b.must(0, "init", "who's.csv"); !strings.Contains(e.stdout, `ringtrain run 'who'\''s.yaml'`) {
		t.Errorf("the next command is no command of a shell:\n%s", e.stdout)
	}
	if job := b.read("names.yaml"); !strings.Contains(job, `# ""`) || strings.Contains(job, "[a]") {
		t.Errorf("of names that are empty or there twice init writes\n%s", job)
	}
	b.must(64, "init", "raw.csv", "--label", "labl", "--force")
	b.must(64, "init", "raw.csv", "--to", "raw.json")
	b.must(64, "init", "raw.csv", "--kind", "lenet", "--force") // reads images
	b.must(66, "init", "none.csv")
	if e := b.must(127, "run", "raw.csv"); !strings.Contains(e.last(), "ringtrain init raw.csv") {
		t.Errorf("run of a file of records says %q", e.last())
	}
}

// TestInitFormats verifies that init makes a job that train takes of each format: LibSVM and TFRecords of ids, IDX
// files, a folder of images, with the classes that they have.
func TestInitFormats(t *testing.T) {
	b := newBox(t)
	b.must(0, "data", "make", "clicks", "--rows", "200", "--ids", "50", "--fields", "3", "--to", "svm")
	b.must(0, "data", "convert", "svm/clicks_train.libsvm", "--to", "clicks.tfrecord")
	b.must(0, "data", "make", "digits", "--to", "idx")
	b.must(0, "data", "convert", "idx/t10k-images-idx3-ubyte.gz", "--labels", "idx/t10k-labels-idx1-ubyte.gz", "--to", "folder", "--to-format", "images")
	for _, tt := range []struct {
		files string
		want  []string
	}{
		{"svm/clicks_train.libsvm", []string{"kind: linear", "format: libsvm"}},
		{"clicks.tfrecord", []string{"kind: linear", "format: tfrecord", "label: label, ids: ids, values: values"}},
		{"idx/t10k-images-idx3-ubyte.gz idx/t10k-labels-idx1-ubyte.gz", []string{"classes: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]", "format: idx"}},
		{"folder", []string{"classes: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]", "format: images, images: folder", "shape: [32, 32, 1]"}},
	} {
		b.must(0, append(append([]string{"init"}, strings.Fields(tt.files)...), "--to", "job.yaml", "--force")...)
		file := b.read("job.yaml")
		for _, want := range tt.want {
			if !strings.Contains(file, want) {
				t.Errorf("of %s init writes\n%s\nwant %s", tt.files, file, want)
			}
		}
		b.must(0, "train", "job.yaml", "--print-options")
	}
}
