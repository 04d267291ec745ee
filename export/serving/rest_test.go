package serving

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
)

// restOf returns a client of REST for the models of exampleModels, and of others: "rows" takes raw columns, and
// "empty" has no version.
func restOf(t *testing.T, o Options) func(method, path, text string, header ...string) (int, string) {
	t.Helper()
	m, metrics := exampleModels(t)
	o.Metrics = metrics
	if o.MaxBody == 0 {
		o.MaxBody = 1 << 10
	}
	o.Timeout = time.Minute
	h := NewREST(m, o)
	return func(method, path, text string, header ...string) (int, string) {
		t.Helper()
		r := httptest.NewRequest(method, path, strings.NewReader(text))
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
}

// TestRESTStatuses verifies the status of each kind of request, as TensorFlow Serving has it, and that an error
// is an object with its text.
func TestRESTStatuses(t *testing.T) {
	rest := restOf(t, Options{})
	const predict = "/v1/models/double:predict"
	for _, tt := range []struct {
		method, path, text string
		want               int
		part               string
	}{
		{"POST", predict, `{"instances": [[1], [2.5]]}`, 200, `"predictions": [`},
		{"POST", "/V1/Models/double/Versions/3:Predict", `{"inputs": [[1]]}`, 200, `"outputs": [[2.0]]`},
		{"POST", "/v1/models/double/labels/stable:predict", `{"inputs": {"x": [[1]]}}`, 200, "[2.0]"},
		{"POST", "/v1/models/d%6Fuble:predict", `{"inputs": [[1]]}`, 200, "[2.0]"},
		{"POST", "/v1/models/double:classify", `{"signature_name": "classify", "examples": [{}]}`, 200, `[["length", `},
		{"POST", "/v1/models/double:regress", `{"signature_name": "regress", "examples": [{}, {}]}`, 200, `"results": [`},
		{"GET", "/v1/models/double", "", 200, `"state": "AVAILABLE"`},
		{"GET", "/v1/models/double/versions/3", "", 200, `"version": "3"`},
		{"GET", "/v1/models/double/labels/stable", "", 200, `"error_code": "OK"`},
		{"GET", "/v1/models", "", 200, `{"models":["double"]}`},
		{"GET", "/v1/models/double/example", "", 200, `{"instances": `},
		{"GET", "/healthz", "", 200, "live"},
		{"GET", "/readyz", "", 200, "ready"},
		{"GET", "/v2/health/live", "", 200, "live"},
		{"GET", "/v2/health/ready", "", 200, "ready"},
		{"GET", "/", "", 200, "curl -s http://example.com/v1/models/double:predict -d"},
		{"GET", "/monitoring/prometheus/metrics", "", 200, ":tensorflow:serving:request_count"},

		{"HEAD", "/readyz", "", 200, ""},

		{"HEAD", "/v1/models", "", 400, ""},
		{"GET", predict, "", 400, "there is no GET"},
		{"POST", "/v1/models/double", "{}", 400, "there is no POST"},
		{"PUT", predict, "{}", 400, "there is no PUT"},
		{"POST", "/v1/models/double/labels/:predict", "{}", 400, ""},
		{"GET", "/v1/models/", "", 400, ""},
		{"GET", "/v1/models/a/b/c", "", 400, ""},
		{"GET", "/other", "", 400, ""},
		{"POST", "/v1/models/double/versions/99999999999999999999:predict", "{}", 400, "out of range"},
		{"POST", "/v1/models/double/versions/4:predict", `{"instances": [1]}`, 404, "version 4"},
		{"POST", "/v1/models/nobody:predict", `{"instances": [1]}`, 404, "nobody"},
		{"GET", "/v1/models/nobody", "", 404, "nobody"},
		{"GET", "/v1/models/double/versions/4", "", 404, "4"},
		{"GET", "/v1/models/nobody/metadata", "", 404, "nobody"},
		{"POST", "/v1/models/double/labels/canary:predict", `{"instances": [1]}`, 400, "canary"},
		{"POST", predict, "", 400, "empty"},
		{"POST", predict, "{", 400, "no JSON"},
		{"POST", predict, "[]", 400, "want a JSON object"},
		{"POST", predict, `{"signature_name": 1}`, 400, "signature_name"},
		{"POST", predict, `{"signature_name": "clasify", "instances": [1]}`, 400, "did you mean classify?"},
		{"POST", "/v1/models/double:classify", `{"signature_name": "nope", "examples": [{}]}`, 400, "nope"},
		{"POST", "/v1/models/double:classify", `{"examples": [{}]}`, 400, "tensorflow/serving/classify"},
		{"POST", "/v1/models/double:regress", `{"signature_name": "classify", "examples": [{}]}`, 400, "tensorflow/serving/regress"},
		{"POST", predict, `{"instances": [1], "inputs": [1]}`, 400, "both"},
		{"POST", predict, `{}`, 400, "neither"},
		{"POST", predict, `{"instances": 1}`, 400, "want a list"},
		{"POST", predict, `{"instances": []}`, 400, "empty"},
		{"POST", predict, `{"instances": [1, {"x": 1}]}`, 400, "instances[1]"},
		{"POST", predict, `{"instances": [{"z": 1}]}`, 400, "has the key z"},
		{"POST", predict, `{"instances": ["a"]}`, 400, `instances[0] is `},
		{"POST", predict, `{"instances": [[1], [2, 3]]}`, 400, "has 2 values, want 1"},
		{"POST", predict, `{"instances": [[[1]]]}`, 400, "shape"},
		{"POST", "/v1/models/double:predict", `{"signature_name": "regress", "instances": [{"b64": "%"}]}`, 400, "b64"},
		{"POST", "/v1/models/double:classify", `{"signature_name": "classify"}`, 400, "no key examples"},
		{"POST", "/v1/models/double:classify", `{"signature_name": "classify", "examples": []}`, 400, "empty"},
		{"POST", predict, `{"instances": [` + strings.Repeat("1,", 600) + `1]}`, 413, `"error": "the body has more than 1024 bytes`},
	} {
		code, text := rest(tt.method, tt.path, tt.text)
		if code != tt.want || !strings.Contains(text, tt.part) {
			t.Errorf("%s %s %.60s: %d %s, want %d %s", tt.method, tt.path, tt.text, code, text, tt.want, tt.part)
		}
		var fault struct{ Error string }
		if err := json.Unmarshal([]byte(text), &fault); tt.want != 200 && (err != nil || fault.Error == "") {
			t.Errorf("%s %s: the answer %s has no error", tt.method, tt.path, text)
		}
	}
}

// TestNamesOfStrangers verifies that the name of a model which is not there makes no metric, whatever the body is, and
// that a long one is cut in the message.
func TestNamesOfStrangers(t *testing.T) {
	rest := restOf(t, Options{})
	stranger := strings.Repeat("stranger", 100)
	for _, header := range [][]string{nil, {"Content-Encoding", "gzip"}} {
		for _, body := range []string{"{}", strings.Repeat(" ", 2000)} {
			code, text := rest("POST", "/v1/models/"+stranger+":predict", body, header...)
			if code != 404 || len(text) > 300 {
				t.Errorf("%d %s, want 404 and a short text", code, text)
			}
		}
	}
	if code, text := rest("POST", "/v1/models/double/labels/"+stranger+":predict", "{}"); code != 400 || len(text) > 300 {
		t.Errorf("%d %s, want 400 and a short text", code, text)
	}
	if _, page := rest("GET", "/monitoring/prometheus/metrics", ""); strings.Contains(page, stranger) || !strings.Contains(page, `model_name="",status="NOT_FOUND"`) {
		t.Error("a stranger's name is a metric")
	}
}

// TestDescribe verifies that a server without REST shows no line that asks by it.
func TestDescribe(t *testing.T) {
	m, _ := exampleModels(t)
	for server, want := range map[string]bool{"http://h:1": true, "": false} {
		if text := string(m.Describe(server, "double", "nobody")); strings.Contains(text, "curl") != want || !strings.Contains(text, "version 3  AVAILABLE") {
			t.Errorf("the server %q is described by %s", server, text)
		}
	}
}

// TestHTTPStatus verifies the status of each code.
func TestHTTPStatus(t *testing.T) {
	want := map[codes.Code]int{codes.OK: 200, codes.Canceled: 499, codes.Unknown: 500, codes.InvalidArgument: 400, codes.DeadlineExceeded: 504,
		codes.NotFound: 404, codes.AlreadyExists: 409, codes.PermissionDenied: 403, codes.ResourceExhausted: 429, codes.FailedPrecondition: 400,
		codes.Aborted: 409, codes.OutOfRange: 400, codes.Unimplemented: 501, codes.Internal: 500, codes.Unavailable: 503, codes.DataLoss: 500, codes.Unauthenticated: 401}
	for code, http := range want {
		if got := httpStatus(status.Error(code, "")); got != http {
			t.Errorf("%v has the status %d, want %d", code, got, http)
		}
	}
}

// TestRESTBodies verifies the answers that programs read: the states, the signatures and the numbers.
func TestRESTBodies(t *testing.T) {
	rest := restOf(t, Options{})
	for path, want := range map[string]string{
		"/v1/models/double": `{"model_version_status": [{"version": "3", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}]}`,
	} {
		_, text := rest("GET", path, "")
		if diff := cmp.Diff(parsed(t, want), parsed(t, text)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	if _, text := rest("POST", "/v1/models/double:predict", `{"instances": [[NaN], [-Infinity], [0.1]]}`); text != "{\n    \"predictions\": [\n        [NaN],\n        [-Infinity],\n        [0.2]\n    ]\n}\n" {
		t.Errorf("the answer is %s", text)
	}
}

// TestMetadata verifies the signatures of a model of TensorFlow Serving against its own answer.
func TestMetadata(t *testing.T) {
	const name, folder = "saved_model_half_plus_two_2_versions", "../testdata/serving/"
	want, err := os.ReadFile(folder + name + "_metadata.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDirectory(folder+name, Base{Policy: Policy{Only: []int64{123}}})
	if err != nil {
		t.Fatal(err)
	}
	cores := NewCores(Limits{Cores: 1, Batch: 4, Queue: 10, Tensor: 1 << 10})
	m, metrics := NewModels(), NewMetrics(cores)
	defer m.Close()
	NewWatcher(m, d.Bases, &Loader{Cores: cores, Metrics: metrics}, Notice{Line: func(text string) { t.Error(text) }, Loaded: func(*Version, bool) {}}).Look(t.Context())
	w := httptest.NewRecorder()
	NewREST(m, Options{Metrics: metrics}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/models/"+name+"/metadata", nil))
	if diff := cmp.Diff(parsed(t, string(want)), parsed(t, w.Body.String())); diff != "" {
		t.Error(diff)
	}
}

func parsed(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// TestRESTGzip verifies that a packed body is read, and that its size counts when it is unpacked.
func TestRESTGzip(t *testing.T) {
	rest := restOf(t, Options{})
	pack := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		io.WriteString(w, text)
		w.Close()
		return b.String()
	}
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"packed", pack(`{"inputs": [[1]]}`), 200},
		{"not packed", `{"inputs": [1]}`, 400},
		{"cut", pack(`{"inputs": [1]}`)[:20], 400},
		{"large when unpacked", pack(strings.Repeat(" ", 1<<20)), 413},
	} {
		if code, text := rest("POST", "/v1/models/double:predict", tt.text, "Content-Encoding", "gzip"); code != tt.want {
			t.Errorf("%s: %d %s, want %d", tt.name, code, text, tt.want)
		}
	}
}

// TestRESTMemory verifies that the bodies of requests in flight are bounded together, and that their memory is given
// back, also by a client that goes away in the middle of its body.
func TestRESTMemory(t *testing.T) {
	m, metrics := exampleModels(t)
	const limit = 1 << 20
	h := &handler{models: m, options: Options{MaxBody: limit, Timeout: time.Minute, Metrics: metrics}}
	send := func(ctx context.Context, body io.Reader) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/models/double:predict", body))
		return w.Code
	}
	large := strings.Repeat(" ", limit/2) + `{"inputs": [[1]]}`
	gone := io.MultiReader(strings.NewReader(large), iotest.ErrReader(errors.New("connection reset")))
	for _, tt := range []struct {
		name string
		body io.Reader
		held int64 // by others
		want int
	}{
		{"alone", strings.NewReader(large), 0, 200},
		{"beside others", strings.NewReader(large), (maxHeld - 2) * limit, 200},
		{"beside many", strings.NewReader(large), maxHeld*limit - limit/4, 503},
		{"gone", gone, 0, 400},
		{"many rows", strings.NewReader(`{"signature_name": "classify", "instances": [` + strings.Repeat("{},", maxHeld*limit/256) + "{}]}"), 0, 413},
	} {
		h.held.Store(tt.held)
		if code := send(t.Context(), tt.body); code != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, code, tt.want)
		}
		if held := h.held.Load(); held != tt.held {
			t.Errorf("%s: %d bytes are held after the answer, want %d", tt.name, held, tt.held)
		}
	}
	h.held.Store(0)
	left, leave := context.WithCancel(t.Context())
	leave()
	if code := send(left, strings.NewReader(large)); code != 499 || h.held.Load() != 0 {
		t.Errorf("a client that has left has the status %d, and %d bytes are held", code, h.held.Load())
	}
}

// TestRESTCORS verifies the answer to the question of a browser, and that answers name the origins only if they are asked to.
func TestRESTCORS(t *testing.T) {
	for _, cors := range []bool{false, true} {
		m, metrics := exampleModels(t)
		h := NewREST(m, Options{CORS: cors, MaxBody: 100, Timeout: time.Minute, Metrics: metrics})
		for origin, want := range map[string]int{"https://a.example": 200, "": 400, "null": 400} {
			r := httptest.NewRequest(http.MethodOptions, "/v1/models/double:predict", nil)
			r.Header.Set("Origin", origin)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if allowed := w.Header().Get("Access-Control-Allow-Origin"); w.Code != want || (allowed == "*") != cors || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("CORS %v, origin %q: %d with the headers %v", cors, origin, w.Code, w.Header())
			}
		}
	}
}

// TestRESTToken verifies that all but probes and the questions of browsers needs the token.
func TestRESTToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(strings.Repeat("s", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	token, err := NewToken(file, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	rest := restOf(t, Options{Token: token})
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/v2/health/ready": 200, "/": 401, "/v1/models": 401, "/monitoring/prometheus/metrics": 401, "/other": 401} {
		if code, text := rest("GET", path, ""); code != want || code == 401 && !strings.Contains(text, `"error"`) {
			t.Errorf("%s without a token: %d %s, want %d", path, code, text, want)
		}
		if code, text := rest("GET", path, "", "Authorization", "Bearer "+strings.Repeat("s", 32)); code == 401 {
			t.Errorf("%s with a token: %s", path, text)
		}
	}
	if code, _ := rest("OPTIONS", "/v1/models/double:predict", "", "Origin", "https://a.example"); code != 200 {
		t.Errorf("the question of a browser: %d, want 200", code)
	}
}

// TestRESTFault verifies that a fault of the server ends one request, with 500.
func TestRESTFault(t *testing.T) {
	m, metrics := exampleModels(t)
	v, err := m.Acquire("double", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	v.Model = nil
	h := NewREST(m, Options{MaxBody: 100, Timeout: time.Minute, Metrics: metrics})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/models/double:predict", strings.NewReader(`{"inputs": [[1]]}`)))
	if w.Code != 500 || !strings.Contains(w.Body.String(), "ends in a fault") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestNotReady verifies that a server without a version of each model, or one that ends, is alive and not ready.
func TestNotReady(t *testing.T) {
	m, metrics := exampleModels(t)
	m.Leave()
	h := NewREST(m, Options{Metrics: metrics})
	for path, want := range map[string]int{"/healthz": 200, "/v2/health/live": 200, "/readyz": 503, "/v2/health/ready": 503} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

// TestRESTColumns verifies rows of raw columns in JSON and in CSV, and that the example of a model works as it is.
func TestRESTColumns(t *testing.T) {
	m, metrics := exampleModels(t)
	v, err := m.Acquire("double", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	s := interpreter.Signature{Name: "aaa", Inputs: []interpreter.Port{{Key: "examples", Type: tfpb.DataType_DT_STRING, Shape: []int{-1}}},
		Outputs:  []interpreter.Port{{Key: "outputs", Type: tfpb.DataType_DT_FLOAT, Shape: []int{-1}}},
		Features: []interpreter.Feature{{Name: "age", Type: tfpb.DataType_DT_FLOAT, Kind: interpreter.Dense, Default: &interpreter.Tensor{Type: tfpb.DataType_DT_FLOAT, Float32: []float32{0}}}}}
	v.Model.Signatures = []interpreter.Signature{s}
	v.lanes[s.Name] = newLane(graphFunc(func(in []*interpreter.Tensor) ([]*interpreter.Tensor, error) {
		y := &interpreter.Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: in[0].Shape}
		for _, e := range in[0].Bytes {
			y.Float32 = append(y.Float32, float32(len(e)))
		}
		return []*interpreter.Tensor{y}, nil
	}), s, metrics.of(v.Name, v.Number, s))
	h := NewREST(m, Options{MaxBody: 1 << 10, Timeout: time.Minute, Metrics: metrics})
	ask := func(method, path, text, kind string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(text))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const predict, form = "/v1/models/double:predict", "application/x-www-form-urlencoded"
	if code, text := ask("POST", predict, "age\n31\n\n", "text/csv; charset=utf-8"); code != 200 || text != "record,prediction\n0,19\n" {
		t.Errorf("CSV: %d %s", code, text)
	}
	if code, text := ask("POST", predict, "agee\n31\n", "Text/CSV"); code != 400 || !strings.Contains(text, "did you mean age?") {
		t.Errorf("CSV of another column: %d %s", code, text)
	}
	code, example := ask("GET", "/v1/models/double/example", "", "")
	if code != 200 {
		t.Fatalf("no example: %s", example)
	}
	if code, text := ask("POST", predict, example, form); code != 200 {
		t.Errorf("%s: %d %s", example, code, text)
	}
	if code, text := ask("POST", predict, `{"signature_name": "aaa", "instances": [{"agee": 31}]}`, form); code != 400 || !strings.Contains(text, "instances[0] has no column agee (did you mean age?)") {
		t.Errorf("a row of another column: %d %s", code, text)
	}
}
