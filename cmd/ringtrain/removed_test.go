package main

import (
	"strings"
	"testing"
)

// TestRemovedWords verifies that a word of an earlier version ends a command with 64 and the text
// that says what to do, wherever the word may stand.
func TestRemovedWords(t *testing.T) {
	const etcd = "etcd:// is gone: give --rendezvous HOST:PORT, a name that comes back (a Service, a host): " +
		"a rendezvous started again at the same address is brought up to date by its workers (docs/migrate.md#etcd)"
	at := "etcd://127.0.0.1:2379/jobs"
	for _, tt := range []struct {
		environ []string
		args    []string
		want    string
	}{
		{nil, []string{"rendezvous", "--journal", "FILE"}, "--journal is gone: no journal is needed: start the rendezvous again at the same address, " +
			"its workers bring it up to date (docs/migrate.md#journal)"},
		{nil, []string{"rendezvous", "--many"}, "--many is gone: a rendezvous serves one job: start one for each, on a port of its own"},
		{nil, []string{"train", "linear", "--world-size", "2", "--rank", "0", "--rendezvous", at}, "--rendezvous: " + etcd},
		{nil, []string{"train", "linear", "--rendezvous", at}, "--rendezvous: " + etcd},
		{[]string{"RINGTRAIN_RENDEZVOUS=" + at}, []string{"train", "linear"}, "RINGTRAIN_RENDEZVOUS: " + etcd},
		{nil, []string{"doctor", "--world-size", "2", "--rank", "0", "--rendezvous", at}, "--rendezvous: " + etcd},
		{nil, []string{"status", at}, etcd},
		{nil, []string{"bench", "allreduce", "--tune"}, "--tune is gone: "},
		{nil, []string{"train", "linear", "--streams", "2"}, "--streams is gone: "},
		{[]string{"RINGTRAIN_ETCD_USER=u"}, []string{"train", "linear"}, "RINGTRAIN_ETCD_USER is gone: unset it"},
	} {
		t.Run(strings.Join(append(tt.environ, tt.args...), " "), func(t *testing.T) {
			if e := newBox(t).with(tt.environ...).must(64, tt.args...); !strings.Contains(e.stderr, tt.want) {
				t.Errorf("it says %q, want %q", e.stderr, tt.want)
			}
		})
	}
}
