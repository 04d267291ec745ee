package serving

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"ringtrain/bench/child"
	"ringtrain/bench/speed"
	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
	"ringtrain/ring/exitcode"
)

// The load of the bench.
const (
	perSecond = 1000 // requests
	clients   = 64
	swaps     = 100                    // versions of the large model
	tableRows = 1150000                // of each of the 26 tables of the large model, which has 1 GiB
	poll      = 100 * time.Millisecond // between two looks for versions
	warm      = time.Second            // of requests that do not count
)

// Config configures a bench.
type Config struct {
	Rounds int           // turns of each way
	Turn   time.Duration // of requests
}

// Check returns all errors of c, as exitcode.Usage.
func (c Config) Check() error {
	var errs []error
	if c.Rounds < 1 {
		errs = append(errs, fmt.Errorf("--rounds is %d, want 1 or more", c.Rounds))
	}
	if c.Turn <= 0 {
		errs = append(errs, fmt.Errorf("--turn is %v, want more than 0", c.Turn))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// Bench measures servers and prints the rows.
type Bench struct {
	child.Output

	folder string
	models string              // the folder that is served
	image  *interpreter.Tensor // a request to the MLP
}

// Run trains and exports the models, serves them and prints all rows.
func (b *Bench) Run(ctx context.Context, c Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	var err error
	if b.folder, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	if err := b.prepare(ctx); err != nil {
		return err
	}
	b.Print("# requests for one record of an MLP 784-512-512-10; the clients have the same cores as the server")
	for _, part := range []func(context.Context, Config) error{b.rates, b.manyClients, b.largeVersions} {
		if err := part(ctx, c); err != nil {
			return errors.Join(context.Cause(ctx), exitcode.With(exitcode.Failed, err))
		}
	}
	return nil
}

// prepare exports the models.
func (b *Bench) prepare(ctx context.Context) error {
	b.Log("training and exporting an MLP, and a deepfm of 1 GiB")
	b.models = filepath.Join(b.folder, "models")
	for model, rows := range map[speed.Exported]int{speed.MLP: 0, speed.DeepFM: tableRows} {
		base, err := speed.Export(ctx, b.Program, b.folder, model, rows)
		if err != nil {
			return err
		}
		if err := link(base, filepath.Join(b.models, string(model))); err != nil {
			return err
		}
	}
	var err error
	b.image, err = speed.Request(b.folder, speed.MLP, 1)
	return err
}

// link makes dst a copy of the folder src whose files are the same. dst appears whole.
func link(src, dst string) error {
	draft := dst + ".draft"
	err := filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		part, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(draft, part), 0o700)
		}
		return os.Link(path, filepath.Join(draft, part))
	})
	return errors.Join(err, os.Rename(draft, dst))
}

// serve starts a server that answers for both models.
func (b *Bench) serve(ctx context.Context, options ...string) (*server, error) {
	s, err := start(ctx, b.Program, b.models, options...)
	if err != nil {
		return nil, err
	}
	for _, model := range []speed.Exported{speed.MLP, speed.DeepFM} {
		if err := s.until(ctx, string(model), 1, servingpb.ModelVersionStatus_AVAILABLE); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// mlp returns a request for one record of the MLP by gRPC.
func (b *Bench) mlp(s *server) call {
	return s.byGRPC(string(speed.MLP), "predict_images", "images", b.image)
}

// rates prints the time of a request at a fixed rate, by both protocols.
func (b *Bench) rates(ctx context.Context, c Config) error {
	s, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	for _, way := range []struct {
		name string
		call call
		bar  float64 // milliseconds
	}{{"gRPC", b.mlp(s), 1}, {"REST", s.byREST(string(speed.MLP), "predict_images", b.image), 2}} {
		if _, err := atRate(ctx, way.call, perSecond, after(warm)); err != nil {
			return err
		}
		t, err := atRate(ctx, way.call, perSecond, after(c.Turn*time.Duration(c.Rounds)))
		if err != nil {
			return err
		}
		b.tell(Row{Name: fmt.Sprintf("%s, %d requests/s, p50", way.name, perSecond), Value: milliseconds(t.quantile(0.5)), Unit: "ms", Max: way.bar})
		b.tell(Row{Name: fmt.Sprintf("%s, %d requests/s, p99", way.name, perSecond), Value: milliseconds(t.quantile(0.99)), Unit: "ms"})
		b.failures(t)
	}
	return nil
}

// manyClients prints the requests a second of many clients, with batches and without, and the ratio.
func (b *Bench) manyClients(ctx context.Context, c Config) error {
	var servers [2]*server
	for i, options := range [][]string{nil, {"--max-batch", "1"}} {
		s, err := b.serve(ctx, options...)
		if err != nil {
			return err
		}
		defer s.close()
		servers[i] = s
		if _, err := byClients(ctx, b.mlp(s), clients, warm); err != nil {
			return err
		}
	}
	var rates [2][]float64
	for range c.Rounds {
		for i, s := range servers {
			t, err := byClients(ctx, b.mlp(s), clients, c.Turn)
			if err != nil {
				return err
			}
			b.failures(t)
			rates[i] = append(rates[i], float64(len(t.took))/t.over.Seconds())
		}
	}
	batched, alone := median(rates[0]), median(rates[1])
	b.tell(Row{Name: fmt.Sprintf("gRPC, %d clients", clients), Value: batched, Unit: "requests/s"})
	b.tell(Row{Name: fmt.Sprintf("gRPC, %d clients, --max-batch 1", clients), Value: alone, Unit: "requests/s"})
	b.tell(Row{Name: "batches over --max-batch 1", Value: batched / alone, Unit: "times", Min: 2})
	return nil
}

// largeVersions prints the time of a request while versions of 1 GiB come and go, and the memory.
func (b *Bench) largeVersions(ctx context.Context, c Config) error {
	s, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := atRate(ctx, b.mlp(s), perSecond, after(warm)); err != nil {
		return err
	}
	rest, err := atRate(ctx, b.mlp(s), perSecond, after(c.Turn*time.Duration(c.Rounds)))
	if err != nil {
		return err
	}
	before, err := s.private()
	if err != nil {
		return err
	}
	b.tell(Row{Name: "private memory with a bundle of 1 GiB", Value: mebibytes(before), Unit: "MiB", Max: 64})
	b.Log(fmt.Sprintf("%d versions of 1 GiB come and go", swaps))
	swapped, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		swapped <- b.swap(ctx, s)
	}()
	busy, err := atRate(ctx, b.mlp(s), perSecond, done)
	if err := errors.Join(err, <-swapped); err != nil {
		return err
	}
	b.failures(busy)
	later, err := s.private()
	b.tell(Row{Name: "p50 at rest", Value: milliseconds(rest.quantile(0.5)), Unit: "ms"})
	b.tell(Row{Name: "p99 at rest", Value: milliseconds(rest.quantile(0.99)), Unit: "ms"})
	b.tell(Row{Name: "p50 while versions of 1 GiB are loaded", Value: milliseconds(busy.quantile(0.5)), Unit: "ms", Max: 2 * milliseconds(rest.quantile(0.5))})
	b.tell(Row{Name: "p99 while versions of 1 GiB are loaded", Value: milliseconds(busy.quantile(0.99)), Unit: "ms"})
	b.tell(Row{Name: fmt.Sprintf("seconds of %d loads and drops", swaps), Value: busy.over.Seconds(), Unit: "s"})
	b.tell(Row{Name: fmt.Sprintf("private memory after %d loads and drops", swaps), Value: mebibytes(later), Unit: "MiB", Max: 64})
	return err
}

// swap publishes versions of the large model, each after the one before has gone.
func (b *Bench) swap(ctx context.Context, s *server) error {
	model := string(speed.DeepFM)
	for version := int64(2); version <= swaps+1; version++ {
		name := func(v int64) string { return filepath.Join(b.models, model, strconv.FormatInt(v, 10)) }
		if err := link(filepath.Join(b.folder, model, "1"), name(version)); err != nil {
			return err
		}
		if err := s.until(ctx, model, version, servingpb.ModelVersionStatus_AVAILABLE); err != nil {
			return err
		}
		if err := s.until(ctx, model, version-1, servingpb.ModelVersionStatus_END); err != nil {
			return err
		}
		if err := os.RemoveAll(name(version - 1)); err != nil {
			return err
		}
	}
	return nil
}

// Row is a figure of a server. Its JSON form is a line of bench serve --json.
type Row struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Min   float64 `json:"min,omitempty"` // bars; 0: none
	Max   float64 `json:"max,omitempty"`
}

// Kind names the event.
func (Row) Kind() string { return "serving" }

// String returns a line of the table.
func (r Row) String() string {
	line := fmt.Sprintf("%-45s %10.2f %-10s", r.Name, r.Value, r.Unit)
	switch {
	case r.Min == 0 && r.Max == 0:
		return line
	case r.Value >= r.Min && (r.Max == 0 || r.Value <= r.Max):
		line += " met"
	default:
		line += " SHORT"
	}
	if r.Max > 0 {
		return fmt.Sprintf("%s [at most %.2f]", line, r.Max)
	}
	return fmt.Sprintf("%s [%.2f]", line, r.Min)
}

func (b *Bench) tell(r Row) {
	b.Print(r.String())
	if b.Event != nil {
		b.Event(r)
	}
}

// failures prints the number of requests without an answer, if there are any, and the error of one.
func (b *Bench) failures(t *times) {
	if len(t.failed) > 0 {
		b.tell(Row{Name: "failed requests", Value: float64(len(t.failed)), Unit: "requests"})
		b.Log(fmt.Sprintf("one of them: %v", t.failed[0]))
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
