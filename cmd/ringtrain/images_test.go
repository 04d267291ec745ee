package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shapes writes folders of two classes, horizontal and vertical bars, as PNG and JPEG.
func shapes(b *box, folder string, n int) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for k, name := range []string{"across", "down"} {
		for i := range n {
			m := image.NewGray(image.Rect(0, 0, 12+i%5, 10+i%3))
			at := r.IntN(6) + 2
			for p := range m.Pix {
				x, y := p%m.Stride, p/m.Stride
				v := r.IntN(60)
				if k == 0 && y/2 == at/2 || k == 1 && x/2 == at/2 {
					v += 190
				}
				m.SetGray(x, y, color.Gray{Y: uint8(v)})
			}
			var data bytes.Buffer
			file, err := fmt.Sprintf("%03d.png", i), error(nil)
			if i%3 == 0 {
				file, err = fmt.Sprintf("%03d.JPG", i), jpeg.Encode(&data, m, nil)
			} else {
				err = png.Encode(&data, m)
			}
			if err != nil {
				b.Fatal(err)
			}
			b.write(filepath.Join(folder, name, file), data.String())
		}
	}
}

const shapesJob = `
name: shapes
model: {kind: mlp, classes: 2, hidden: [16]}
input:
  train: {format: images, images: train}
  eval: {format: images, images: eval}
  shape: [10, 10, 1]
  batch: 20
optimizer: {name: adam, learning_rate: 0.01}
train: {epochs: 12}
checkpoint: {dir: ckpt}
export: {savedmodel: export}
`

// TestImageFolder verifies training on folders of images: the order follows the seed, a
// stopped run resumes with the same bits, and eval and predict separate the classes.
func TestImageFolder(t *testing.T) {
	b := newBox(t)
	shapes(b, "train", 60)
	shapes(b, "eval", 25)
	b.write("job.yaml", shapesJob)
	whole := b.must(0, "run", "-np", "2", "--json", "job.yaml", "--set", "checkpoint.dir=whole")
	eval := whole.only(t, "eval")
	if eval.num("accuracy") < 0.9 || eval.num("examples") != 50 {
		t.Errorf("accuracy %v of %v, want 0.9 or more of 50", eval.num("accuracy"), eval.num("examples"))
	}
	b.must(0, "run", "-np", "2", "job.yaml", "--set", "train.steps=17", "--set", "schedule.steps=72")
	resumed := b.must(0, "run", "-np", "2", "--json", "job.yaml", "--set", "train.steps=72", "--set", "schedule.steps=72")
	if got, want := resumed.digest(t), whole.digest(t); got != want {
		t.Errorf("stopped and resumed ends with %s, want %s", got, want)
	}
	if graph := b.read("export", "1", "saved_model.pb"); !strings.Contains(graph, "across") || !strings.Contains(graph, "down") {
		t.Error("the export lacks the names of the classes")
	}
	if got := b.must(0, "eval", "job.yaml", "--json", "--from", "export").only(t, "eval"); got.num("correct") != eval.num("correct") {
		t.Errorf("eval has %v right, want %v", got.num("correct"), eval.num("correct"))
	}
	e := b.must(0, "predict", "job.yaml", "--json", "--from", "export", "eval/down/001.png", "eval/across/000.JPG")
	if all := e.events(t); len(all) != 2 || all[0].text("file") != "eval/down/001.png" || all[0].text("class") != "down" || all[1].text("file") != "eval/across/000.JPG" {
		t.Errorf("predictions %v, want the files and the names of classes", all)
	}
}

// TestImageFolderFaults verifies the exit code and message for broken images and for
// different folders on two ranks.
func TestImageFolderFaults(t *testing.T) {
	b := newBox(t)
	shapes(b, "train", 20)
	shapes(b, "eval", 10)
	b.write("job.yaml", shapesJob)
	b.write("other/train/note.txt", "x")
	shapes(b, "other/train", 19)
	shapes(b, "other/eval", 10)
	const launch = `RINGTRAIN_DATA=$PWD; test "$RINGTRAIN_RANK" = 1 && RINGTRAIN_DATA=$PWD/other; export RINGTRAIN_DATA; exec "$0" train job.yaml`
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := b.must(64, "run", "-np", "2", "--", "sh", "-c", launch, self)
	if !strings.Contains(e.stderr, "the training files differ") || !strings.Contains(e.stderr, "across") {
		t.Errorf("standard error lacks the difference:\n%s", e.stderr)
	}
	b.must(64, "train", "job.yaml", "--set", "input.resize=5")
	b.must(65, "train", "job.yaml", "--set", "model.classes=3")
	b.must(66, "train", "job.yaml", "--set", "input.train.images=nowhere")
	yesOrNo := []string{"train", "job.yaml", "--set", "model.classes=0", "--set", "loss.kind=sigmoid", "--set", "train.steps=2",
		"--set", "checkpoint.dir=", "--set", "export.savedmodel="}
	b.must(0, yesOrNo...)
	b.write("three/maybe/000.png", b.read("train", "down", "001.png"))
	shapes(b, "three", 20)
	e = b.must(65, append(yesOrNo, "--set", "input.train.images=three", "--set", "train.class_weights=1,2")...)
	if !strings.Contains(e.stderr, "three: 3 classes, want 2") {
		t.Errorf("standard error lacks the number of classes:\n%s", e.stderr)
	}
	if e = b.must(64, "data", "cat", "train", "--format", "images", "--shape", "4,4"); !strings.Contains(e.stderr, "shape is [4 4], want HEIGHT,WIDTH,CHANNELS") {
		t.Errorf("standard error lacks the shape:\n%s", e.stderr)
	}
	b.write("train/down/001.png", "\x89PNG\r\n\x1a\n")
	e = b.must(65, "run", "-np", "2", "job.yaml")
	if !strings.Contains(e.stderr, "train/down/001.png: file ends early") {
		t.Errorf("standard error lacks the image:\n%s", e.stderr)
	}
	b.write("train/down/001.png", "")
	e = b.must(65, "run", "-np", "2", "job.yaml")
	if !strings.Contains(e.stderr, "train/down/001.png: is empty") {
		t.Errorf("standard error lacks the image:\n%s", e.stderr)
	}
	b.write("train/down/001.gif", "GIF89a")
	e = b.must(65, "train", "job.yaml")
	if !strings.Contains(e.stderr, "001.gif: no image") {
		t.Errorf("standard error lacks the file:\n%s", e.stderr)
	}
}

// TestDataCheckImages verifies data check of a folder of images: the table of its classes, a file that is no image, with
// 65, and the events.
func TestDataCheckImages(t *testing.T) {
	b := newBox(t)
	shapes(b, "train", 9)
	b.write("job.yaml", shapesJob)
	job := []string{"data", "check", "job.yaml", "--set", "input.split.share=0.2", "--set", "input.eval.format=", "--set", "input.eval.images="}
	e := b.must(0, job...)
	if !strings.Contains(e.stdout, "class") || !strings.Contains(e.stdout, "column label: the class across has fewer than 10 validation records") {
		t.Errorf("data check prints\n%s", e.stdout)
	}
	b.write("train/across/004.png", "no image")
	e = b.must(65, job...)
	if want := "ends the job: input.train: bad records, in 1 record (image: "; !strings.Contains(e.stdout, want) || !strings.Contains(e.stdout, "train/across/004.png: ") {
		t.Errorf("data check prints\n%s\nwant %s and the file", e.stdout, want)
	}
	events := b.must(65, append(job, "--json")...).events(t)
	if len(events) == 0 || events[0].text("event") != "column" || events[1].text("what") != "input.train: bad records" {
		t.Errorf("events %v", events)
	}
}
