package place

import (
	"fmt"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

// TestRendezvousAddress verifies where a rendezvous without a worker listens, by its
// --listen and its token.
func TestRendezvousAddress(t *testing.T) {
	secret := token.New()
	tests := []struct {
		listen string
		token  token.Token
		want   string // "": exitcode.Usage
	}{
		{"", secret, ":29400"},
		{"", token.Token{}, "127.0.0.1:29400"},
		{"10.0.0.7", secret, "10.0.0.7:29400"},
		{"::1", secret, "[::1]:29400"},
		{"node1", secret, "node1:29400"},
		{":7000", token.Token{}, ":7000"},
		{"127.0.0.1:0", token.Token{}, "127.0.0.1:0"},
		{"[::1]:7000-7100", secret, "[::1]:7000-7100"},
		{"29400", secret, ""},
		{"node1:http", secret, ""},
		{"node1:7100-7000", secret, ""},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("listen=%s/token=%v", tt.listen, tt.token.Set()), func(t *testing.T) {
			got, err := RendezvousAddress(tt.listen, tt.token.Set())
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Fatalf("address %q, %v, want %q", got, err, tt.want)
			}
			if err != nil && (exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), fmt.Sprintf("%q", tt.listen))) {
				t.Errorf("error %v (code %d), want exitcode.Usage with the option", err, exitcode.Of(err))
			}
		})
	}
}
