package speed

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"ringtrain/bench/child"
	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/input/convert"
	"ringtrain/input/synth"
	"ringtrain/input/tfrecord"
)

// Names of contenders that answer requests.
const (
	graphRuns  = "ringtrain, interpreter"
	flowAnswer = "TensorFlow, signature"
)

// answerCase is the part of a Case about requests to an exported model: the figure is records a second,
// by the median time of a request.
type answerCase struct {
	records   int // of a request; 0: not a case of requests
	exports   Exported
	signature string
	input     string // its only input
}

// Exported is a model that is trained for some steps and exported.
type Exported string

// The models of requests.
const (
	MLP    Exported = "mlp"
	DeepFM Exported = "deepfm"
	CNN    Exported = "cnn"
)

// answerCases returns the cases of the suite Answers.
func answerCases() []Case {
	cell := func(model Exported, text string, records int, ratio float64) Case {
		a := answerCase{records: records, exports: model, signature: "predict_images", input: "images"}
		if model == DeepFM {
			a.signature, a.input = "predict", "examples"
		}
		return Case{Name: fmt.Sprintf("%s-%d", model, records), Text: fmt.Sprintf("%s, %d of a request", text, records), answers: a,
			who: []string{graphRuns, flowAnswer}, bars: []bar{{ours: graphRuns, theirs: []string{flowAnswer}, want: ratio}}}
	}
	const (
		mlp    = "MLP 784-512-512-10"
		deepfm = "deepfm of 13 numbers and 26 texts, tf.Examples"
		cnn    = "CNN of 32 and 64 filters"
	)
	return []Case{
		cell(MLP, mlp, 1, 1/0.5), cell(MLP, mlp, 128, 1),
		cell(DeepFM, deepfm, 1, 1/0.3), cell(DeepFM, deepfm, 256, 2),
		cell(CNN, cnn, 1, 1), cell(CNN, cnn, 128, 0.8),
	}
}

// Of a click log for DeepFM.
const (
	answerRows    = 20000
	answerIDs     = 100000
	answerNumbers = 13
)

// Export trains a model of the benchmarks and exports it to folder/NAME/1. It returns the base,
// folder/NAME. The deepfm has a table of rows for each text, 0: 100,000.
func Export(ctx context.Context, program, folder string, model Exported, rows int) (string, error) {
	base := filepath.Join(folder, string(model))
	job, err := exportJob(ctx, folder, model, rows)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, string(model)+".yaml")
	text := fmt.Sprintf("name: bench-%s\n%sexport: {savedmodel: %q, if: always}\n", model, job, base)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	return base, child.Run(ctx, []child.Process{{Argv: []string{program, "train", path}}})
}

// exportJob returns the job file of a model, without its outputs.
func exportJob(ctx context.Context, folder string, model Exported, rows int) (string, error) {
	const digits = "input: {synthetic: true, batch: 128%s}\nloss: {kind: softmax}\noptimizer: {name: adam, learning_rate: 0.001}\ntrain: {steps: 20, seed: 1}\n"
	switch model {
	case MLP:
		return Case{hidden: []int{512, 512}}.model() + fmt.Sprintf(digits, ""), nil
	case CNN:
		return Case{cnn: true}.model() + fmt.Sprintf(digits, ", shape: [28, 28, 1]"), nil
	}
	log, err := drawAnswers(ctx, folder)
	if err != nil {
		return "", err
	}
	if rows == 0 {
		rows = answerIDs
	}
	return fmt.Sprintf("model: {kind: deepfm, embedding: 8, hidden: [128, 32]}\ninput:\n  train: {format: csv, header: true, files: [%q]}\n  batch: 512\n  columns:\n"+
		"    - label: {names: [label]}\n    - numeric: {names: [I1..I%d], standardize: true, default: mean}\n    - categorical: {names: [C1..C%d], hash: %d}\n"+
		"optimizer: {name: sgd, learning_rate: 0.1}\ntrain: {steps: 20, seed: 1}\n", log, answerNumbers, clickFields-answerNumbers, rows), nil
}

// drawAnswers draws a click log into folder, unless it is there.
func drawAnswers(ctx context.Context, folder string) (string, error) {
	dir := filepath.Join(folder, "clicks")
	file := filepath.Join(dir, "clicks_train.csv")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	_, err := convert.MakeClicks(ctx, convert.ClickLog{ClickLog: synth.ClickLog{Seed: 1, Rows: answerRows, IDs: answerIDs, Fields: clickFields, Spread: 1}, TestRows: 1, Format: "csv", Numbers: answerNumbers}, dir)
	return file, err
}

// Request returns the input of a request to a model that Export wrote into folder: images, or
// examples of its click log.
func Request(folder string, model Exported, records int) (*interpreter.Tensor, error) {
	const pixels = 784
	if model != DeepFM {
		x := make([]float32, records*pixels)
		for i := range x {
			x[i] = float32(i%251) / 251
		}
		return &interpreter.Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{records, pixels}, Float32: x}, nil
	}
	f, err := os.Open(filepath.Join(folder, "clicks", "clicks_train.csv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows := csv.NewReader(f)
	names, err := rows.Read()
	t := &interpreter.Tensor{Type: tfpb.DataType_DT_STRING, Shape: []int{records}}
	for err == nil && len(t.Bytes) < records {
		var cells []string
		cells, err = rows.Read()
		if err == nil {
			t.Bytes = append(t.Bytes, clickExample(names, cells))
		}
	}
	return t, err
}

// clickExample returns a record of a click log without its label, in column 0, as a tf.Example.
func clickExample(names, cells []string) []byte {
	features := map[string]*tfpb.Feature{}
	for i, cell := range cells[1:] {
		name := names[i+1]
		if name[0] == 'C' {
			features[name] = &tfpb.Feature{Kind: &tfpb.Feature_BytesList{BytesList: &tfpb.BytesList{Value: [][]byte{[]byte(cell)}}}}
			continue
		}
		number, err := strconv.ParseFloat(cell, 32)
		if err != nil {
			continue // of a missing cell
		}
		features[name] = &tfpb.Feature{Kind: &tfpb.Feature_FloatList{FloatList: &tfpb.FloatList{Value: []float32{float32(number)}}}}
	}
	text, err := proto.Marshal(&tfpb.Example{Features: &tfpb.Features{Feature: features}})
	if err != nil {
		panic("speed: an example of drawn records cannot be encoded")
	}
	return text
}

// bundle is an exported model with a request in a file, which all contenders answer.
type bundle struct {
	version, request string
	input            *interpreter.Tensor
}

// prepare exports the model of a case, unless an earlier case has, and writes its request.
func (a answerCase) prepare(ctx context.Context, program, folder string) (b bundle, err error) {
	b.version = filepath.Join(folder, string(a.exports), "1")
	if _, err := os.Stat(b.version); err != nil {
		if _, err := Export(ctx, program, folder, a.exports, 0); err != nil {
			return b, err
		}
	}
	if b.input, err = Request(folder, a.exports, a.records); err != nil {
		return b, err
	}
	var text bytes.Buffer
	if err := binary.Write(&text, binary.LittleEndian, b.input.Float32); err != nil {
		return b, err
	}
	w := tfrecord.NewWriter(&text)
	for _, example := range b.input.Bytes {
		if err := w.Write(example); err != nil {
			return b, err
		}
	}
	b.request = filepath.Join(folder, fmt.Sprintf("request-%s-%d", a.exports, a.records))
	return b, os.WriteFile(b.request, text.Bytes(), 0o600)
}

// spec returns the additional input of the driver of requests.
func (a answerCase) spec(b bundle) map[string]any {
	if a.records == 0 {
		return nil
	}
	return map[string]any{"bundle": b.version, "request": b.request, "signature": a.signature, "input": a.input, "batch": a.records, "texts": b.input.Bytes != nil}
}

// answering is the interpreter in this process.
type answering struct {
	model   *interpreter.Model
	program *interpreter.Program
	request *interpreter.Tensor
}

func (a *answering) open(_ context.Context, w work) (_ string, err error) {
	if a.model, err = interpreter.Open(w.records.bundle.version); err != nil {
		return "", err
	}
	a.request = w.records.bundle.input
	a.program, err = a.model.Compile(w.answers.signature, nil)
	return "", err
}

func (a *answering) turn(_ context.Context, seconds time.Duration) (turn, error) {
	runtime.GC() // of what other contenders left
	var took []time.Duration
	for began := time.Now(); time.Since(began) < seconds; {
		start := time.Now()
		if _, err := a.program.Run([]*interpreter.Tensor{a.request}); err != nil {
			return turn{}, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return turn{rate: float64(a.request.Shape[0]) / took[len(took)/2].Seconds()}, nil
}

func (a *answering) close() {
	if a.model != nil {
		a.model.Close()
		a.model = nil
	}
}
