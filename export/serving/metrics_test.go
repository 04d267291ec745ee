package serving

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
)

// TestMetrics verifies the names, labels and values of the metrics after requests, and that those of a
// version go with it.
func TestMetrics(t *testing.T) {
	m, metrics := exampleModels(t)
	s := &service{models: m, metrics: metrics}
	ask := func(name string) {
		s.Predict(t.Context(), &servingpb.PredictRequest{ModelSpec: &servingpb.ModelSpec{Name: name}, Inputs: x(1, 2, 3)})
	}
	ask("double")
	ask("no model")
	in := &servingpb.Input{Kind: &servingpb.Input_ExampleList{ExampleList: &servingpb.ExampleList{Examples: []*tfpb.Example{{}, {}}}}}
	s.Classify(t.Context(), &servingpb.ClassificationRequest{ModelSpec: spec("classify"), Input: in})
	s.Classify(t.Context(), &servingpb.ClassificationRequest{ModelSpec: spec("regress"), Input: in})
	v, err := m.Acquire("double", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	v.Took, v.Model.Mapped = 2*time.Second, 4096
	metrics.loaded(v)
	metrics.warmed("/models/double/3", time.Millisecond, status.Error(codes.DataLoss, ""))
	page := func() string {
		w := httptest.NewRecorder()
		metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		return w.Body.String()
	}
	before := page()
	for _, line := range []string{
		`:tensorflow:serving:request_count{model_name="double",status="OK"} 2`,
		`:tensorflow:serving:request_count{model_name="double",status="INVALID_ARGUMENT"} 1`,
		`:tensorflow:serving:request_count{model_name="",status="NOT_FOUND"} 1`,
		`:tensorflow:serving:request_latency_count{API="Predict",entrypoint="GRPC",model_name="double"} 1`,
		`:tensorflow:serving:request_latency_bucket{API="Classify",entrypoint="GRPC",model_name="double",le="10"} 0`,
		`:tensorflow:serving:runtime_latency_count{API="Classify",model_name="double",runtime="ringtrain"} 1`,
		`:tensorflow:serving:request_example_count_total{model="double"} 2`,
		`:tensorflow:serving:request_example_counts_sum{model="double"} 2`,
		`:tensorflow:serving:batching_session:queuing_latency_count{thread_pool_name="double"} 2`,
		`:tensorflow:serving:model_warmup_latency_count{model_path="/models/double/3",status="DATA_LOSS"} 1`,
		`ringtrain_serving_batch_records_sum{model_name="double",signature="serving_default",version="3"} 3`,
		`ringtrain_serving_queue_seconds_count{model_name="double",signature="classify",version="3"} 1`,
		`ringtrain_serving_load_seconds{model_name="double",version="3"} 2`,
		`ringtrain_serving_mapped_bytes{model_name="double",version="3"} 4096`,
		`ringtrain_serving_waiting_requests 0`,
		`process_start_time_seconds`,
	} {
		if !strings.Contains(before, line) {
			t.Errorf("the page lacks %s", line)
		}
	}
	metrics.dropped(v)
	if after := page(); strings.Contains(after, `version="3"`) || !strings.Contains(after, `request_count{model_name="double"`) {
		t.Error("a version that is gone keeps its metrics, or takes those of its model along")
	}
}
