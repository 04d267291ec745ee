package serving

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
	"ringtrain/input/tfrecord"
)

// warmup returns a warm-up file of requests to halfPlusTwo. y is the answer to 1 that the file says it has.
func warmup(t *testing.T, y float32) []byte {
	t.Helper()
	square := func(v float32) *tfpb.TensorProto {
		p := &interpreter.Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{1, 3, 3}, Float32: []float32{1, 1, 1, 1, 1, 1, 1, 1, v}}
		return p.Proto()
	}
	answer := square(y)
	for i := range 8 {
		answer.FloatVal[i] = 2.5
	}
	var file bytes.Buffer
	w := tfrecord.NewWriter(&file)
	for _, log := range []*servingpb.PredictionLog{
		{LogType: &servingpb.PredictionLog_MultiInferenceLog{}}, // is not asked
		{LogType: &servingpb.PredictionLog_PredictLog{PredictLog: &servingpb.PredictLog{
			Request:  &servingpb.PredictRequest{ModelSpec: &servingpb.ModelSpec{Name: "any"}, Inputs: map[string]*tfpb.TensorProto{"x": square(1)}},
			Response: &servingpb.PredictResponse{Outputs: map[string]*tfpb.TensorProto{"y": answer}},
		}}},
	} {
		text, err := proto.Marshal(log)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

// TestWarmUp verifies that a version of ringtrain is refused if its graph does not give the answers of its
// warm-up file, that others' answers are not compared, and that a file that cannot be read or asked
// refuses any version.
func TestWarmUp(t *testing.T) {
	const proof = `{"bound": 1e-5}`
	for _, tt := range []struct {
		name, proof, file, want string
	}{
		{"right", proof, string(warmup(t, 2.5)), ""},
		{"within the bound", proof, string(warmup(t, 2.50002)), ""},
		{"beyond the bound", proof, string(warmup(t, 2.501)), "tf_serving_warmup_requests: request 2: the output y is [2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5], and that of the file [2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.5 2.501], bound 1e-05"},
		{"other people's", "", string(warmup(t, 7)), ""},
		{"without a file", proof, "", ""},
		{"cut", "", string(warmup(t, 2.5)[:100]), "request 2: "},
		{"no log", "", "no TFRecord at all", "request 1: "},
		{"proof without a bound", `{}`, "", "ringtrain_proof.json: bound is 0"},
		{"damaged proof", `{`, "", "ringtrain_proof.json: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "1")
			err := os.CopyFS(dir, os.DirFS(halfPlusTwo))
			if err == nil {
				err = os.MkdirAll(filepath.Join(dir, "assets.extra"), 0o777)
			}
			for name, text := range map[string]string{proofFile: tt.proof, warmupFile: tt.file} {
				if err == nil && text != "" {
					err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			v, err := newLoader().load(t.Context(), "m", folder{number: 1, path: dir})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if err == nil {
				v.Release()
			}
		})
	}
}
