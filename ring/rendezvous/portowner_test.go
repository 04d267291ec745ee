package rendezvous

import (
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/port"
)

// TestWorkersPort verifies that Join and DialStatus name the owner of the port if a worker listens
// at the address, and that its answer cannot harm a terminal.
func TestWorkersPort(t *testing.T) {
	tests := []struct {
		name  string
		owner port.Owner
		want  string // between "is the port of " and ", not of a rendezvous"
	}{
		{"rank=3", port.Owner{JobID: "x", Rank: 3}, "rank 3 of job x"},
		{"rank=unknown", port.Owner{JobID: "x", Rank: -1}, "a worker of job x"},
		{"job=unknown", port.Owner{Rank: 3}, "rank 3 of a job"},
		{"job=hostile", port.Owner{JobID: "a\x1b[2J\nb\xff", Rank: 3}, "rank 3 of job a?[2J?b?"},
		{"job=long", port.Owner{JobID: strings.Repeat("a", 256), Rank: 3}, "rank 3 of job " + strings.Repeat("a", 77) + "…"},
		{"lies=rendezvous", port.Owner{Rendezvous: true, JobID: "x", Rank: -1}, ""},
	}
	p, err := port.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.GRPC().Close() // as on a worker without the rendezvous
	at := p.Addr()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.SetOwner(func() port.Owner { return tt.owner })
			want := "accepted, but not our protocol"
			if tt.want != "" {
				want = at + " is the port of " + tt.want + ", not of a rendezvous"
			}
			_, err := Join(t.Context(), Options{Addr: at, Self: Self(":1"), WorldSize: 2, Rank: 1, StartTimeout: 1})
			if err == nil || !strings.HasSuffix(err.Error(), want) || exitcode.Of(err) != exitcode.Retry {
				t.Errorf("Join returns %v, want %q and 138", err, want)
			}
			_, err = DialStatus(t.Context(), StatusOptions{Addr: at})
			if err == nil || !strings.Contains(err.Error(), "rendezvous at "+at+" not reached: "+want) || exitcode.Of(err) != exitcode.Retry {
				t.Errorf("DialStatus returns %v, want %q and 138", err, want)
			}
		})
	}
}
