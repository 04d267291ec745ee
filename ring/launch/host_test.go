package launch

import (
	"sync/atomic"
	"testing"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/hosts"
)

// TestLoginReceiver verifies that a login cannot end ranks of other hosts, nor write in
// their name.
func TestLoginReceiver(t *testing.T) {
	l := &launcher{
		config: &Config{Hosts: []hosts.Host{{Name: "a"}, {Name: "b"}}}, hostOfRank: make([]atomic.Int32, 2),
		events: make(chan event, 1),
	}
	l.hostOfRank[1].Store(1)
	for _, tt := range []struct {
		name  string
		frame frame
		sane  bool
	}{
		{"rank=its own", frame{kindCleared, 1, []byte("{}")}, true},
		{"rank=another host's", frame{kindCleared, 0, []byte("{}")}, false},
		{"rank=none", frame{kindCleared, 2, []byte("{}")}, false},
		{"ended=nonsense", frame{kindEnded, 1, []byte("x")}, false},
		{"fault=nonsense", frame{kindFault, 1, []byte("x")}, false},
		{"kind=an order", frame{kindStart, 1, nil}, false},
		{"kind=hello again", frameOf(kindHello, 1, hello{}), false},
	} {
		err := loginReceiver{l, newLogin(target{1, "b", 1}, []string{"true"}, nil), newUnacked()}.handleFrame(tt.frame)
		if (err == nil) != tt.sane || err != nil && exitcode.Of(err) != exitcode.Protocol {
			t.Errorf("%s: error %v, want one with code 76: %v", tt.name, err, !tt.sane)
		}
		if told := len(l.events); told != 0 && !tt.sane {
			t.Errorf("%s: the launcher is told of it", tt.name)
		}
		for len(l.events) > 0 {
			<-l.events
		}
	}
}
