package etcd

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring/exitcode"
)

// TestParseAddress verifies the address of each form, that a misspelt address is a usage error, and
// that no error repeats a password.
func TestParseAddress(t *testing.T) {
	tests := []struct {
		text string
		want Address
		err  string
	}{
		{text: "etcd://a:2379/jobs", want: Address{Endpoints: []string{"a:2379"}, Prefix: "jobs"}},
		{text: "etcds://a:2379,[::1]:2380/x/y/", want: Address{Endpoints: []string{"a:2379", "[::1]:2380"}, TLS: true, Prefix: "x/y"}},
		{text: "etcd://a:2379", err: "the prefix is missing"},
		{text: "etcd://a:2379/", err: "the prefix is missing"},
		{text: "etcd://a/x", err: `endpoint "a"`},
		{text: "etcd:///x", err: `endpoint ""`},
		{text: "etcd://a:0/x", err: "has no port from 1"},
		{text: "etcd://a:2379,/x", err: `endpoint ""`},
		{text: "etcd://a:1,a:1/x", err: "a:1 is there twice"},
		{text: "etcd://a:1/x y", err: "prefix"},
		{text: "etcd://u:secret@a:1/x", err: "RINGTRAIN_ETCD_PASSWORD"},
		{text: "http://a:1/x", err: "not an address of etcd"},
		{text: "", err: "not an address of etcd"},
	}
	for _, tt := range tests {
		t.Run("text="+tt.text, func(t *testing.T) {
			got, err := ParseAddress(tt.text)
			if tt.err == "" {
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Fatalf("error %v, -want +got:\n%s", err, diff)
				}
				if again, err := ParseAddress(got.String()); err != nil || !cmp.Equal(again, got) {
					t.Errorf("%s is read as %v, %v", got, again, err)
				}
				return
			}
			if exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v (code %d), want exitcode.Usage with %q and no password", err, exitcode.Of(err), tt.err)
			}
		})
	}
}

// TestKeys verifies that two jobs have different keys, and that entries sort in the order of
// writing.
func TestKeys(t *testing.T) {
	a := Address{Prefix: "p"}
	k := a.keys("x/journal")
	if k.coordinator != "p/x%2Fjournal/coordinator" || k.entry(9) >= k.entry(10) || !strings.HasPrefix(k.entry(1), k.journal) {
		t.Errorf("keys %+v, entries %s and %s", k, k.entry(9), k.entry(10))
	}
}

// TestCompleteAddr verifies that an address without a host gets one that others can reach, and that
// a complete address is unchanged.
func TestCompleteAddr(t *testing.T) {
	c := &Cluster{config: Config{Address: Address{Endpoints: []string{"127.0.0.1:2379"}}}}
	for addr, want := range map[string]string{
		"h:1": "h:1", "10.0.0.7:1": "10.0.0.7:1", "127.0.0.1:1": "127.0.0.1:1", "[::]:1": "127.0.0.1:1", "0.0.0.0:1": "127.0.0.1:1", ":1": "127.0.0.1:1",
	} {
		if got := c.completeAddr(addr); got != want {
			t.Errorf("%s becomes %s, want %s", addr, got, want)
		}
	}
}

// TestOpen verifies that Open refuses a configuration without a job id.
func TestOpen(t *testing.T) {
	at := Address{Endpoints: []string{"127.0.0.1:1"}, Prefix: "p"}
	for want, c := range map[string]Config{
		"--job-id":                  {Address: at},
		"is set, want both or none": {Address: at, JobID: "j", User: "u"},
	} {
		if _, err := Open(c); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want exitcode.Usage with %q", err, want)
		}
	}
}
