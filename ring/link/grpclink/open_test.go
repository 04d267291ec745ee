package grpclink

import (
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// TestOtherServices verifies that the protobuf services of the same server work, and that
// the server refuses long messages to them.
func TestOtherServices(t *testing.T) {
	conn, err := grpc.NewClient((&network{}).Listen(t, 1)[0], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := healthpb.NewHealthClient(conn)
	got, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || got.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health is %v, %v, want SERVING", got, err)
	}
	_, err = client.Check(t.Context(), &healthpb.HealthCheckRequest{Service: strings.Repeat("x", 2*maxMessageBytes)})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("error %v, want ResourceExhausted", err)
	}
}
