package hosts

import (
	"os"
	"slices"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// show is hosts as a list, with a mark on what is this one.
func show(hosts []Host) string {
	var words []string
	for _, h := range hosts {
		word := h.String()
		if h.Local {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// TestParse verifies which lists are valid, and their hosts and slots.
func TestParse(t *testing.T) {
	own, _ := os.Hostname()
	tests := []struct{ list, want, fault string }{
		{"a", "a:1", ""},
		{"a:4,b:2", "a:4 b:2", ""},
		{"a,b,a", "a:2 b:1", ""},
		{"a:2, b", "a:2 b:1", ""},
		{"user@a.b-c_d:3", "user@a.b-c_d:3", ""},
		{"10.0.0.7:3", "10.0.0.7:3", ""},
		{"[fd00::7]:3", "[fd00::7]:3", ""},
		{"user@[fd00::7]:3", "user@[fd00::7]:3", ""},
		{"fd00::7", "[fd00::7]:1", ""},
		{"localhost:3", "localhost:3!", ""},
		{"localhost:3,127.0.0.1:2,::1,a", "localhost:6! a:1", ""},
		{own + ":3", own + ":3!", ""},
		{"", "", `host is ""`},
		{"a,,b", "", `host is ""`},
		{"-oProxyCommand=x", "", `host is "-oProxyCommand=x"`},
		{"u@-x", "", `host is "u@-x"`},
		{"-u@x", "", `host is "-u@x"`},
		{"a b", "", `host is "a b"`},
		{"a;b", "", `host is "a;b"`},
		{"a$(b)", "", "host is"},
		{"a'b", "", "host is"},
		{"a/b", "", "host is"},
		{"fe80::1%eth0", "", "host is"},
		{"[a", "", `host is "[a"`},
		{"[::1]x", "", `host is "[::1]x"`},
		{"[::1]:2", "[::1]:2!", ""},
		{"node[1-2]:2", "", `host is "node[1-2]:2", want [ADDRESS]`},
		{"x[y]:1", "", `host is "x[y]:1"`},
		{"[y]:1", "", `host is "[y]:1"`},
		{"x[::1]", "", `host is "x[::1]"`},
		{"a@b@[::1]", "", "host is"},
		{"a:0", "", `host a: slots is "0", want a number from 1 to 65536`},
		{"a:x", "", `slots is "x"`},
		{"a:99999999999999999999", "", "slots is"},
		{"a:65536,b:1", "", "more than 65536 slots"},
		{"a:,-b", "", "host is \"-b\""},
	}
	for _, tt := range tests {
		t.Run("list="+tt.list, func(t *testing.T) {
			hosts, err := Parse(tt.list)
			if tt.fault != "" {
				if err == nil || exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("hosts %v, error %v (code %d), want %q with code 64", show(hosts), err, exitcode.Of(err), tt.fault)
				}
				return
			}
			if got := show(hosts); err != nil || got != tt.want {
				t.Errorf("hosts are %q, error %v, want %q", got, err, tt.want)
			}
		})
	}
}

// TestParseHostfile verifies the forms of hostfiles of other launchers, and that faults
// name the line.
func TestParseHostfile(t *testing.T) {
	tests := []struct{ name, text, want, fault string }{
		{"of=Open MPI", "# cluster\n\na slots=4 max_slots=8\nb slots=2\n  c  # one\n", "a:4 b:2 c:1", ""},
		{"of=Horovod", "a slots=4\nb slots=4\n", "a:4 b:4", ""},
		{"of=MPICH", "a:4\nb:2\nc\n", "a:4 b:2 c:1", ""},
		{"host=again", "a\na\nb\na slots=2\n", "a:4 b:1", ""},
		{"slots=by the most", "a max-slots=3\n", "a:3", ""},
		{"address=IPv6", "fd00::7 slots=2\n[fd00::8]:3\n", "[fd00::7]:2 [fd00::8]:3", ""},
		{"address=IPv6 of a user", "me@[2001:db8::1] slots=4\nme@[2001:db8::2]:3\nme@2001:db8::3 slots=2\n", "me@[2001:db8::1]:4 me@[2001:db8::2]:3 me@[2001:db8::3]:2", ""},
		{"slots=both ways of a user", "me@[2001:db8::1]:4 slots=4\n", "", "hosts:1: slots of host me@2001:db8::1 twice"},
		{"lines=of Windows", "a slots=2\r\nb\r\n", "a:2 b:1", ""},
		{"end=no newline", "a", "a:1", ""},
		{"hosts=none", "# nothing\n\n", "", "hosts: no host in it has a slot"},
		{"key=unknown", "a\nb slot=4\n", "", `hosts:2: "slot=4" after host b, want slots=N`},
		{"word=unknown", "a 4\n", "", `hosts:1: "4" after host a`},
		{"slots=twice", "a slots=4 slots=4\n", "", "hosts:1: slots of host a twice"},
		{"slots=both ways", "a:4 slots=4\n", "", "hosts:1: slots of host a twice"},
		{"of=Open MPI/blanks", "a slots = 4 max-slots = 8\nb slots= 2\n", "a:4 b:2", ""},
		{"of=Open MPI/other words", "a cpu=2\nb count=3\nc slots-max=4\nd slots=2 max_slots=0\n", "a:2 b:3 c:4 d:2", ""},
		{"mark=of the byte order", "\ufeffa slots=2\n", "a:2", ""},
		{"text=UTF-16", "\xff\xfea\x00\n\x00", "", "hosts:1: not in UTF-8"},
		{"text=UTF-16 without a mark", "a\x00\n\x00b\x00", "", "hosts:1: not in UTF-8"},
		{"text=gzip", "\x1f\x8b\x08\x00", "", "hosts:1: not in UTF-8"},
		{"slots=0", "a slots=0\nb\na slots = 0\n", "b:1", ""},
		{"slots=0 and more", "a slots=0\na slots=3\n", "a:3", ""},
		{"slots=0 of all", "a slots=0\n", "", "hosts: no host in it has a slot"},
		{"slots=0 behind a colon", "a:0\n", "", `hosts:1: host a: slots is "0"`},
		{"slots=below 0", "a cpu=-1\n", "", `hosts:1: host a: cpu is "-1"`},
		{"slots=two words", "a slots=4 cpu=4\n", "", "hosts:1: slots of host a twice"},
		{"slots=more than the most", "a slots=4 max_slots=2\n", "", "hosts:1: host a: max_slots is 2, want at least slots, 4"},
		{"name=range", "ok\nnode[1-2] slots=2\n", "", `hosts:2: host is "node[1-2]"`},
		{"name=option", "ok\n-oProxyCommand=id slots=1\n", "", "hosts:2: host is"},
		{"faults=all at once", "a x\nb y\n", "", "hosts:2:"},
		{"line=endless", "a slots=" + strings.Repeat("1", maxHostfileLine), "", "hosts:1: bufio.Scanner: token too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hosts, err := parseHostfile(strings.NewReader(tt.text), "hosts")
			if tt.fault != "" {
				if err == nil || exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("error %v (code %d), want %q with code 64", err, exitcode.Of(err), tt.fault)
				}
				return
			}
			if got := show(hosts); err != nil || got != tt.want {
				t.Errorf("hosts are %q, error %v, want %q", got, err, tt.want)
			}
		})
	}
}

// TestReadFileMissing verifies that a missing hostfile is exitcode.NoInput.
func TestReadFileMissing(t *testing.T) {
	if _, err := ReadFile(t.TempDir() + "/none"); exitcode.Of(err) != exitcode.NoInput {
		t.Errorf("error %v with code %d, want 66", err, exitcode.Of(err))
	}
}

// FuzzHostfile verifies that no text makes the reader panic, and that an accepted host is a
// plain name.
func FuzzHostfile(f *testing.F) {
	f.Add("a slots=4 max_slots=8\nb:4\n[::1]:2 # x\n")
	f.Add("-o\x00\n:::\n[]:1\nu@[::1]:4 slots=2")
	f.Fuzz(func(t *testing.T, text string) {
		hosts, err := parseHostfile(strings.NewReader(text), "hosts")
		if err != nil {
			return
		}
		for _, h := range hosts {
			if h.Slots < 1 || h.Slots > MaxSlots || h.Name == "" || h.Name[0] == '-' || strings.ContainsAny(h.Name, " '\"$;&|<>()\\\n\t*?[]") {
				t.Errorf("%q has the host %+v", text, h)
			}
		}
		var words []string
		for _, h := range hosts {
			words = append(words, h.String())
		}
		again, err := Parse(strings.Join(words, ","))
		if err != nil || !slices.Equal(again, hosts) {
			t.Errorf("%+v read again are %+v, error %v", hosts, again, err)
		}
	})
}
