package serving

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/types/known/anypb"

	"ringtrain/export/serving/servingpb"
	"ringtrain/ring/phrase"
)

// maxStreams bounds the requests in flight of one connection.
const maxStreams = 1024

// The times that protect a server from connections without a purpose.
const (
	handshakeTime = 10 * time.Second // to send the first bytes
	pingTime      = 2 * time.Minute  // of silence, then the other side must answer
	minPing       = 10 * time.Second // between the pings of a client
)

// NewGRPC returns a server of TensorFlow Serving's services, of grpc.health.v1 and of reflection.
// MultiInference and HandleReloadConfigRequest answer UNIMPLEMENTED.
func NewGRPC(m *Models, o Options) *grpc.Server {
	large := newBodies(o.MaxBody, o.Timeout)
	s := grpc.NewServer(
		grpc.MaxRecvMsgSize(o.MaxBody), grpc.MaxConcurrentStreams(maxStreams), grpc.ConnectionTimeout(handshakeTime),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingTime}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		grpc.InTapHandle(o.admit), grpc.UnaryInterceptor(large.answer), grpc.ForceServerCodecV2(large),
	)
	all := &service{models: m, metrics: o.Metrics}
	servingpb.RegisterPredictionServiceServer(s, all)
	servingpb.RegisterModelServiceServer(s, all)
	grpc_health_v1.RegisterHealthServer(s, health{models: m})
	reflection.Register(s)
	return s
}

// admit decides about a call before its body is read. The time for the answer begins here, so that a
// client which sends a byte a second ends by it, too.
func (o Options) admit(ctx context.Context, call *tap.Info) (context.Context, error) {
	if err := o.Token.check(call.FullMethodName, call.Header.Get("authorization")); err != nil {
		return nil, err
	}
	switch call.FullMethodName {
	case servingpb.PredictionService_MultiInference_FullMethodName, servingpb.ModelService_HandleReloadConfigRequest_FullMethodName:
		return nil, status.Errorf(codes.Unimplemented, "%s is not answered here", call.FullMethodName)
	}
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	context.AfterFunc(ctx, cancel)
	return limited, nil
}

// unbroken makes a fault of one request its error: the others go on. It is deferred.
func unbroken(what string, err *error) {
	if fault := recover(); fault != nil {
		*err = status.Errorf(codes.Internal, "%s ends in a fault: %v", what, fault)
	}
}

// service answers TensorFlow Serving's services.
type service struct {
	servingpb.UnimplementedPredictionServiceServer
	servingpb.UnimplementedModelServiceServer
	models  *Models
	metrics *Metrics
}

func (s *service) Predict(ctx context.Context, r *servingpb.PredictRequest) (*servingpb.PredictResponse, error) {
	return answered(ctx, s, "Predict", r, (*Version).Predict)
}

func (s *service) Classify(ctx context.Context, r *servingpb.ClassificationRequest) (*servingpb.ClassificationResponse, error) {
	return answered(ctx, s, "Classify", r, (*Version).Classify)
}

func (s *service) Regress(ctx context.Context, r *servingpb.RegressionRequest) (*servingpb.RegressionResponse, error) {
	return answered(ctx, s, "Regress", r, (*Version).Regress)
}

// answered answers a request by the version that it names, and counts it.
func answered[Q interface{ GetModelSpec() *servingpb.ModelSpec }, A any](ctx context.Context, s *service, api string, r Q, by func(*Version, context.Context, Q) (A, error)) (a A, err error) {
	defer func(began time.Time) {
		s.metrics.answered(r.GetModelSpec().GetName(), api, "GRPC", began, err)
	}(time.Now())
	v, err := s.acquire(r.GetModelSpec())
	if err != nil {
		return a, err
	}
	defer v.Release()
	return by(v, ctx, r)
}

// acquire returns the version that a request names. The caller releases it.
func (s *service) acquire(spec *servingpb.ModelSpec) (*Version, error) {
	if spec == nil {
		return nil, errNoSpec
	}
	return s.models.Acquire(spec.GetName(), choice(spec))
}

// errNoSpec reports a request that names no model.
var errNoSpec = status.Error(codes.InvalidArgument, "the request has no model_spec, want one with the name of a model")

// choice returns the version that a specification asks for.
func choice(spec *servingpb.ModelSpec) Choice {
	c := Choice{Label: spec.GetVersionLabel()}
	if v := spec.GetVersion(); v != nil {
		c.Number = &v.Value
	}
	return c
}

// GetModelMetadata returns the signatures of a version as its file has them.
func (s *service) GetModelMetadata(_ context.Context, r *servingpb.GetModelMetadataRequest) (*servingpb.GetModelMetadataResponse, error) {
	const field = "signature_def"
	if len(r.GetMetadataField()) == 0 {
		return nil, status.Errorf(codes.InvalidArgument, "the request has no metadata_field, want %s", field)
	}
	for _, f := range r.GetMetadataField() {
		if f != field {
			return nil, status.Errorf(codes.InvalidArgument, "metadata_field is %s, want %s", phrase.Quote(f), field)
		}
	}
	v, err := s.acquire(r.GetModelSpec())
	if err != nil {
		return nil, err
	}
	defer v.Release()
	all, err := anypb.New(signatureDefs(v))
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &servingpb.GetModelMetadataResponse{ModelSpec: v.spec(""), Metadata: map[string]*anypb.Any{field: all}}, nil
}

func signatureDefs(v *Version) *servingpb.SignatureDefMap {
	return &servingpb.SignatureDefMap{SignatureDef: v.Model.SignatureDefs()}
}

// GetModelStatus returns the states of the versions that were ever seen, or of one of them.
func (s *service) GetModelStatus(_ context.Context, r *servingpb.GetModelStatusRequest) (*servingpb.GetModelStatusResponse, error) {
	if r.GetModelSpec() == nil {
		return nil, errNoSpec
	}
	return modelStatus(s.models, r.GetModelSpec().GetName(), choice(r.GetModelSpec()))
}

func modelStatus(m *Models, name string, want Choice) (*servingpb.GetModelStatusResponse, error) {
	states, err := m.Status(name, want)
	if err != nil {
		return nil, err
	}
	if len(states) == 0 {
		return nil, status.Errorf(codes.NotFound, "model %s never had a version", name)
	}
	all := &servingpb.GetModelStatusResponse{}
	for _, s := range states {
		told := status.Convert(s.Err)
		all.ModelVersionStatus = append(all.ModelVersionStatus, &servingpb.ModelVersionStatus{
			Version: s.Number,
			State:   s.Phase,
			Status:  &servingpb.StatusProto{ErrorCode: servingpb.Code(told.Code()), ErrorMessage: told.Message()},
		})
	}
	return all, nil
}

// health answers probes: the server serves when each model has a version. Clients that watch see
// UNIMPLEMENTED, which means that they need not.
type health struct {
	grpc_health_v1.UnimplementedHealthServer
	models *Models
}

func (h health) Check(_ context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	switch r.GetService() {
	case "", servingpb.PredictionService_ServiceDesc.ServiceName, servingpb.ModelService_ServiceDesc.ServiceName:
	default:
		return nil, status.Errorf(codes.NotFound, "there is no service %s", phrase.Quote(r.GetService()))
	}
	if h.models.Ready() {
		return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_NOT_SERVING}, nil
}
