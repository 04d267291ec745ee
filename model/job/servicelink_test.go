package job

import (
	"strings"
	"testing"
)

// TestServiceLinks verifies that the variables of Kubernetes for Services named ringtrain
// and ringtrain-rendezvous are ignored, and that a misspelt key is still a fault.
func TestServiceLinks(t *testing.T) {
	links := []string{
		"RINGTRAIN_SERVICE_HOST=10.0.0.7", "RINGTRAIN_SERVICE_PORT=29400", "RINGTRAIN_SERVICE_PORT_RING=29400",
		"RINGTRAIN_PORT=tcp://10.0.0.7:29400", "RINGTRAIN_PORT_29400_TCP=tcp://10.0.0.7:29400",
		"RINGTRAIN_PORT_29400_TCP_PROTO=tcp", "RINGTRAIN_PORT_29400_TCP_PORT=29400", "RINGTRAIN_PORT_29400_TCP_ADDR=10.0.0.7",
		"RINGTRAIN_RENDEZVOUS_SERVICE_HOST=10.0.0.8", "RINGTRAIN_RENDEZVOUS_SERVICE_PORT=29400", "RINGTRAIN_RENDEZVOUS_SERVICE_PORT_GRPC=29400",
		"RINGTRAIN_RENDEZVOUS_PORT=tcp://10.0.0.8:29400", "RINGTRAIN_RENDEZVOUS_PORT_29400_TCP=tcp://10.0.0.8:29400",
		"RINGTRAIN_RENDEZVOUS_PORT_53_UDP_PROTO=udp",
	}
	if _, err := Load("linear", links, nil); err != nil {
		t.Errorf("service links: %v", err)
	}
	for _, wrong := range []string{
		"RINGTRAIN_INPUT_BATHC=5", "RINGTRAIN_PORT=29400", "RINGTRAIN_SERVICE_HOST", "RINGTRAIN_X_SERVICE_HOST=", "RINGTRAIN_PORT_29400_TCP_PROTO=x",
	} {
		if _, err := Load("linear", []string{wrong}, nil); err == nil || !strings.Contains(err.Error(), "RINGTRAIN_") {
			t.Errorf("%s: error %v, want one that names it", wrong, err)
		}
	}
}
