package serving

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
)

// graphFunc is a graph that a function computes.
type graphFunc func(inputs []*interpreter.Tensor) ([]*interpreter.Tensor, error)

func (f graphFunc) Run(inputs []*interpreter.Tensor) ([]*interpreter.Tensor, error) { return f(inputs) }

// exampleModels returns models with one version, 3 of "double": serving_default doubles x, classify
// gives each example its length as a class, and regress its length.
func exampleModels(t *testing.T) (*Models, *Metrics) {
	t.Helper()
	c := NewCores(Limits{Cores: 1, Batch: 4, Queue: 10, Tensor: 1 << 10})
	m := NewMetrics(c)
	v := (&doubler{}).version(c)
	v.Number = 3
	v.lanes[ask.DefaultSignature] = newLane(&doubler{}, v.Model.Signatures[0], m.of(v.Name, v.Number, v.Model.Signatures[0]))
	port := func(key string, t tfpb.DataType, shape ...int) interpreter.Port {
		return interpreter.Port{Key: key, Type: t, Shape: shape}
	}
	add := func(s interpreter.Signature, by graphFunc) {
		v.Model.Signatures = append(v.Model.Signatures, s)
		v.lanes[s.Name] = newLane(by, s, m.of(v.Name, v.Number, s))
	}
	examples := []interpreter.Port{port("inputs", tfpb.DataType_DT_STRING, -1)}
	add(interpreter.Signature{Name: "classify", Method: classify.name, Inputs: examples, Features: []interpreter.Feature{{}},
		Outputs: []interpreter.Port{port("classes", tfpb.DataType_DT_STRING, -1, 2), port("scores", tfpb.DataType_DT_FLOAT, -1, 2)}},
		func(in []*interpreter.Tensor) ([]*interpreter.Tensor, error) {
			n := in[0].Shape[0]
			classes := &interpreter.Tensor{Type: tfpb.DataType_DT_STRING, Shape: []int{n, 2}}
			scores := &interpreter.Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{n, 2}}
			for _, e := range in[0].Bytes {
				classes.Bytes = append(classes.Bytes, []byte("length"), []byte("half"))
				scores.Float32 = append(scores.Float32, float32(len(e)), float32(len(e))/2)
			}
			return []*interpreter.Tensor{classes, scores}, nil
		})
	add(interpreter.Signature{Name: "regress", Method: regress.name, Inputs: examples, Features: []interpreter.Feature{{}}, Outputs: []interpreter.Port{port("outputs", tfpb.DataType_DT_FLOAT, -1, 1)}},
		func(in []*interpreter.Tensor) ([]*interpreter.Tensor, error) {
			y := &interpreter.Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{in[0].Shape[0], 1}}
			for _, e := range in[0].Bytes {
				y.Float32 = append(y.Float32, float32(len(e)))
			}
			return []*interpreter.Tensor{y}, nil
		})
	all := NewModels()
	all.describe([]Base{{Name: v.Name, Labels: map[string]int64{"stable": 3}}})
	all.set(v.Name, State{Number: v.Number, Phase: servingpb.ModelVersionStatus_AVAILABLE, answers: v})
	return all, m
}

// dial serves models and returns a connection to the server.
func dial(t *testing.T, m *Models, o Options, wrap func(net.Listener) net.Listener, creds credentials.TransportCredentials, more ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	lis := bufconn.Listen(1 << 16)
	s := NewGRPC(m, o)
	go s.Serve(wrap(lis))
	t.Cleanup(s.Stop)
	more = append(more, grpc.WithTransportCredentials(creds), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	conn, err := grpc.NewClient("passthrough:///localhost", more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func plain(l net.Listener) net.Listener { return l }

// dialPlain serves the models of the examples in clear.
func dialPlain(t *testing.T) (*grpc.ClientConn, *Metrics) {
	t.Helper()
	m, metrics := exampleModels(t)
	return dial(t, m, Options{MaxBody: 1 << 20, Timeout: time.Minute, Metrics: metrics}, plain, insecure.NewCredentials()), metrics
}

func spec(signature string) *servingpb.ModelSpec {
	return &servingpb.ModelSpec{Name: "double", SignatureName: signature}
}

// x returns the inputs of serving_default.
func x(values ...float32) map[string]*tfpb.TensorProto {
	return map[string]*tfpb.TensorProto{"x": numbers(values...)[0].Proto()}
}

// TestPredict verifies the answer of Predict, its form and its model_spec, for both forms of tensors
// and for each way to name a version, of requests that are compressed.
func TestPredict(t *testing.T) {
	conn, _ := dialPlain(t)
	client := servingpb.NewPredictionServiceClient(conn)
	bytesOf := x(0, 0)
	bytesOf["x"].FloatVal, bytesOf["x"].TensorContent = nil, []byte("\x00\x00\x80\x3f\x00\x00\x00\x40")
	want := &servingpb.PredictResponse{
		ModelSpec: &servingpb.ModelSpec{Name: "double", SignatureName: "serving_default", VersionChoice: &servingpb.ModelSpec_Version{Version: wrapperspb.Int64(3)}},
		Outputs:   map[string]*tfpb.TensorProto{"y": numbers(2, 4)[0].Proto()},
	}
	numbered, labelled := spec(""), spec("serving_default")
	numbered.VersionChoice = &servingpb.ModelSpec_Version{Version: wrapperspb.Int64(3)}
	labelled.VersionChoice = &servingpb.ModelSpec_VersionLabel{VersionLabel: "stable"}
	for _, r := range []*servingpb.PredictRequest{
		{ModelSpec: spec(""), Inputs: x(1, 2)},
		{ModelSpec: numbered, Inputs: bytesOf},
		{ModelSpec: labelled, Inputs: x(1, 2), OutputFilter: []string{"y"}},
	} {
		if got, err := client.Predict(t.Context(), r, grpc.UseCompressor("gzip")); err != nil || !proto.Equal(got, want) {
			t.Errorf("Predict %v: %v, %v, want %v", r, got, err, want)
		}
	}
}

// TestClassifyAndRegress verifies the results for a list of examples, and that the features of a
// context come before those of each example.
func TestClassifyAndRegress(t *testing.T) {
	conn, _ := dialPlain(t)
	client := servingpb.NewPredictionServiceClient(conn)
	one := &tfpb.Example{Features: &tfpb.Features{Feature: map[string]*tfpb.Feature{"a": {Kind: &tfpb.Feature_Int64List{Int64List: &tfpb.Int64List{Value: []int64{1}}}}}}}
	size := float32(proto.Size(one))
	list := &servingpb.Input{Kind: &servingpb.Input_ExampleList{ExampleList: &servingpb.ExampleList{Examples: []*tfpb.Example{one, {}}}}}
	context := &servingpb.Input{Kind: &servingpb.Input_ExampleListWithContext{ExampleListWithContext: &servingpb.ExampleListWithContext{Examples: []*tfpb.Example{one, {}}, Context: one}}}

	classes, err := client.Classify(t.Context(), &servingpb.ClassificationRequest{ModelSpec: spec("classify"), Input: list})
	if err != nil {
		t.Fatal(err)
	}
	first := classes.GetResult().GetClassifications()[0].GetClasses()
	if len(first) != 2 || first[0].GetLabel() != "length" || first[1].GetLabel() != "half" || first[0].GetScore() != size || first[1].GetScore() != size/2 {
		t.Errorf("classes %v, want length %v and half %v", first, size, size/2)
	}
	if n := len(classes.GetResult().GetClassifications()); n != 2 || classes.GetModelSpec().GetVersion().GetValue() != 3 {
		t.Errorf("%d results of %v, want 2 of version 3", n, classes.GetModelSpec())
	}
	for in, want := range map[*servingpb.Input][]float32{list: {size, 0}, context: {2 * size, size}} {
		answer, err := client.Regress(t.Context(), &servingpb.RegressionRequest{ModelSpec: spec("regress"), Input: in})
		var got []float32
		for _, r := range answer.GetResult().GetRegressions() {
			got = append(got, r.GetValue())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Regress %v: %v, %v, want %v", in, got, err, want)
		}
	}
}

// TestGRPCStatuses verifies the code of each bad request, which are those of TensorFlow Serving, and
// that the text names what is wrong.
func TestGRPCStatuses(t *testing.T) {
	conn, _ := dialPlain(t)
	p, m := servingpb.NewPredictionServiceClient(conn), servingpb.NewModelServiceClient(conn)
	predict := func(change func(r *servingpb.PredictRequest)) func(context.Context) error {
		return func(ctx context.Context) error {
			r := &servingpb.PredictRequest{ModelSpec: spec(""), Inputs: x(1)}
			change(r)
			_, err := p.Predict(ctx, r)
			return err
		}
	}
	classify := func(signature string, in *servingpb.Input) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := p.Classify(ctx, &servingpb.ClassificationRequest{ModelSpec: spec(signature), Input: in})
			return err
		}
	}
	for _, tt := range []struct {
		name string
		call func(context.Context) error
		code codes.Code
		text string
	}{
		{"no spec", predict(func(r *servingpb.PredictRequest) { r.ModelSpec = nil }), codes.InvalidArgument, "no model_spec"},
		{"unknown model", predict(func(r *servingpb.PredictRequest) { r.ModelSpec.Name = "x" }), codes.NotFound, "no model"},
		{"unknown version", predict(func(r *servingpb.PredictRequest) {
			r.ModelSpec.VersionChoice = &servingpb.ModelSpec_Version{Version: wrapperspb.Int64(4)}
		}), codes.NotFound, "no version 4"},
		{"unknown label", predict(func(r *servingpb.PredictRequest) {
			r.ModelSpec.VersionChoice = &servingpb.ModelSpec_VersionLabel{VersionLabel: "beta"}
		}), codes.InvalidArgument, `"beta"`},
		{"unknown signature", predict(func(r *servingpb.PredictRequest) { r.ModelSpec.SignatureName = "regres" }), codes.FailedPrecondition, "did you mean regress?"},
		{"no input", predict(func(r *servingpb.PredictRequest) { r.Inputs = nil }), codes.InvalidArgument, `no input "x"`},
		{"another input", predict(func(r *servingpb.PredictRequest) { r.Inputs["z"] = r.Inputs["x"] }), codes.InvalidArgument, `no input "z"`},
		{"type that is not known", predict(func(r *servingpb.PredictRequest) { r.Inputs["x"].Dtype = tfpb.DataType_DT_HALF }), codes.InvalidArgument, "type DT_HALF is not known here"},
		{"the graph refuses", predict(func(r *servingpb.PredictRequest) { r.Inputs["x"].FloatVal[0] = -1 }), codes.InvalidArgument, "out of range"},
		{"too large", predict(func(r *servingpb.PredictRequest) { r.Inputs["x"].TensorShape.Dim[0].Size = 1 << 40 }), codes.InvalidArgument, "more than 1024 bytes"},
		{"output_filter", predict(func(r *servingpb.PredictRequest) { r.OutputFilter = []string{"z"} }), codes.InvalidArgument, `output is "z"`},
		{"output_filter twice", predict(func(r *servingpb.PredictRequest) { r.OutputFilter = []string{"y", "y"} }), codes.InvalidArgument, "twice"},
		{"classify: unknown signature", classify("x", nil), codes.InvalidArgument, `signature is "x"`},
		{"classify: another method", classify("regress", nil), codes.InvalidArgument, "want one of the method tensorflow/serving/classify"},
		{"classify: no examples", classify("classify", nil), codes.InvalidArgument, "no examples"},
		{"classify: too many examples", classify("classify", &servingpb.Input{Kind: &servingpb.Input_ExampleList{ExampleList: &servingpb.ExampleList{Examples: make([]*tfpb.Example, 43)}}}), codes.InvalidArgument, "43 examples, want 42 at most"},
		{"metadata: no field", func(ctx context.Context) error {
			_, err := p.GetModelMetadata(ctx, &servingpb.GetModelMetadataRequest{ModelSpec: spec("")})
			return err
		}, codes.InvalidArgument, "no metadata_field"},
		{"metadata: another field", func(ctx context.Context) error {
			_, err := p.GetModelMetadata(ctx, &servingpb.GetModelMetadataRequest{ModelSpec: spec(""), MetadataField: []string{"x"}})
			return err
		}, codes.InvalidArgument, `"x", want signature_def`},
		{"status of an unknown model", func(ctx context.Context) error {
			_, err := m.GetModelStatus(ctx, &servingpb.GetModelStatusRequest{ModelSpec: &servingpb.ModelSpec{Name: "x"}})
			return err
		}, codes.NotFound, "no model"},
		{"multi inference", func(ctx context.Context) error {
			_, err := p.MultiInference(ctx, &servingpb.MultiInferenceRequest{})
			return err
		}, codes.Unimplemented, "MultiInference"},
		{"reload", func(ctx context.Context) error {
			_, err := m.HandleReloadConfigRequest(ctx, &servingpb.ReloadConfigRequest{})
			return err
		}, codes.Unimplemented, "HandleReloadConfigRequest"},
		{"body", predict(func(r *servingpb.PredictRequest) { r.ModelSpec.SignatureName = strings.Repeat("x", 1<<20) }), codes.ResourceExhausted, "larger than max"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.call(t.Context())
			if status.Code(err) != tt.code || !strings.Contains(status.Convert(err).Message(), tt.text) {
				t.Errorf("%v, want %v with %q", err, tt.code, tt.text)
			}
		})
	}
}

// TestGRPCAbout verifies what a server tells of its models and of itself: states, signatures, health
// and services.
func TestGRPCAbout(t *testing.T) {
	m, metrics := exampleModels(t)
	conn := dial(t, m, Options{MaxBody: 1 << 20, Timeout: time.Minute, Metrics: metrics}, plain, insecure.NewCredentials())
	m.set("double", State{Number: 5, Phase: servingpb.ModelVersionStatus_END, Err: status.Error(codes.DataLoss, "cut")})
	states, err := servingpb.NewModelServiceClient(conn).GetModelStatus(t.Context(), &servingpb.GetModelStatusRequest{ModelSpec: spec("")})
	if err != nil {
		t.Fatal(err)
	}
	want := &servingpb.GetModelStatusResponse{ModelVersionStatus: []*servingpb.ModelVersionStatus{
		{Version: 5, State: servingpb.ModelVersionStatus_END, Status: &servingpb.StatusProto{ErrorCode: servingpb.Code_DATA_LOSS, ErrorMessage: "cut"}},
		{Version: 3, State: servingpb.ModelVersionStatus_AVAILABLE, Status: &servingpb.StatusProto{}},
	}}
	if !proto.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}

	about, err := servingpb.NewPredictionServiceClient(conn).GetModelMetadata(t.Context(), &servingpb.GetModelMetadataRequest{ModelSpec: spec(""), MetadataField: []string{"signature_def"}})
	if err != nil {
		t.Fatal(err)
	}
	all := about.GetMetadata()["signature_def"]
	if all.GetTypeUrl() != "type.googleapis.com/tensorflow.serving.SignatureDefMap" || about.GetModelSpec().GetVersion().GetValue() != 3 {
		t.Errorf("metadata %v", about)
	}

	probe := func() grpc_health_v1.HealthCheckResponse_ServingStatus {
		answer, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "tensorflow.serving.PredictionService"})
		if err != nil {
			t.Error(err)
		}
		return answer.GetStatus()
	}
	if got := probe(); got != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("health is %v, want SERVING", got)
	}
	m.Leave()
	if got := probe(); got != grpc_health_v1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health of a server that ends is %v, want NOT_SERVING", got)
	}

	stream, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	listed, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range listed.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	for _, name := range []string{"tensorflow.serving.PredictionService", "tensorflow.serving.ModelService", "grpc.health.v1.Health"} {
		if !slices.Contains(names, name) {
			t.Errorf("services %v, want %s among them", names, name)
		}
	}
}

// TestSlowClient verifies that a request whose body does not arrive ends by the limit of requests.
func TestSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _ := dialPlain(t)
		began := time.Now()
		stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, servingpb.PredictionService_Predict_FullMethodName)
		if err != nil {
			t.Fatal(err)
		}
		err = stream.RecvMsg(&servingpb.PredictResponse{})
		if took := time.Since(began); status.Code(err) != codes.DeadlineExceeded || took != time.Minute {
			t.Errorf("after %v: %v, want DEADLINE_EXCEEDED after a minute", took, err)
		}
	})
}

// TestFaultOfOneRequest verifies that a fault in the answer of one request is the answer INTERNAL.
func TestFaultOfOneRequest(t *testing.T) {
	_, err := newBodies(1, time.Minute).answer(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: "/service/Call"}, func(context.Context, any) (any, error) { panic("a fault") })
	if status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "/service/Call ends in a fault: a fault") {
		t.Errorf("%v, want INTERNAL with the method and the fault", err)
	}
}
