package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
	"ringtrain/ring/exitcode"
)

// halfPlusTwo is a version of y = x/2 + 2.
const halfPlusTwo = "../../export/testdata/serving/saved_model_half_plus_two_2_versions/00000123"

// publish copies a version folder to base/number, which appears in one step.
func (b *box) publish(base string, number int) {
	b.Helper()
	draft := b.path(base, "draft")
	err := os.CopyFS(draft, os.DirFS(halfPlusTwo))
	if err == nil {
		err = os.Rename(draft, b.path(base, fmt.Sprint(number)))
	}
	if err != nil {
		b.Fatal(err)
	}
}

// served starts ringtrain serve on free ports, and returns it with the addresses of REST and gRPC.
func (b *box) served(args ...string) (p *testProcess, rest, rpc string) {
	b.Helper()
	p = b.start(append([]string{"serve", "--listen", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--poll", "10ms"}, args...)...)
	p.await("gRPC on ")
	for line := range strings.Lines(p.stdout.String()) {
		if at, ok := strings.CutPrefix(line, "REST on "); ok {
			rest = "http://" + strings.TrimSpace(at)
		}
		if at, ok := strings.CutPrefix(line, "gRPC on "); ok {
			rpc = strings.TrimSpace(at)
		}
	}
	return p, rest, rpc
}

// askServer sends a request to REST and returns its answer.
func askServer(t *testing.T, url, body string) (code int, text string) {
	t.Helper()
	r, err := http.Get(url)
	if body != "" && err == nil {
		r.Body.Close()
		r, err = http.Post(url, "", strings.NewReader(body))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(answer)
}

// TestServe verifies that a server under load of both protocols fails no request while 50 versions are
// published and old ones deleted, that a version which cannot be loaded is told once and leaves the old
// one in its place, and that TERM under load ends the server with 0 after it was not ready.
func TestServe(t *testing.T) {
	const versions = 50
	b := newBox(t)
	b.publish("models/half", 1)
	p, rest, rpc := b.served("models", "--drain", "500ms")
	p.await("half\n  version 1  AVAILABLE")
	conn, err := grpc.NewClient(rpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var asked atomic.Int64
	var clients sync.WaitGroup
	for _, one := range []func() error{
		func() error { return askREST(rest + "/v1/models/half:predict") },
		func() error { return askGRPC(ctx, servingpb.NewPredictionServiceClient(conn)) },
	} {
		clients.Go(func() {
			for ctx.Err() == nil {
				if err := one(); err != nil && ctx.Err() == nil {
					t.Errorf("request %d: %v", asked.Load(), err)
					return
				}
				asked.Add(1)
			}
		})
	}
	for n := 2; n <= versions; n++ {
		b.publish("models/half", n)
		p.await(fmt.Sprintf("half: version %d takes the requests", n))
		if err := os.RemoveAll(b.path("models/half", fmt.Sprint(n-1))); err != nil {
			t.Fatal(err)
		}
	}
	b.write("models/half/51/saved_model.pb", "damaged")
	p.await("version 51 is not served")
	if code, text := askServer(t, rest+"/v1/models/half/versions/51", ""); code != http.StatusOK || !strings.Contains(text, `"END"`) || !strings.Contains(text, "saved_model.pb") {
		t.Errorf("the status of a damaged version is %d, %s", code, text)
	}
	p.signal(syscall.SIGTERM)
	eventually(t, patience, "the server is not ready", func() bool {
		code, _ := askServer(t, rest+"/readyz", "")
		return code == http.StatusServiceUnavailable
	})
	stop()
	clients.Wait()
	e := p.wait()
	if e.code != 0 || strings.Count(e.stderr, "version 51 is not served") != 1 || asked.Load() < versions {
		t.Errorf("the server ended with %d after %d requests, and says\n%s", e.code, asked.Load(), e.stderr)
	}
}

// askREST asks for y of x = 3.
func askREST(url string) error {
	r, err := http.Post(url, "application/json", strings.NewReader(`{"instances": [[3]]}`))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	var a struct{ Predictions [][]float64 }
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if want := "[[3.5]]"; err == nil && fmt.Sprint(a.Predictions) != want {
		err = fmt.Errorf("the predictions are not %s", want)
	}
	if err != nil {
		return fmt.Errorf("%d: %s, %w", r.StatusCode, text, err)
	}
	return nil
}

// askGRPC asks for y of x = 3.
func askGRPC(ctx context.Context, c servingpb.PredictionServiceClient) error {
	x := &tfpb.TensorProto{Dtype: tfpb.DataType_DT_FLOAT, TensorShape: &tfpb.TensorShapeProto{Dim: []*tfpb.TensorShapeProto_Dim{{Size: 1}, {Size: 1}}}, FloatVal: []float32{3}}
	a, err := c.Predict(ctx, &servingpb.PredictRequest{ModelSpec: &servingpb.ModelSpec{Name: "half"}, Inputs: map[string]*tfpb.TensorProto{"x": x}})
	if y := a.GetOutputs()["y"].GetFloatVal(); err == nil && (len(y) != 1 || y[0] != 3.5) {
		err = fmt.Errorf("y is %v", y)
	}
	return err
}

// TestServeCommand verifies the command lines that serve refuses, each by its reason and code.
func TestServeCommand(t *testing.T) {
	b := newBox(t)
	b.publish("half", 1)
	b.write("bad.config", "model_config_list {}")
	taken, rest, _ := b.served("half")
	for _, tt := range []struct {
		code int
		want string
		args []string
	}{
		{exitcode.Usage, "want a folder of models, or --config FILE", nil},
		{exitcode.Usage, "want a folder of models, or --config FILE", []string{"half", "--config", "bad.config"}},
		{exitcode.Usage, "model_config_list has no config", []string{"--config", "bad.config"}},
		{exitcode.Usage, "--name is half", []string{"--config", "bad.config", "--name", "half"}},
		{exitcode.NoInput, "want a folder of models", []string{"none"}},
		{exitcode.NoInput, "none.config", []string{"--config", "none.config"}},
		{exitcode.Usage, "half/1 is one version of a model, want its base", []string{"half/1"}},
		{exitcode.Usage, `--versions: "newest"`, []string{"half", "--versions", "newest"}},
		{exitcode.Usage, `--label: "stable"`, []string{"half", "--label", "stable"}},
		{exitcode.Usage, "--max-body", []string{"half", "--max-body", "much"}},
		{exitcode.Usage, "--max-body is 0, want 1 byte or more", []string{"half", "--max-body", "0"}},
		{exitcode.Usage, "--max-batch is 0, want 1 or more", []string{"half", "--max-batch", "0"}},
		{exitcode.Usage, "--listen and --grpc are off", []string{"half", "--listen", "off", "--grpc", "off"}},
		{exitcode.Usage, "listen nowhere", []string{"half", "--listen", "nowhere"}},
		{exitcode.NoInput, "cert.pem", []string{"half", "--tls-cert", "cert.pem", "--tls-key", "key.pem"}},
		{exitcode.NoInput, "token", []string{"half", "--token-file", "token"}},
		{exitcode.Retry, "address already in use: another program has the port", []string{"half", "--grpc", "off", "--listen", strings.TrimPrefix(rest, "http://")}},
	} {
		if e := b.must(tt.code, append([]string{"serve"}, tt.args...)...); !strings.Contains(e.stderr, tt.want) {
			t.Errorf("serve %q says %q, want %q", tt.args, e.stderr, tt.want)
		}
	}
	taken.signal(syscall.SIGINT)
	if e := taken.wait(); e.code != 0 {
		t.Errorf("the server ended with %d\n%s", e.code, e.stderr)
	}
}

// TestServeTells verifies that serve prints how to ask each model, by a request that the model answers,
// which version takes the requests, and that it tells once of a port that other hosts reach in clear.
func TestServeTells(t *testing.T) {
	b := newBox(t)
	b.publish("half", 1)
	b.publish("half", 2)
	p, rest, _ := b.served("half", "--versions", "all", "--label", "stable=2", "--listen", "0.0.0.0:0")
	p.await("half: version 1 answers, too")
	_, port, _ := strings.Cut(strings.TrimPrefix(rest, "http://"), "]:")
	if port == "" {
		_, port, _ = strings.Cut(strings.TrimPrefix(rest, "http://"), ":")
	}
	here := "http://127.0.0.1:" + port
	code, example := askServer(t, here+"/v1/models/half/example", "")
	if code != http.StatusOK {
		t.Fatalf("the example is %d, %s", code, example)
	}
	if code, text := askServer(t, here+"/v1/models/half/labels/stable:predict", example); code != http.StatusOK || !strings.Contains(text, "predictions") {
		t.Errorf("the answer to the example is %d, %s", code, text)
	}
	p.signal(syscall.SIGTERM)
	e := p.wait()
	if !strings.Contains(e.stdout, here+"/v1/models/half:predict") || !strings.Contains(e.stdout, "stable") {
		t.Errorf("serve prints\n%s", e.stdout)
	}
	if strings.Count(e.stderr, "there is no TLS") != 1 {
		t.Errorf("serve tells of a port in clear:\n%s", e.stderr)
	}
}

// TestPredictByBundle verifies that predict and eval ask a bundle without a job, in each form of output,
// and that the options of jobs are refused.
func TestPredictByBundle(t *testing.T) {
	b := newBox(t)
	b.publish("half", 1)
	b.write("a.csv", "x,y\n1,2.5\n2,3\n")
	bundle := []string{"--from", "half", "a.csv"}
	e := b.must(0, append([]string{"predict"}, bundle...)...)
	if e.stdout != "record,y\n0,2.5\n1,3\n" {
		t.Errorf("predict prints %q", e.stdout)
	}
	b.must(0, append([]string{"predict", "--to", "out.jsonl"}, bundle...)...)
	if text := b.read("out.jsonl"); text != "{\"record\":0,\"y\":2.5}\n{\"record\":1,\"y\":3}\n" {
		t.Errorf("predict --to out.jsonl writes %q", text)
	}
	e = b.must(0, append([]string{"predict", "--json"}, bundle...)...)
	var event struct {
		Event  string
		Record int
		Y      float64
	}
	if err := json.NewDecoder(strings.NewReader(e.stdout)).Decode(&event); err != nil || event.Event != "prediction" || event.Y != 2.5 {
		t.Errorf("predict --json prints %q, %v", e.stdout, err)
	}
	e = b.must(0, append([]string{"eval", "--label", "y"}, bundle...)...)
	if !strings.Contains(e.stdout, "a.csv records: loss 0, RMSE 0.0000") {
		t.Errorf("eval prints %q", e.stdout)
	}
	b.must(exitcode.Usage, append([]string{"eval", "--label", "y", "--split", "test"}, bundle...)...)
	b.must(exitcode.Usage, append([]string{"predict", "--set", "train.steps=1"}, bundle...)...)
	b.must(exitcode.Usage, "predict", "linear", "--signature", "x")
	b.must(exitcode.Usage, append([]string{"eval", "--signature", "y", "--label", "y"}, bundle...)...)
}
