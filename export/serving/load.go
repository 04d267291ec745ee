package serving

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/ask"
	"ringtrain/export/bundle"
	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Loader loads versions that run on the same cores.
type Loader struct {
	Cores   *Cores
	Metrics *Metrics
}

// load returns the version in a folder, ready for requests: its signatures are compiled and warm.
func (l *Loader) load(ctx context.Context, name string, f folder) (*Version, error) {
	if f.twin != "" {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("two folders have the number %d: %s and %s", f.number, f.path, f.twin))
	}
	began := time.Now()
	m, err := interpreter.Open(f.path)
	if err != nil {
		return nil, err
	}
	v := &Version{Model: m, Name: name, Number: f.number, Path: f.path, cores: l.Cores, lanes: map[string]*lane{}}
	v.users.Store(1) // the caller
	v.unload = func() {
		l.Metrics.dropped(v)
		_ = m.Close() // what it holds is not needed any more, whatever the system says
	}
	v.columns, err = ask.ReadColumns(f.path)
	if err == nil {
		err = v.compile(l.Metrics)
	}
	if err == nil {
		warming := time.Now()
		err = v.warm(ctx)
		l.Metrics.warmed(f.path, time.Since(warming), err)
	}
	if err != nil {
		v.Release()
		return nil, err
	}
	v.Took = time.Since(began)
	l.Metrics.loaded(v)
	return v, nil
}

// compile compiles all signatures of a version.
func (v *Version) compile(m *Metrics) error {
	for _, s := range v.Model.Signatures {
		p, err := v.Model.Compile(s.Name, nil)
		if err != nil {
			return err
		}
		v.lanes[s.Name] = newLane(p, s, m.of(v.Name, v.Number, s))
	}
	return nil
}

// The files of a version that a server reads besides the model.
const (
	warmupFile = "assets.extra/tf_serving_warmup_requests"
	proofFile  = "assets.extra/ringtrain_proof.json"
)

// maxWarmups bounds the requests of a warm-up file that are asked.
const maxWarmups = 1000

// warm asks a version the requests of its warm-up file. A version with a proof is ringtrain's: its
// answers must be those of the file, within the bound of the proof. Others' answers are not compared.
func (v *Version) warm(ctx context.Context) error {
	var proof struct{ Bound float64 }
	name := filepath.Join(v.Path, proofFile)
	text, err := bundle.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &proof)
	}
	if err == nil && !(proof.Bound > 0 && proof.Bound <= 1) {
		err = fmt.Errorf("bound is %g, want one above 0, up to 1", proof.Bound)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %w", name, err))
	}
	name = filepath.Join(v.Path, warmupFile)
	file, err := bundle.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return exitcode.With(exitcode.NoInput, err)
	}
	defer file.Close()
	ctx = context.WithValue(ctx, warming{}, true)
	records := tfrecord.NewReader(file, name)
	for i := 1; i <= maxWarmups; i++ {
		data, err := records.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = v.replay(ctx, data, proof.Bound)
		}
		if err != nil {
			return exitcode.With(exitcode.BadData, fmt.Errorf("%s: request %d: %w", name, i, err))
		}
	}
	return nil
}

// replay asks a version the request of a log. Unless bound is 0 it compares the answer of predict with
// that of the log. Requests of other kinds, such as MultiInference, are not answered here, and not asked.
func (v *Version) replay(ctx context.Context, data []byte, bound float64) error {
	var log servingpb.PredictionLog
	if err := proto.Unmarshal(data, &log); err != nil {
		return err
	}
	var err error
	switch l := log.GetLogType().(type) {
	case *servingpb.PredictionLog_PredictLog:
		var got *servingpb.PredictResponse
		got, err = v.Predict(ctx, l.PredictLog.GetRequest())
		if err == nil && bound > 0 {
			err = v.differ(got.GetOutputs(), l.PredictLog.GetResponse().GetOutputs(), bound)
		}
	case *servingpb.PredictionLog_ClassifyLog:
		_, err = v.Classify(ctx, l.ClassifyLog.GetRequest())
	case *servingpb.PredictionLog_RegressLog:
		_, err = v.Regress(ctx, l.RegressLog.GetRequest())
	}
	return err
}

// differ returns an error if two answers are not equal. Numbers may differ by bound × max(1, |want|).
func (v *Version) differ(got, want map[string]*tfpb.TensorProto, bound float64) error {
	keys := slices.Sorted(maps.Keys(want))
	if have := slices.Sorted(maps.Keys(got)); !slices.Equal(have, keys) {
		return fmt.Errorf("the outputs are %q, and those of the file %q", have, keys)
	}
	near := func(a, b float32) bool {
		x, y := float64(a), float64(b)
		return x == y || x != x && y != y || math.Abs(x-y) <= bound*max(1, math.Abs(y))
	}
	for _, key := range keys {
		g, gotErr := interpreter.FromProto(got[key], v.cores.Tensor)
		w, wantErr := interpreter.FromProto(want[key], v.cores.Tensor)
		if err := errors.Join(gotErr, wantErr); err != nil {
			return fmt.Errorf("the output %s: %w", key, err)
		}
		if !slices.Equal(g.Shape, w.Shape) || !slices.EqualFunc(g.Float32, w.Float32, near) || !slices.Equal(g.Int64, w.Int64) || !slices.EqualFunc(g.Bytes, w.Bytes, bytes.Equal) {
			shown := func(t *interpreter.Tensor) string {
				values := map[tfpb.DataType]string{tfpb.DataType_DT_INT64: fmt.Sprint(t.Int64), tfpb.DataType_DT_STRING: fmt.Sprintf("%q", t.Bytes)}[t.Type]
				return phrase.Foreign(cmp.Or(values, fmt.Sprint(t.Float32)), 80)
			}
			return fmt.Errorf("the output %s is %s, and that of the file %s, bound %g", key, shown(g), shown(w), bound)
		}
	}
	return nil
}
