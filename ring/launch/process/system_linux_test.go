package process

import "testing"

// TestInGroup verifies which lines of proc(5) are of living processes of the group.
func TestInGroup(t *testing.T) {
	tests := []struct {
		name, stat string
		want       bool
	}{
		{"state=running", "70 (prog) R 1 42 42 0 -1", true},
		{"state=zombie", "70 (prog) Z 1 42 42 0 -1", false},
		{"group=other", "42 (prog) R 42 7 42 0 -1", false},
		{"name=strange", "70 (a) Z 1 7 (b) S 1 42 42", true},
		{"stat=cut", "70 (prog) R 1", false},
		{"stat=empty", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := inGroup([]byte(tt.stat), 42); got != tt.want {
				t.Errorf("inGroup(%q, 42) = %v, want %v", tt.stat, got, tt.want)
			}
		})
	}
}
