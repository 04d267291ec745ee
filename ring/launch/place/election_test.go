package place

import "testing"

// TestElectsAt verifies that a worker of an election listens on loopback where all workers are
// on this host, and serves no rendezvous itself.
func TestElectsAt(t *testing.T) {
	for at, listen := range map[string]string{
		"etcd://127.0.0.1:2379/x": "127.0.0.1:0", "etcds://localhost:1,127.0.0.1:2/x": "127.0.0.1:0", "etcd://a:1/x": ":0", "etcd://127.0.0.1:1,a:1/x": ":0",
	} {
		p, err := Find(func(string) string { return "" }, nil, Flags{Rank: 0, WorldSize: 2, Rendezvous: at})
		if err != nil || !p.Elects() || p.Serve || p.AtRank0 || p.Listen != listen {
			t.Errorf("%s: %+v, %v, want to listen on %s", at, p, err, listen)
		}
	}
}
